"""Counts how much was heard of a voice that is sent as RTP packets. `step` is a pure function, called for each packet
that is sent and each report of what was played.

A voice is the sound of one utterance of the agent, with a number. Packets are sent at the speed at which they are
played, each with a stamp. The client reports the stamp of the packet that it is playing; if it reports nothing, the
stamp is estimated. The stamp shows which sample of which voice was heard. Stamps are RTP clocks (48 per millisecond)
since the connection began, and positions are samples of the voice (24 per millisecond). Rule: sound counts as heard
only if it was sent, and only once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from duologue.ports.line import Finished, Played, Stopped

from ..opus import CLOCK_HZ
from ..playback.state import SAMPLES_PER_MS

CLOCKS_PER_SAMPLE = CLOCK_HZ // (SAMPLES_PER_MS * 1000)
STOP_MS_MAX = 250  # this long after a clear, the stop is reported with what was acknowledged by then


@dataclass(frozen=True, slots=True)
class VoiceSent:
    """A packet with this stamp was sent. It begins with `samples` samples of an utterance of the agent; the first of
    them is at the position `start` of the utterance."""

    stamp: int
    voice: int
    start: int
    samples: int


@dataclass(frozen=True, slots=True)
class VoiceComplete:
    """The whole utterance was sent. `end` is its length in samples."""

    voice: int
    end: int


@dataclass(frozen=True, slots=True)
class VoiceCleared:
    """The utterance was cleared: no sound of it is sent after the sample `end`."""

    voice: int
    end: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class StampHeard:
    """The client has played everything before this stamp."""

    stamp: int
    now_ms: int


@dataclass(frozen=True, slots=True)
class SpansDropped:
    """The agent's utterance continues on another connection, so this connection must forget it."""


HeardInput: TypeAlias = VoiceSent | VoiceComplete | VoiceCleared | StampHeard | SpansDropped
Report: TypeAlias = Played | Finished | Stopped


class SentSpan(NamedTuple):
    """A part of the agent's utterance that was sent without a pause."""

    stamp: int
    start: int
    samples: int


@dataclass(frozen=True, slots=True)
class HeardState:
    """The utterance of the agent that was sent last, and how much of it was heard."""

    voice: int = 0
    spans: tuple[SentSpan, ...] = ()  # not yet heard to their end
    sent: int = 0  # the sample after the last one that was sent
    heard: int = 0  # the sample after the last one that was heard
    is_complete: bool = False
    cleared_ms: int | None = None  # when it was cleared

    @property
    def heard_ms(self) -> int:
        """How many milliseconds were heard. If everything that was sent was heard, this is rounded up: otherwise the
        utterance could be reported as a millisecond too short."""
        return -(-self.heard // SAMPLES_PER_MS) if self.heard == self.sent else self.heard // SAMPLES_PER_MS


HeardDone: TypeAlias = tuple[HeardState, tuple[Report, ...]]


def step(state: HeardState, given: HeardInput) -> HeardDone:
    """Return the state after this input, and the reports for the conversation."""
    return _STEPS[type(given)](state, given)


def _send(s: HeardState, given: VoiceSent) -> HeardDone:
    """Record a packet that was sent. The packet may begin a new utterance of the agent, which replaces the previous
    one. If the previous one was cleared, all of its sound that was sent counts as heard."""
    reports: tuple[Report, ...] = ()
    if given.voice != s.voice:
        if s.cleared_ms is not None:
            _, reports = _report_stop(replace(s, heard=s.sent))
        s = HeardState(given.voice, heard=given.start)
    last = s.spans[-1] if s.spans else None
    end = given.start + given.samples
    if (
        last is not None
        and last.start + last.samples == given.start
        and last.stamp + last.samples * CLOCKS_PER_SAMPLE == given.stamp
    ):
        spans = (*s.spans[:-1], last._replace(samples=last.samples + given.samples))
    else:
        spans = (*s.spans, SentSpan(given.stamp, given.start, given.samples))
    return HeardState(s.voice, spans, end, s.heard, s.is_complete, s.cleared_ms), reports


def _complete(s: HeardState, given: VoiceComplete) -> HeardDone:
    """Record that the whole utterance was sent. Its end is reported as soon as its last sample is heard, which may be
    now."""
    if given.voice != s.voice:
        s = HeardState(given.voice, sent=given.end, heard=given.end)
    s = replace(s, is_complete=True)
    return _report(s) if not s.spans else (s, ())


def _clear(s: HeardState, given: VoiceCleared) -> HeardDone:
    """Record that an utterance of the agent was cleared. The sound that was already sent will still be heard, and only
    then is the stop reported."""
    if given.voice != s.voice:
        return _report_stop(HeardState(given.voice, sent=given.end, heard=given.end))
    if s.cleared_ms is not None:
        return s, ()
    s = replace(s, cleared_ms=given.now_ms, is_complete=False)
    return _report_stop(s) if not s.spans else (s, ())


def _hear(s: HeardState, given: StampHeard) -> HeardDone:
    heard, spans = s.heard, list(s.spans)
    while spans and (clocks := given.stamp - spans[0].stamp) > 0:
        samples = min(clocks // CLOCKS_PER_SAMPLE, spans[0].samples)
        heard = max(heard, spans[0].start + samples)
        if samples < spans[0].samples:
            break
        del spans[0]
    is_news = heard > s.heard
    s = replace(s, heard=heard, spans=tuple(spans))
    if s.cleared_ms is not None:
        is_over = not spans or given.now_ms - s.cleared_ms >= STOP_MS_MAX
        return _report_stop(s) if is_over else (s, ())
    if s.is_complete and not spans:
        return _report(s)
    return s, ((Played(s.voice, s.heard_ms),) if is_news else ())


def _report(s: HeardState) -> HeardDone:
    return HeardState(), (Finished(s.voice, s.heard_ms),)


def _report_stop(s: HeardState) -> HeardDone:
    return HeardState(), (Stopped(s.voice, s.heard_ms),)


def _drop(_s: HeardState, _: SpansDropped) -> HeardDone:
    return HeardState(), ()


_STEPS: dict[type, Callable[[HeardState, Any], HeardDone]] = {
    VoiceSent: _send,
    VoiceComplete: _complete,
    VoiceCleared: _clear,
    StampHeard: _hear,
    SpansDropped: _drop,
}
