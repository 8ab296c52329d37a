"""Turns reports of the ears (STT and VAD) into events: onsets, words and turn-taking decisions, each with its turn.

An onset is the first sign of speech. This module counts words and asks the turn-taking policies. It knows nothing
about replies. Rule: the state machine gets an onset before any word of its turn. Late text goes to the turn in which
it was said, and no word goes to two turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from duologue.core import events as ev
from duologue.core.leaves import ACTIVE, AWAY, CLOSED, SOUNDING, ErrorClass, Link, User, Voice, Words
from duologue.core.step_record import StepRecord
from duologue.ports.ears import Final, Heard, Partial, Pause, SpeechBegan, SpeechEnded, TurnOver, VoiceFrame
from duologue.ports.failure import BrokenContract
from duologue.turns.controller import Acoustic, FrameRule, Linguistic, TurnState
from duologue.turns.echo_words import is_echo
from duologue.turns.endpoint import EasyTurnEndpoint, EndpointPolicy, SilenceWait
from duologue.turns.features import PauseFeatures, is_weak
from duologue.turns.overlap import Judgement, OverlapJudge, OverlapRule
from duologue.turns.stability import Stability
from duologue.turns.words import count

from .driver import Driver
from .ears_contract import check_numbers
from .transcript import Transcript

FIRM = Judgement(False, "firm", 1.0)  # what the agent is saying can't be interrupted
NOISE_MARGIN_MS = 50
KNOWN_MAX = 50  # utterances that are remembered, because their text may still arrive
_OPEN = (User.TALKING, User.SETTLING)
_DEAF = (Link.SUSPENDED, Link.HEALING)  # no audio arrives: neither silence nor sound is measured


@dataclass(slots=True)
class HeardUtterance:
    """What was said between two onsets. Usually one turn gets all words of the utterance. If the state machine ends a
    turn in mid-speech, that turn keeps the words so far (`taken`), and the next turn gets the words after them."""

    number: int  # the utterance's number, given by the ears
    serial: int  # a number that stays unique when restarted ears count from 1 again
    turn: int = 0  # 0: the turn is about to begin
    onset: int = 0
    is_final: bool = False
    taken: list[tuple[int, int]] = field(default_factory=list)  # a turn, and how many of the words it keeps
    over: OverlapJudge | None = None  # its judge, if the utterance is heard over the agent's speech


class Hearing:
    """Posts events for what the ears of one conversation report."""

    def __init__(
        self,
        driver: Driver,
        transcript: Transcript,
        endpoint: EndpointPolicy,
        overlap: OverlapRule,
        caption: Callable[[int, int, str], None],
        spoken: Callable[[], str],
        is_firm: Callable[[], bool],
        decided: Callable[[str, tuple[str, ...], float], None],
    ) -> None:
        self._driver = driver
        self._transcript = transcript
        self._endpoint = endpoint
        self._overlap = overlap
        self._caption = caption
        self._spoken = spoken
        self._is_firm = is_firm
        self._decided = decided
        self._known: dict[int, HeardUtterance] = {}
        self._newest: HeardUtterance | None = None
        self._serial = 0
        self._hears_onsets = False
        self._speaking = False
        self._button = False
        self._began_at = 0
        self._ended_at = 0
        self._end_reported_at = 0
        self._deaf_at = 0
        self._gate: asyncio.TimerHandle | None = None
        self._silence: asyncio.TimerHandle | None = None
        # From ears that report more than words
        self._has_frames = False
        self._pause: PauseFeatures | None = None
        self._said = Linguistic()
        self._last_confidence: float | None = None
        self._stability = Stability()
        self._rule: FrameRule | None = None

    def stop(self) -> None:
        self._cancel(self._gate)
        self._cancel(self._silence)

    # -- Reports of the ears

    def note(self, heard: Heard) -> None:
        """Process one report of the ears."""
        if self._driver.state.link in CLOSED:
            return
        check_numbers(heard)
        match heard:
            case SpeechBegan():
                self._hears_onsets = True
                self._begin(heard.utterance)
            case SpeechEnded():
                if not heard.utterance or self._newest is None or heard.utterance == self._newest.number:
                    self.end(heard.quiet_ms)
            case VoiceFrame():
                self._follow_voice(heard)
            case Pause():
                self._note_pause(heard)
            case Partial() | Final():
                self._hear(heard)
            case TurnOver():
                self._end_turn_of(self._known.get(heard.utterance) or self._newest)
            case _:
                raise BrokenContract(ErrorClass.SERVER_ERROR, f"ears reported {type(heard).__name__}")

    def _begin(self, number: int) -> HeardUtterance:
        previous = self._newest.number if self._newest is not None else 0
        self._newest = new = self._make(number or previous + 1)
        self._speaking = True
        self._began_at = self._driver.now()
        self._pause = None
        self._stability = Stability()
        self._cancel(self._silence)
        if not self._button:
            self._driver.post(ev.SpeechStarted)
        self._bind(new)
        self._await_duration()
        return new

    def _make(self, number: int) -> HeardUtterance:
        self._serial += 1
        new = HeardUtterance(number, self._serial)
        self._known.pop(number, None)
        self._known[number] = new
        if len(self._known) > KNOWN_MAX:
            del self._known[next(iter(self._known))]
        return new

    def forget(self) -> None:
        """The ears have stopped: end the current utterance, and forget all utterances, because restarted ears count
        from 1 again."""
        self.end()
        self._known.clear()
        self._newest = None
        self._has_frames = False

    @property
    def known_utterances(self) -> int:
        """How many utterances are remembered because their text may still arrive: at most KNOWN_MAX."""
        return len(self._known)

    def _bind(self, utterance: HeardUtterance) -> None:
        """Assign the utterance to the turn that is open now."""
        utterance.turn, utterance.onset = self._driver.state.turn, self._driver.state.onset

    def end(self, quiet_ms: int = 0) -> None:
        """End the current utterance, because the user's voice ended `quiet_ms` ago or the ears have stopped."""
        if not self._speaking:
            return
        self._speaking = False
        self._end_reported_at = self._driver.now()
        self._ended_at = self._end_reported_at - quiet_ms
        self._cancel(self._gate)
        if not self._button:
            self._driver.post(ev.SpeechStopped)
            self._await_silence()

    # -- Words

    def _hear(self, heard: Partial | Final) -> None:
        text, is_final = _checked(heard), isinstance(heard, Final)
        utterance = self._utterance_of(heard)
        if utterance is None or (utterance.is_final and not is_final):
            return  # the text is empty, or a partial text arrived after the final one
        utterance.is_final = utterance.is_final or is_final
        self._note_words(heard, text)
        if not utterance.turn:
            self._bind(utterance)
        if utterance.taken:
            text = self._without_taken(utterance, text, heard)
        if text or not utterance.taken:
            self._tell(utterance.turn, utterance, text, heard)
        if is_final and utterance is self._newest and self._speaking:
            self.end()  # an utterance with final text is over, even if the ears reported no end
        elif not self._speaking:
            self._await_silence()

    def _utterance_of(self, heard: Partial | Final) -> HeardUtterance | None:
        """The utterance to which this text belongs. Text without an onset begins a new utterance. None if the text is
        empty and no known utterance fits."""
        newest = self._newest
        if heard.utterance in self._known:
            return self._known[heard.utterance]
        if not heard.utterance and newest is not None and (self._hears_onsets or not newest.is_final):
            return newest
        if not heard.text.strip():
            return None
        if newest is not None and 0 < heard.utterance < newest.number:  # the onset of this utterance was not reported
            missed = self._make(heard.utterance)
            self._bind(missed)
            return missed
        return self._begin(heard.utterance)

    def _without_taken(self, utterance: HeardUtterance, text: str, heard: Partial | Final) -> str:
        """The text without the words that earlier turns keep. If a final text corrects those words, the earlier turns
        get the corrected words."""
        words = text.split()
        for turn, number in utterance.taken:
            corrected, words = " ".join(words[:number]), words[number:]
            if isinstance(heard, Final) and corrected not in ("", self._transcript.said_in(turn, utterance.serial)):
                self._tell(turn, utterance, corrected, heard)
        return " ".join(words)

    def _tell(self, turn: int, utterance: HeardUtterance, text: str, heard: Partial | Final) -> None:
        if not turn:
            return  # there is no turn yet: the conversation has not started
        self._transcript.hear(turn, utterance.serial, text, heard.confidence)
        whole, final = self._transcript.text_of(turn), isinstance(heard, Final)
        said = count(whole)
        self._driver.post(
            ev.WordsHeard,
            turn=turn,
            words=said.words,
            substantial=said.substantial,
            final=final,
            chars=len(whole),
            confidence_pct=round(100 * heard.confidence),
            content=self._transcript.content_of(turn, whole) if final and whole else 0,
        )
        self._caption(self._driver.state.at, turn, whole)
        if turn == self._driver.state.turn and (over := self._overlapping(utterance)) is not None:
            self._judge(utterance, over.heard(text, heard.confidence, final, is_echo(text, self._spoken())))

    def _note_words(self, heard: Partial | Final, text: str) -> None:
        is_final = isinstance(heard, Final)
        self._stability = self._stability.heard(text, is_final)
        told = None if isinstance(heard, Final) else heard.stability
        self._said = Linguistic(text, heard.confidence, self._stability.score if told is None else told)
        self._last_confidence = heard.last_confidence if isinstance(heard, Final) else None

    # -- Speech over the agent's speech

    def _overlapping(self, utterance: HeardUtterance | None) -> OverlapJudge | None:
        """The judge of this utterance. None if the utterance isn't heard over the agent's speech, or if that speech
        can't be interrupted."""
        s = self._driver.state
        if s.voice not in SOUNDING or s.turn <= s.floor_turn or utterance is None:
            return None
        if self._is_firm():
            if s.voice is Voice.HELD:  # otherwise there is nothing to judge
                self._judge(utterance, FIRM)
            return None
        utterance.over = utterance.over or OverlapJudge(self._overlap, self._has_frames)
        return utterance.over

    def _await_duration(self) -> None:
        """Schedule another judgement of the sound over the agent's speech, for the time when the sound will have lasted
        `voiced_ms_min`."""
        self._cancel(self._gate)
        least_ms = self._overlap.voiced_ms_min
        if least_ms and self._driver.state.link not in _DEAF and self._overlapping(self._newest) is not None:
            left_ms = max(0, self._began_at + least_ms - self._driver.now())
            self._gate = asyncio.get_running_loop().call_later(left_ms / 1000, self._judge_duration)

    def _judge_duration(self) -> None:
        """Judge the sound over the agent's speech again, now that the sound has lasted `voiced_ms_min`."""
        newest = self._newest
        if self._speaking and newest is not None and (over := self._overlapping(newest)) is not None:
            text = self._transcript.text_of(self._driver.state.turn)
            lasted_ms = self._driver.now() - self._began_at
            self._judge(newest, over.lasted(lasted_ms, text, is_echo(text, self._spoken())))

    def _judge(self, utterance: HeardUtterance, judged: Judgement) -> None:
        """Post the judgement whether a sound over the agent's speech is a bid to interrupt. An undecided judgement
        isn't posted. Of an earlier utterance, only a bid is posted, because "no bid" says nothing about the newest
        utterance."""
        if judged.bid is None or not (judged.bid or utterance is self._newest):
            return
        utterance.over = None  # a new judge judges the sound that follows
        before = self._driver.state
        self._driver.post(ev.OverlapJudged, bid=judged.bid, onset=utterance.onset)
        if self._driver.state is not before:
            self._decided("barge_in" if judged.bid else "resume", (judged.reason,), judged.confidence)

    # -- Frames and pauses, from ears that report them

    def _follow_voice(self, frame: VoiceFrame) -> None:
        self._has_frames = True
        if not frame.quiet_ms:
            self._pause = None
            self._cancel(self._silence)
        newest = self._newest
        if newest is not None and (over := self._overlapping(newest)) is not None:
            self._judge(newest, over.frame(frame.probability, frame.ms))
        if isinstance(self._endpoint, EasyTurnEndpoint):
            self._step_rule(self._endpoint, frame)

    def _note_pause(self, pause: Pause) -> None:
        """Remember the features of the newest pause. A report about an earlier utterance is ignored."""
        if self._newest is None or pause.utterance not in (0, self._newest.number):
            return
        self._pause = pause.features
        if not self._speaking:
            self._await_silence()

    def _step_rule(self, endpoint: EasyTurnEndpoint, frame: VoiceFrame) -> None:
        """Pass a frame to the rule that decides frame by frame. If the rule says SPEAK, the turn ends."""
        s = self._driver.state
        if self._rule is None or self._rule.turn != s.turn:
            self._rule = FrameRule(endpoint.settings, s.turn)
        heard = Acoustic(self._driver.now(), frame.energy, frame.probability, frame.quiet_ms)
        said = replace(self._said, text=self._transcript.text_of(s.turn))
        decision = self._rule.step(heard, said)
        if decision.state is TurnState.SPEAK and s.user is User.SETTLING:
            self._end_turn(s.turn, s.onset, (decision.reason,), decision.confidence)

    def _await_silence(self) -> None:
        """Schedule the end of the turn for the case that the user says nothing more."""
        s = self._driver.state
        text = self._transcript.text_of(s.turn)
        self._cancel(self._silence)
        if s.user is not User.SETTLING or s.link in _DEAF or (self._has_frames and self._lacks_pause):
            return
        wait = self._endpoint.wait(self._pause_of(text, s.final)) if text else self._wait_without_text()
        if wait.wait_ms is not None:
            left_ms = max(0, self._ended_at + wait.wait_ms - self._driver.now())
            end = asyncio.get_running_loop().call_later
            self._silence = end(left_ms / 1000, self._end_turn, s.turn, s.onset, wait.reasons, wait.confidence)

    def _wait_without_text(self) -> SilenceWait:
        """The wait after a voice whose text is still missing: until just before the state machine would treat the voice
        as noise. If the features of the pause are unknown or weak, the wait has no end."""
        if self._pause is None or is_weak(self._pause):
            return SilenceWait(None)
        spare_ms = self._driver.state.settings.noise_ms_max - NOISE_MARGIN_MS
        return SilenceWait(self._end_reported_at - self._ended_at + spare_ms, reasons=("unread",))

    @property
    def _lacks_pause(self) -> bool:
        """Are the features of the pause unknown, or not used because the endpoint policy decides frame by frame?"""
        return self._pause is None or isinstance(self._endpoint, EasyTurnEndpoint)

    def _pause_of(self, text: str, is_final: bool) -> PauseFeatures:
        """What is known about the pause. If the ears report frames, text that may still change isn't included."""
        said = text if is_final or not self._has_frames else None
        known = self._pause or PauseFeatures()
        return replace(known, text=said, confidence=self._said.confidence, last_confidence=self._last_confidence)

    def _end_turn_of(self, utterance: HeardUtterance | None) -> None:
        if utterance is None:
            return
        if not utterance.turn:
            self._bind(utterance)
        self._end_turn(utterance.turn, utterance.onset, ("by_server",), 1.0)

    def _end_turn(self, turn: int, onset: int, reasons: tuple[str, ...], confidence: float) -> None:
        before = self._driver.state
        self._driver.post(ev.TurnEnded, turn=turn, onset=onset)
        if self._driver.state is not before:
            self._decided("end_of_turn", reasons, confidence)

    @staticmethod
    def _cancel(alarm: asyncio.TimerHandle | None) -> None:
        if alarm is not None:
            alarm.cancel()

    # -- Push-to-talk, and following the state machine

    def press(self) -> None:
        """The user presses push-to-talk. Until the release, the button alone decides when the turn ends, and voice
        activity has no influence on it."""
        if self._driver.is_busy or self._driver.is_other_thread:
            self._driver.call_soon(self.press)
            return
        self._button = True
        self._driver.post(ev.PttPressed)
        if self._speaking and self._newest is not None:
            self._bind(self._newest)

    def release(self) -> None:
        """The user releases push-to-talk. Sound that is still heard belongs to the turn that ends, and isn't a new
        onset."""
        if self._driver.is_busy or self._driver.is_other_thread:
            self._driver.call_soon(self.release)
            return
        self._speaking = False
        self._driver.post(ev.PttReleased)
        self._button = False

    def follow(self, record: StepRecord) -> None:
        """If the state machine has ended the turn in mid-speech and the user's voice continues, post a new onset. A
        voice without any words is ignored, because the ears have probably missed its end."""
        before, after = record.before, record.after
        utterance = self._newest
        if utterance is not None and not utterance.turn and after.onset > before.onset:
            self._bind(utterance)  # to the turn in which the utterance continues
        if before.link is not after.link:
            self._follow_link(before.link, after.link)
        ended = before.user in _OPEN and after.user in (User.QUIET, User.TRANSCRIBING)
        if not ended or after.link not in ACTIVE or isinstance(record.event, ev.PttReleased):
            return
        if self._button:  # still pressed, so the next turn begins immediately
            self._continue_speech(ev.PttPressed)
        elif not self._speaking or self._newest is None:
            return
        elif isinstance(record.event, ev.TextTyped | ev.SendPressed) or before.words is not Words.NONE:
            self._continue_speech(ev.SpeechStarted)
        else:
            self._speaking = False

    def _follow_link(self, before: Link, after: Link) -> None:
        """Stop the timers while no audio arrives, and release the button if the line is lost."""
        if self._button and after in AWAY:
            self.release()
        if (after in _DEAF) is (before in _DEAF):
            return
        now = self._driver.now()
        if after in _DEAF:
            self._deaf_at = now
            self._cancel(self._gate)
            self._cancel(self._silence)
            return
        self._began_at, self._ended_at, self._end_reported_at = (
            at + now - max(at, self._deaf_at) for at in (self._began_at, self._ended_at, self._end_reported_at)
        )
        if self._speaking:
            self._await_duration()
        else:
            self._await_silence()

    def _continue_speech(self, onset: type[ev.SpeechStarted | ev.PttPressed]) -> None:
        utterance = self._newest
        if utterance is not None and self._speaking:
            self._split(utterance)
        self._driver.post(onset)

    def _split(self, utterance: HeardUtterance) -> None:
        so_far = self._transcript.said_in(utterance.turn, utterance.serial).split()
        if so_far:
            utterance.taken.append((utterance.turn, len(so_far)))
        utterance.turn, utterance.is_final = 0, False


def _checked(heard: Partial | Final) -> str:
    """The text of the report, stripped. Raises BrokenContract if the report is invalid."""
    text, confidence, number = heard.text, heard.confidence, heard.utterance
    sane = type(text) is str and isinstance(confidence, int | float) and type(number) is int and number >= 0
    if not sane or not 0 <= confidence <= 1:
        raise BrokenContract(ErrorClass.SERVER_ERROR, "ears reported an invalid text, confidence or utterance number")
    return text.strip()
