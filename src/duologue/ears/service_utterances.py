"""The state machine that turns the events of an STT service into the reports of ears: `step(state, given, at_ms) ->
(state, reports)`.

An STT service sends several final texts for one utterance, and some of them only after the turn was committed. Its
event for the end of speech may come before or after its last text. Time is the position in the audio, in milliseconds.
Rule: the onset of an utterance is reported first, and its final text after the utterance has ended. If more text of the
same speech comes later, it is added to the same utterance, so it stays with its turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from duologue.ports.ears import Commit, Discard, Final, Heard, Partial, SpeechBegan, SpeechEnded, TurnOver

LATE_MS = 1_500  # text without times that arrives this soon after an utterance belongs to it
EDGE_MS = 150  # times of words are this exact
KNOWN_MAX = 6


@dataclass(frozen=True, slots=True)
class OnsetHeard:
    """The service has heard that speech begins."""


@dataclass(frozen=True, slots=True)
class SilenceHeard:
    """The service has heard the end of speech."""


@dataclass(frozen=True, slots=True)
class TextHeard:
    """Text from the service. `end_ms` is the position in the audio where the last word ends; 0 if this isn't known. If
    `settled` is set, the text won't change any more. If `stable` is set, it will probably not change."""

    text: str
    confidence: float = 1.0
    end_ms: int = 0
    settled: bool = False
    stable: bool = False
    last_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class TextOverdue:
    """The final text of an ended utterance has not come in time."""


Given: TypeAlias = OnsetHeard | SilenceHeard | TextHeard | TextOverdue | Commit | Discard


@dataclass(frozen=True, slots=True)
class ServiceUtterance:
    """One utterance, with the texts that the service has sent for it."""

    number: int
    texts: tuple[TextHeard, ...] = ()  # settled
    open_text: TextHeard | None = None  # may still change
    ended_at: int | None = None
    is_final: bool = False  # its final text was reported
    is_discarded: bool = False

    @property
    def is_on(self) -> bool:
        return self.ended_at is None

    @property
    def is_awaited(self) -> bool:
        """Has the utterance ended, and is its final text still missing?"""
        return self.ended_at is not None and not self.is_final and not self.is_discarded

    @property
    def all_texts(self) -> tuple[TextHeard, ...]:
        return self.texts if self.open_text is None else (*self.texts, self.open_text)

    @property
    def text(self) -> str:
        return " ".join(one.text for one in self.all_texts)

    @property
    def confidence(self) -> float:
        """The mean confidence of the texts, weighted by their length."""
        known = self.all_texts
        length = sum(len(one.text) for one in known)
        return sum(one.confidence * len(one.text) for one in known) / length if length else 1.0


@dataclass(frozen=True, slots=True)
class SpokenState:
    """The newest utterances, in the order in which they were spoken. If `judges_turns` is set, the turn is over when
    the service reports the end of speech."""

    known: tuple[ServiceUtterance, ...] = ()
    number: int = 0
    judges_turns: bool = False

    @property
    def newest(self) -> ServiceUtterance | None:
        return self.known[-1] if self.known else None

    @property
    def is_waiting(self) -> bool:
        """Has any utterance ended without its final text?"""
        return any(one.is_awaited for one in self.known)

    def put(self, spoken: ServiceUtterance) -> SpokenState:
        return replace(self, known=tuple(spoken if one.number == spoken.number else one for one in self.known))


def step(state: SpokenState, given: Given, at_ms: int) -> tuple[SpokenState, tuple[Heard, ...]]:
    """Return the state after this input, and the reports of the ears, in order."""
    match given:
        case OnsetHeard():
            is_on = state.newest is not None and state.newest.is_on
            return (state, ()) if is_on else _begin(state)
        case SilenceHeard():
            return _end(state, at_ms)
        case TextHeard():
            return _hear(state, given, at_ms)
        case TextOverdue():
            return _finish_all(state)
        case Commit():
            return _commit(state, at_ms)
        case Discard():
            return _discard(state, at_ms), ()


