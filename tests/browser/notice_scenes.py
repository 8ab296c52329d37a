"""Scenes of the panel for pictures: every notice of the product, and whatever a person waits for.

Rule: a notice is written by its row, in the language of the page.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

from duologue.core.leaves import ErrorClass, FaultSource
from duologue.observe.notices import NOTICE_ROWS
from duologue.phrases.texts import notice
from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES, Scene, talked

_NO_USE = ("TOOL_ERROR", "INVALID_ARGS", "UNKNOWN")  # faults after which the same question isn't tried again
_SAID = "half past seven, by the window if you have one"
_BY_PART = {ErrorClass.RATE_LIMIT: FaultSource.VOICE, ErrorClass.SESSION_EXPIRED: FaultSource.SESSION}


def shows(
    *codes: str, fatal: bool = False, part: FaultSource = FaultSource.BRAIN
) -> Callable[[Page, FakeServer], None]:
    """What a scene with the notices of these codes plays."""

    def play(page: Page, server: FakeServer) -> None:
        talked(page, server)
        server.state("listening", "speaking", "PlaybackFinished")
        for code in codes:
            row = next(row for row in NOTICE_ROWS if row.code == code and row.fatal is fatal)
            if row.level == "error":
                server.state("error", "listening", "ReplyFailed")
            told = notice(server.language, row.text, part=part.value, said=_SAID)
            actions = ["dismiss"] if code in _NO_USE and not fatal else list(row.actions)
            server.say("notification", level=row.level, code=code, message=told, actions=actions, fatal=fatal)
        if codes == ("pause_over",):
            server.say("ended", reason="pause over", canRestart=True)

    return play


NOTICE_SCENES = (
    *(Scene(f"fault_{e.value.lower()}", shows(e.value, part=_BY_PART.get(e, FaultSource.BRAIN))) for e in ErrorClass),
    Scene("fault_stalled", shows("stalled")),
    Scene("fault_not_restored", shows("not_restored")),
    Scene("fatal_auth_failure", shows("AUTH_FAILURE", fatal=True, part=FaultSource.EARS)),
    Scene("fatal_unknown", shows("UNKNOWN", fatal=True, part=FaultSource.VOICE)),
    Scene("notice_news", shows("restored", "recovered", "saved_again")),
    Scene("notice_talk", shows("long_turn", "long_speech", "lost")),
    Scene("notice_problems", shows("problem_ears", "problem_voice", "problem_journal", "problem_tools")),
    Scene("notice_server", shows("unsaved", "stopping")),
    Scene("notice_pause_over", shows("pause_over")),
)

_WAITING = (
    *("listening", "loading_ears", "muted", "broken_ears", "writing_only", "pressed", "suspended", "session_lost"),
    *("reconnecting", "retrying", "waiting", "told_why", "queueing", "faulted", "beyond_repair", "ended", "booked"),
    "booked_before",
)
WAITING_SCENES = tuple(scene for scene in SCENES if scene.name in _WAITING)
"""Whether the person is heard, what they wait for, and how a conversation ends."""
