"""From the machine to the line and back: playing, holding, stopping, and what was heard.

Rule: what the line says is believed within reason: never about another voice, never more than there
is, and that it has finished only when there is nothing left to play.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import SOUNDING, ErrorClass, Voice
from duologue.core.step_record import StepRecord
from duologue.ports.brain import Truncates
from duologue.ports.failure import BrokenContract
from duologue.ports.line import Finished, Played, Stopped, Unplayable
from duologue.ports.store import Fenced, StoreFailed

from .driver import Driver, ReportFailure
from .guarded_line import GuardedLine
from .replies import Replies
from .speech import Speech
from .tasks import Tasks
from .transcript import Transcript

SAFE_S_MAX = 4.0  # what is not safe by then is said all the same; less than a stall
NONSENSE_MS_MIN = 10_000  # a line that claims so much more than it was given is not believed at all
ROUNDING_MS_MAX = 250  # a line that finishes this near to the end has played everything


class Playback:
    """The agent's sound, as the line plays it."""

    def __init__(
        self,
        driver: Driver,
        transcript: Transcript,
        replies: Replies,
        line: GuardedLine,
        report_failure: ReportFailure,
        caption: Callable[[int, Speech, bool], None],
        tasks: Tasks,
        brain: object = None,
    ) -> None:
        self.wait_until_saved: Callable[[], Awaitable[None]] | None = None  # where conversations are kept
        self.on_heard_late: Callable[[Speech], None] = lambda speech: None  # noqa: ARG005
        self._driver = driver
        self._tasks = tasks
        self._transcript = transcript
        self._replies = replies
        self._line = line
        self._report_failure = report_failure
        self._playing: Speech | None = None
        self._unsafe: Speech | None = None  # it may begin once that is written down
        self.cut: Speech | None = None  # the newest that was cut short
        self._caption = caption
        self._truncates = brain if isinstance(brain, Truncates) else None

    # -- What the machine wants

    def start(self, effect: fx.StartPlayback) -> None:
        speech = self._replies.current
        assert speech is not None, effect
        assert speech.reply == effect.reply, effect
        self._playing = speech
        self._transcript.begin_reply(speech.reply)
        if self.wait_until_saved is None:
            speech.play(effect.voice, self._line)
        else:
            speech.voice = effect.voice
            self._unsafe = speech
            self._tasks.start(self._play_when_safe(speech), f"sound {effect.voice}")

    async def _play_when_safe(self, speech: Speech) -> None:
        """What is heard can't be unheard: that it begins is written down first. If that can't be done, talk goes
        on all the same."""
        assert self.wait_until_saved is not None
        try:
            async with asyncio.timeout(SAFE_S_MAX):
                await self.wait_until_saved()
        except Fenced:
            return
        except (StoreFailed, TimeoutError) as failure:
            self._report_failure("store", failure)
        if self._driver.is_closed:
            return
        if self._unsafe is speech:
            self._unsafe = None
        if self._playing is speech and not speech.dropped and self._driver.state.voice is not Voice.HELD:
            speech.play(speech.voice, self._line)

    def hold(self, effect: fx.HoldPlayback) -> None:
        if (speech := self._of(effect.voice)) is not self._unsafe:
            speech.hold(self._line)

    def resume(self, effect: fx.ResumePlayback) -> None:
        if (speech := self._of(effect.voice)) is not self._unsafe:
            speech.resume(self._line)

    def stop(self, effect: fx.StopPlayback) -> None:
        self._of(effect.voice).drop()
        self._line.clear(effect.voice)

    def truncate(self, effect: fx.TruncateReply) -> None:
        """It ended before its end: the history keeps what was heard."""
        speech = self._of(effect.voice)
        speech.note_heard(effect.heard_ms)
        self._record(speech, interrupted=True)
        self.cut = speech
        if self._truncates is not None:
            self._truncates.truncate(speech.reply, speech.ledger.heard_ms)

    def _of(self, voice: int) -> Speech:
        assert self._playing is not None, voice
        assert self._playing.voice == voice, voice
        return self._playing

    # -- What the line says

    def note(self, heard: Played | Finished | Stopped | Unplayable) -> None:
        speech = self._playing
        if speech is None or heard.voice != speech.voice:
            self._note_late(heard)
            return
        if isinstance(heard, Unplayable):
            self._driver.post(ev.PlaybackFailed, voice=heard.voice, error=heard.error)
            return
        if not self._is_time(heard.heard_ms) or heard.heard_ms > speech.ledger.total_ms + NONSENSE_MS_MIN:
            return  # more than there is, by far
        is_done = isinstance(heard, Finished) and speech.is_all_given
        is_all = is_done and speech.ledger.total_ms - heard.heard_ms <= ROUNDING_MS_MAX
        speech.note_heard(speech.ledger.total_ms if is_all else heard.heard_ms)
        heard_ms = speech.ledger.heard_ms
        if isinstance(heard, Stopped):
            self._driver.post(ev.PlaybackStopped, voice=heard.voice, heard_ms=heard_ms)
        elif is_done:
            self._driver.post(ev.PlaybackFinished, voice=heard.voice, heard_ms=heard_ms)
        else:  # also a line that claims to have finished what it has not even got
            self._driver.post(ev.PlaybackProgressed, voice=heard.voice, heard_ms=heard_ms)
            self._caption(self._driver.state.at, speech, False)

    def _note_late(self, heard: Played | Finished | Stopped | Unplayable) -> None:
        """Of a voice that is over. The line knows best how much of it was heard, even afterwards."""
        cut = self.cut
        if not isinstance(heard, Stopped) or cut is None or cut.voice != heard.voice:
            return
        if self._is_time(heard.heard_ms) and heard.heard_ms > cut.ledger.heard_ms:
            was_unheard = cut.ledger.heard_ms == 0
            cut.note_heard(heard.heard_ms)
            self._record(cut, interrupted=True)
            if was_unheard and cut.ledger.split().heard:
                self.on_heard_late(cut)

    def _is_time(self, heard_ms: object) -> bool:
        if type(heard_ms) is int and heard_ms >= 0:
            return True
        self._report_failure("line", BrokenContract(ErrorClass.SERVER_ERROR, "the line reported a time that is none"))
        return False

    # -- What the machine decided

    def follow(self, record: StepRecord) -> None:
        """A reply that was played or shown to its end becomes history."""
        event, before, after = record.event, record.before, record.after
        if after is before:
            return
        if type(event) is ev.PlaybackFinished and before.voice in SOUNDING and self._playing is not None:
            self._record(self._playing, interrupted=False)
        elif type(event) is ev.ReplyFinished and self._replies.current is not None:
            self._record(self._replies.current, interrupted=False)

    def _record(self, speech: Speech, interrupted: bool) -> None:
        heard, unheard = speech.ledger.split()
        heard = f"{heard} {speech.ledger.shown}".strip()  # what was shown was seen
        self._transcript.end_reply(speech.reply, heard, unheard, speech.ledger.heard_ms, interrupted)
        self._caption(self._driver.state.at, speech, True)
        if self._playing is speech:
            self._playing = None

    def adopt(self, speech: Speech) -> None:
        """Sound that an earlier process had begun to play."""
        self._playing = speech
        self._transcript.begin_reply(speech.reply)

    @property
    def speech(self) -> Speech | None:
        """What is being played."""
        return self._playing