def _begin(state: SpokenState) -> tuple[SpokenState, tuple[Heard, ...]]:
    number = state.number + 1
    known = (*state.known, ServiceUtterance(number))[-KNOWN_MAX:]
    return replace(state, number=number, known=known), (SpeechBegan(number),)


def _end(state: SpokenState, at_ms: int) -> tuple[SpokenState, tuple[Heard, ...]]:
    spoken = state.newest
    if spoken is None or not spoken.is_on:
        return state, ()
    spoken = replace(spoken, ended_at=at_ms)
    reports: tuple[Heard, ...] = (SpeechEnded(spoken.number),)
    if spoken.texts and spoken.open_text is None:
        spoken, final = _finished(spoken)
        reports = (*reports, final)
    if state.judges_turns:
        reports = (*reports, TurnOver(spoken.number))
    return state.put(spoken), reports


def _finished(spoken: ServiceUtterance) -> tuple[ServiceUtterance, Final]:
    last = spoken.all_texts[-1].last_confidence if spoken.all_texts else None
    return replace(spoken, is_final=True), Final(spoken.text, spoken.confidence, spoken.number, last)


# -- Text


def _hear(state: SpokenState, heard: TextHeard, at_ms: int) -> tuple[SpokenState, tuple[Heard, ...]]:
    if not heard.text.strip():
        return state, ()
    heard = replace(heard, text=heard.text.strip())
    spoken, reports = _owner(state, heard, at_ms), tuple[Heard, ...]()
    if spoken is None:
        state, reports = _begin(state)
        spoken = state.known[-1]
    if spoken.is_discarded:
        return state, reports
    spoken = (
        replace(spoken, texts=(*spoken.texts, heard), open_text=None)
        if heard.settled
        else replace(spoken, open_text=heard)
    )
    if spoken.is_on or not heard.settled:
        told = Partial(spoken.text, spoken.confidence, spoken.number, 1.0 if heard.stable or heard.settled else None)
        return state.put(spoken), (*reports, told)
    spoken, final = _finished(spoken)
    return state.put(spoken), (*reports, final)


def _owner(state: SpokenState, heard: TextHeard, at_ms: int) -> ServiceUtterance | None:
    """The utterance to which this text belongs; None if it begins a new utterance."""
    ended = [one for one in state.known if one.ended_at is not None]
    if heard.end_ms:
        for one in ended:
            if heard.end_ms <= (one.ended_at or 0) + EDGE_MS:
                return one
    newest = state.newest
    if newest is None:
        return None
    waiting = [one for one in ended if one.is_awaited]
    if waiting and not heard.end_ms and (heard.settled or not newest.is_on):
        return waiting[0]
    if newest.is_on:
        return newest
    is_late = heard.settled and not heard.end_ms and at_ms - (newest.ended_at or 0) <= LATE_MS
    return newest if is_late else None


def _finish_all(state: SpokenState) -> tuple[SpokenState, tuple[Heard, ...]]:
    reports = list[Heard]()
    for one in state.known:
        if one.is_awaited:
            spoken, final = _finished(one)
            state = state.put(spoken)
            reports.append(final)
    return state, tuple(reports)


# -- The end of the turn


def _commit(state: SpokenState, at_ms: int) -> tuple[SpokenState, tuple[Heard, ...]]:
    """End the newest utterance. If the speech goes on, it becomes a new utterance."""
    spoken = state.newest
    if spoken is None or not spoken.is_on:
        return state, ()
    spoken = replace(spoken, ended_at=at_ms)
    if spoken.texts and spoken.open_text is None:
        spoken, final = _finished(spoken)
        return state.put(spoken), (final,)
    return state.put(spoken), ()


def _discard(state: SpokenState, at_ms: int) -> SpokenState:
    """Drop the newest utterance, unless its final text was already reported. Text that arrives later is ignored if it
    was spoken before this moment."""
    spoken = state.newest
    if spoken is None or spoken.is_final:
        return state
    ended_at = at_ms if spoken.ended_at is None else spoken.ended_at
    return state.put(replace(spoken, ended_at=ended_at, is_discarded=True, texts=(), open_text=None))
