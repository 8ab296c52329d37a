"""Every promise about playback applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.voice import VOICE_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_playback_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), VOICE_PROMISES)
    assert tested == {promise.name for promise in VOICE_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("[onset_holds]", "with overlap `confirm`, the start of speech holds playback in the same step"),
        ("voice: held + ReplyBecameFirm", "when a reply becomes firm while it is held, it resumes"),
        ("voice: playing + ReplyBecameFirm", "a reply that is open or playing becomes firm"),
        ("timer:stop -> silent", "the stop deadline makes the voice silent"),
        (
            "+ QuestionMissed",
            "a question of the agent that was lost with the line is said again, if nothing else is owed",
        ),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), VOICE_PROMISES)
