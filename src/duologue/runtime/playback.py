"""Plays replies on the line (the connection to the user), and records how much of each reply was heard.

Rule: reports from the line are checked. A report about the sound of another reply doesn't affect the current reply. A
line may report a little more heard time than the reply has sound; the excess is cut off. A report with a large excess
is ignored. A reply is finished only when the line has all of its sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import AWAY, SOUNDING, ErrorClass
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

HOLD_STEPS = 8
RETRY_S = 0.1
HOLD_SHARE = 0.5  # a speech waits for the store for this share of the stall deadline; the rest is for playing it
EXCESS_MS_MAX = 10_000  # a report that exceeds the existing sound by more than this is ignored
ROUNDING_MS_MAX = 250  # a line that finishes this close to the end has played everything


class Playback:
    """The agent's speech on the line."""

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
        self.wait_until_saved: Callable[[], Awaitable[None]] | None = None  # set if the conversation is saved
        self.before_sound: Callable[[Speech], None] = lambda speech: None  # noqa: ARG005 - called before sound is sent
        self.on_progress: Callable[[Speech], None] = lambda speech: None  # noqa: ARG005 - called before each report
        self.on_unheard: Callable[[Speech], None] = lambda speech: None  # noqa: ARG005 - not a word before the line was lost
        self.on_heard_late: Callable[[Speech], None] = lambda speech: None  # noqa: ARG005
        self._driver = driver
        self._tasks = tasks
        self._transcript = transcript
        self._replies = replies
        self._line = line
        self._report_failure = report_failure
        self._playing: Speech | None = None
        self._unsaved: Speech | None = None  # a speech that is played once its start is saved
        self.cut: Speech | None = None  # the newest interrupted reply
        self.cut_by_line = False  # it was cut off because the line was lost
        self.is_cut_exact = False  # the client has reported how much of it was heard
        self._lost: Speech | None = None  # the speech that was stopped because the line was lost
        self._caption = caption
        self.use_brain(brain)

    def use_brain(self, brain: object) -> None:
        self._truncates = brain if isinstance(brain, Truncates) else None

    # -- Effects

    def start(self, effect: fx.StartPlayback) -> None:
        speech = self._replies.current
        assert speech is not None, effect
        assert speech.reply == effect.reply, effect
        self._playing = speech
        self._transcript.begin_reply(speech.reply)
        speech.before_sound = self.before_sound
        if self.wait_until_saved is None:
            speech.play(effect.voice, self._line)
            speech.save_end(self._replies.on_sound_added)
        else:
            speech.voice = effect.voice
            self._unsaved = speech
            self._tasks.start(self._play_when_saved(speech), f"sound {effect.voice}")

    async def _play_when_saved(self, speech: Speech) -> None:
        """Wait until the start of the speech is saved, then play the speech.

        If the speech were played before it is saved and this process crashed, the user could hear the speech a second
        time. So the speech is held back while the store fails. But the state machine waits for the sound only for a
        limited time, so before that time is over, the speech is played even if it isn't saved.

        The wait is divided into several short steps, because this process may be frozen for a while. When it continues,
        the timer of the present step has expired at once. The steps after it give the store time to report that another
        process owns the conversation."""
        step_s = self._driver.state.settings.stall_ms_max * HOLD_SHARE / HOLD_STEPS / 1000
        saving = asyncio.ensure_future(self._save())
        try:
            for _ in range(HOLD_STEPS):
                await asyncio.wait([saving], timeout=step_s)
                if saving.done():
                    break
            if saving.done():
                saving.result()
            else:
                self._report_failure("store", StoreFailed("the start of an answer was not saved in time"))
        except Fenced:
            return
        finally:
            saving.cancel()
        if self._driver.is_closed:
            return
        if self._unsaved is speech:
            self._unsaved = None
        if self._playing is speech and not speech.dropped:
            speech.play(speech.voice, self._line)
            speech.save_end(self._replies.on_sound_added)

    async def _save(self) -> None:
        """Wait until every change up to now is saved. If the store fails, wait and try again, without limit."""
        assert self.wait_until_saved is not None
        while True:
            try:
                return await self.wait_until_saved()
            except StoreFailed:  # `wait_until_saved` has tried for a while
                await asyncio.sleep(RETRY_S)

    def hold(self, effect: fx.HoldPlayback) -> None:
        if (speech := self._of(effect.voice)) is not self._unsaved:
            speech.hold(self._line)

    def resume(self, effect: fx.ResumePlayback) -> None:
        if (speech := self._of(effect.voice)) is not self._unsaved:
            speech.resume(self._line)

    def stop(self, effect: fx.StopPlayback) -> None:
        speech = self._of(effect.voice)
        speech.drop()
        self._lost = speech if self._driver.state.link in AWAY else None
        self._line.clear(effect.voice)

    def truncate(self, effect: fx.TruncateReply) -> None:
        """Add an interrupted reply to the history: only the part that was heard."""
        speech = self._of(effect.voice)
        speech.note_heard(effect.heard_ms)
        self._record(speech, interrupted=True)
        self.cut, self.cut_by_line, self.is_cut_exact = speech, self._lost is speech, False
        if self.cut_by_line and effect.heard_ms and not speech.ledger.counts_as_heard():
            self.on_unheard(speech)  # the state machine counts even a sound shorter than a word as a heard answer
        if self._truncates is not None:
            self._truncates.truncate(speech.reply, speech.ledger.heard_ms)

    def _of(self, voice: int) -> Speech:
        assert self._playing is not None, voice
        assert self._playing.voice == voice, voice
        return self._playing

    # -- Reports of the line

    def note(self, heard: Played | Finished | Stopped | Unplayable) -> None:
        """Process a playback report from the line."""
        speech = self._playing
        if speech is None or heard.voice != speech.voice:
            self._note_late(heard)
            return
        if isinstance(heard, Unplayable):
            self._driver.post(ev.PlaybackFailed, voice=heard.voice, error=heard.error)
            return
        if not self._is_time(heard.heard_ms) or heard.heard_ms > speech.ledger.total_ms + EXCESS_MS_MAX:
            return  # the time is invalid, or far longer than the sound
        is_done = isinstance(heard, Finished) and speech.is_all_given
        is_all = is_done and speech.ledger.total_ms - heard.heard_ms <= ROUNDING_MS_MAX
        speech.note_heard(speech.ledger.total_ms if is_all else heard.heard_ms)
        self.on_progress(speech)
        heard_ms = speech.ledger.heard_ms
        if isinstance(heard, Stopped):
            self._driver.post(ev.PlaybackStopped, voice=heard.voice, heard_ms=heard_ms)
        elif is_done:
            self._driver.post(ev.PlaybackFinished, voice=heard.voice, heard_ms=heard_ms)
        else:  # also if the line reports an end before it has all of the sound
            self._driver.post(ev.PlaybackProgressed, voice=heard.voice, heard_ms=heard_ms)
            self._caption(self._driver.state.at, speech, False)

    def _note_late(self, heard: Played | Finished | Stopped | Unplayable) -> None:
        """Process a late report, about speech that is no longer playing. If the user heard more of the last interrupted
        reply than the history has, correct the history. `on_heard_late` is called when so much was heard that the reply
        counts as heard, and again when all of the reply was heard."""
        cut = self.cut
        if not isinstance(heard, Stopped) or cut is None or cut.voice != heard.voice:
            return
        if not self._is_time(heard.heard_ms):
            return
        if heard.is_exact and 0 < heard.heard_ms >= cut.ledger.heard_ms:  # a client that knows less is a new one
            self.is_cut_exact = True
        if heard.heard_ms > cut.ledger.heard_ms:
            has_counted = cut.ledger.counts_as_heard()
            cut.note_heard(heard.heard_ms)
            self._record(cut, interrupted=True)
            if cut.ledger.counts_as_heard() and (not has_counted or not cut.ledger.split().unheard):
                self.on_heard_late(cut)

    def _is_time(self, heard_ms: object) -> bool:
        if type(heard_ms) is int and heard_ms >= 0:
            return True
        self._report_failure("line", BrokenContract(ErrorClass.SERVER_ERROR, "the line reported an invalid time"))
        return False

    # -- Following the state machine

    def follow(self, record: StepRecord) -> None:
        """If this step ends a reply that was played or shown completely, add the reply to the history."""
        event, before, after = record.event, record.before, record.after
        if after is before:
            return
        if type(event) is ev.PlaybackFinished and before.voice in SOUNDING and self._playing is not None:
            self._record(self._playing, interrupted=False)
        elif type(event) is ev.ReplyFinished and self._replies.current is not None:
            self._record(self._replies.current, interrupted=False)

    def _record(self, speech: Speech, interrupted: bool) -> None:
        heard, unheard = speech.ledger.known()
        self._transcript.end_reply(speech.reply, heard, unheard, speech.ledger.heard_ms, interrupted)
        self._caption(self._driver.state.at, speech, True)
        if self._playing is speech:
            self._playing = None

    def adopt(self, speech: Speech) -> None:
        """Take over a speech that an earlier process was playing."""
        self._playing = speech
        self._transcript.begin_reply(speech.reply)

    @property
    def speech(self) -> Speech | None:
        """The speech that is being played; None if the agent is silent."""
        return self._playing
