"""What was heard of a voice that is sent as RTP packets: a pure step for each packet, and for each acknowledgement.

A voice is the sound of one utterance of the agent, with a number. Packets leave at the speed at which they are played,
each with a stamp. When the client says which stamp it plays, or is reckoned to play, the spans tell which sample of
which voice that is. Stamps are RTP clocks (48 a millisecond) since the connection began, and positions are samples of
the voice (24 a millisecond). Rule: no more counts as heard than was sent, and nothing counts as heard twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from duologue.ports.line import Finished, Played, Stopped

from ..opus import CLOCK_HZ
from ..playback.state import SAMPLES_PER_MS

CLOCKS_PER_SAMPLE = CLOCK_HZ // (SAMPLES_PER_MS * 1000)
STOP_MS_MAX = 250  # so long after a clear, what was acknowledged by then is the answer


@dataclass(frozen=True, slots=True)
class VoiceSent:
    """A packet with this stamp left. It begins with `samples` of the voice, from `start` on."""

    stamp: int
    voice: int
    start: int
    samples: int


@dataclass(frozen=True, slots=True)
class VoiceComplete:
    """All of the voice was sent, up to this sample."""

    voice: int
    end: int


@dataclass(frozen=True, slots=True)
class VoiceCleared:
    """No more of this voice is sent, from this sample on."""

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
    """Another carrier has the voice: forget it."""


HeardInput: TypeAlias = VoiceSent | VoiceComplete | VoiceCleared | StampHeard | SpansDropped
Report: TypeAlias = Played | Finished | Stopped


class SentSpan(NamedTuple):
    """A part of the voice that was sent without a pause."""

    stamp: int
    start: int
    samples: int


@dataclass(frozen=True, slots=True)
class HeardState:
    """The voice that was sent last."""

    voice: int = 0
    spans: tuple[SentSpan, ...] = ()  # not yet heard to their end
    sent: int = 0  # the sample after the last one that was sent
    heard: int = 0  # the sample after the last one that was heard
    is_complete: bool = False
    cleared_ms: int | None = None  # when it was cleared

    @property
    def heard_ms(self) -> int:
        """Rounded up at the end of what was sent, so that a voice that was heard whole isn't reported as shorter."""
        return -(-self.heard // SAMPLES_PER_MS) if self.heard == self.sent else self.heard // SAMPLES_PER_MS


HeardDone: TypeAlias = tuple[HeardState, tuple[Report, ...]]


def step(state: HeardState, given: HeardInput) -> HeardDone:
    """The state after this input, and what to report."""
    return _STEPS[type(given)](state, given)


def _send(s: HeardState, given: VoiceSent) -> HeardDone:
    """A new voice replaces the former one. If that was cleared, what was sent of it is heard before the new one."""
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
    """The end of a voice is reported when its last sample is heard. One of which nothing was sent here ends at once."""
    if given.voice != s.voice:
        s = HeardState(given.voice, sent=given.end, heard=given.end)
    s = replace(s, is_complete=True)
    return _report(s) if not s.spans else (s, ())


def _clear(s: HeardState, given: VoiceCleared) -> HeardDone:
    """What was sent is still on its way and will be heard, so the stop is reported when it was."""
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
