"""From the ears to the machine: onsets, words and verdicts, each tied to its turn.

Keeps the ears running, counts words, and asks turn-taking for its verdicts. Knows nothing of replies.
Rule: the machine hears of an onset before any word of its turn, and late text goes to the turn in
which it was said.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ACTIVE, CLOSED, SOUNDING, ErrorClass, Part, User, Words
from duologue.core.settings import POLICIES
from duologue.observe.moment import Moment
from duologue.ports.ears import Commit, Discard, Ears, Final, Heard, Partial, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.failure import ServiceError, classify
from duologue.ports.streams import reading
from duologue.turns.endpoint import Endpoint
from duologue.turns.overlap import OverlapRule, judge
from duologue.turns.words import Count, count

from .driver import Driver, Trouble
from .frames import Frames
from .tasks import Tasks
from .transcript import Transcript

_OPEN = (User.TALKING, User.SETTLING)
_NEW_TURN = 0  # the utterance goes on in a turn that is just about to begin


class Hearing:
    """The ears of one conversation."""

    def __init__(
        self,
        driver: Driver,
        tasks: Tasks,
        transcript: Transcript,
        trouble: Trouble,
        ears: Ears | None,
        endpoint: Endpoint,
        overlap: OverlapRule,
        caption: Callable[[int, int, str], None],
    ) -> None:
        self._driver = driver
        self._tasks = tasks
        self._transcript = transcript
        self._trouble = trouble
        self._ears = ears
        self._endpoint = endpoint
        self._overlap = overlap
        self._caption = caption
        self.frames = Frames()
        self._task: asyncio.Task[Any] | None = None
        self._failures = 0
        self._retry: asyncio.TimerHandle | None = None
        self._utterance = 0
        self._turn_of: dict[int, int] = {}
        self._final: set[int] = set()  # utterances whose text is known for good
        self._speaking = False
        self._button = False
        self._began_at = 0
        self._ended_at = 0
        self._onset = 0
        self._gate: asyncio.TimerHandle | None = None
        self._silence: asyncio.TimerHandle | None = None

    # -- Keeping the ears running

    def start(self, effect: fx.RestoreContext | None = None) -> None:  # noqa: ARG002 - every session needs ears
        """Listen, if the ears are not listening already."""
        if self._ears is not None and self._task is None:
            self._task = self._tasks.start(self._listen(self._ears), "ears", self._ears_ended)

    def stop(self) -> None:
        self.frames.close()
        for alarm in (self._gate, self._silence, self._retry):
            if alarm is not None:
                alarm.cancel()

    async def _listen(self, ears: Ears) -> None:
        async with reading(ears.listen(self.frames)) as stream:
            async for heard in stream:
                self._failures = 0
                self.note(heard)

    def _ears_ended(self, failure: BaseException | None) -> None:
        """Ears have the same patience as every other service: as often as the class of the failure
        allows, after the same waits."""
        self._task = None
        settings = self._driver.state.settings
        error = classify(failure) if failure is not None else ErrorClass.NETWORK_TIMEOUT
        self._trouble("ears", failure or ServiceError(error, "the ears stopped listening"))
        if self._failures < min(POLICIES[error].retries_max, len(settings.retry_ms)):
            wait_ms = settings.retry_ms[self._failures]
            self._failures += 1
            self._retry = asyncio.get_running_loop().call_later(wait_ms / 1000, self.start)
        else:
            self._failures = 0
            self._driver.post(ev.ServiceFailed, part=Part.EARS, error=error)

    # -- What was heard

    def note(self, heard: Heard) -> None:
        """One thing that the ears report."""
        if self._driver.state.link in CLOSED:
            return
        match heard:
            case SpeechBegan():
                self._begin(heard.utterance)
            case SpeechEnded():
                self._end()
            case Partial() | Final():
                self._hear(heard)
            case TurnOver():
                self._driver.post(ev.TurnEnded)
            case _:
                error = ServiceError(ErrorClass.SERVER_ERROR, f"ears reported {type(heard).__name__}")
                raise error

    def _begin(self, utterance: int) -> None:
        self._utterance = utterance or self._utterance + 1
        self._speaking = True
        self._began_at = self._driver.now()
        self._cancel(self._silence)
        if not self._button:
            self._driver.post(ev.SpeechStarted)
        self._bind()
        if self._driver.state.voice in SOUNDING and self._overlap.voiced_ms_min:
            self._cancel(self._gate)
            self._gate = asyncio.get_running_loop().call_later(self._overlap.voiced_ms_min / 1000, self._look)

    def _bind(self) -> None:
        """The utterance belongs to the turn that is open now."""
        self._turn_of[self._utterance] = self._driver.state.turn
        self._onset = self._driver.state.onset

    def _end(self) -> None:
        if not self._speaking:
            return
        self._speaking = False
        self._ended_at = self._driver.now()
        self._cancel(self._gate)
        if not self._button:
            self._driver.post(ev.SpeechStopped)
            self._await_silence()

    def _hear(self, heard: Partial | Final) -> None:
        text = _checked(heard)
        utterance = heard.utterance or self._utterance
        if isinstance(heard, Partial) and utterance in self._final:
            return  # overtaken by its own final text
        if utterance not in self._turn_of and utterance >= self._utterance:
            if not text.strip():
                return
            self._begin(utterance)  # ears without an ear for onsets
            self._speaking = isinstance(heard, Partial)
        turn = self._turn_of.get(utterance, _NEW_TURN)
        if turn == _NEW_TURN:
            self._bind()
            turn = self._driver.state.turn
        if turn == 0:
            return  # the conversation has not begun
        if isinstance(heard, Final):
            self._final.add(utterance)
        self._transcript.hear(turn, utterance, text, heard.confidence)
        said = count(self._transcript.text_of(turn))
        self._tell_words(turn, said, heard)
        self._caption(self._driver.now(), turn, self._transcript.text_of(turn))
        if turn == self._driver.state.turn:
            self._judge(said, isinstance(heard, Final))
            if isinstance(heard, Final) and not self._speaking:
                self._await_silence()

    def _tell_words(self, turn: int, said: Count, heard: Partial | Final) -> None:
        final = isinstance(heard, Final)
        text = self._transcript.text_of(turn)
        self._driver.post(
            ev.WordsHeard,
            turn=turn,
            words=said.words,
            substantial=said.substantial,
            final=final,
            chars=len(text),
            confidence_pct=round(100 * heard.confidence),
            content=self._transcript.content_of(turn, text) if final and text else 0,
        )

    # -- Verdicts

    def _look(self) -> None:
        """The overlapping voice has lasted long enough to be looked at again."""
        text = self._transcript.text_of(self._driver.state.turn)
        if self._speaking:
            self._judge(count(text), is_final=False)

    def _judge(self, said: Count, is_final: bool) -> None:
        s = self._driver.state
        if s.voice not in SOUNDING or s.turn <= s.floor_turn:
            return
        voiced_ms = self._driver.now() - self._began_at if self._speaking else 0
        bid = judge(self._overlap, said, is_final, voiced_ms)
        if bid is not None:
            self._driver.post(ev.OverlapJudged, bid=bid, onset=self._onset)

    def _await_silence(self) -> None:
        """The turn ends if nothing else comes."""
        s = self._driver.state
        text = self._transcript.text_of(s.turn)
        wait_ms = self._endpoint.wait_ms(text, s.final)
        self._cancel(self._silence)
        if wait_ms is not None and s.user is User.SETTLING and text:
            left_ms = max(0, self._ended_at + wait_ms - self._driver.now())
            end = asyncio.get_running_loop().call_later
            self._silence = end(left_ms / 1000, self._end_turn, s.turn, s.onset)

    def _end_turn(self, turn: int, onset: int) -> None:
        self._driver.post(ev.TurnEnded, turn=turn, onset=onset)

    @staticmethod
    def _cancel(alarm: asyncio.TimerHandle | None) -> None:
        if alarm is not None:
            alarm.cancel()

    # -- The button, and what the machine decided

    def press(self) -> None:
        """Push-to-talk: from here to the release, the button decides and not voice activity."""
        self._button = True
        self._driver.post(ev.PttPressed)
        self._bind()

    def release(self) -> None:
        self._button = False
        self._driver.post(ev.PttReleased)

    def follow(self, moment: Moment) -> None:
        """The machine ended the turn in mid-speech, at its limit or by hand: if the voice goes on, that
        is an onset. A voice that never said a word is none: the ears missed its end."""
        before, after = moment.before, moment.after
        ended = before.user in _OPEN and after.user in (User.QUIET, User.TRANSCRIBING)
        if not ended or not self._speaking or self._button or after.link not in ACTIVE:
            return
        if isinstance(moment.event, ev.TextTyped | ev.SendPressed) or before.words is not Words.NONE:
            self._turn_of[self._utterance] = _NEW_TURN
            self._driver.post(ev.SpeechStarted)
        else:
            self._speaking = False

    def commit(self, effect: fx.CommitAudio) -> None:
        self.frames.put(Commit(effect.turn))

    def discard(self, effect: fx.DiscardAudio) -> None:
        self.frames.put(Discard(effect.turn))


def _checked(heard: Partial | Final) -> str:
    """The text, or ServiceError if the ears talk nonsense."""
    text, confidence = heard.text, heard.confidence
    if type(text) is not str or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise ServiceError(ErrorClass.SERVER_ERROR, "ears reported text or confidence that is none")
    return text
