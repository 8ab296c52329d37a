"""From the probability of speech to onsets and ends.

Counts frames; knows neither models nor audio nor clocks. Rule: a single frame decides nothing while the person
has the floor, so neither a click begins an utterance nor a consonant ends one.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateRule:
    """How sure and for how long. Between the two thresholds, things stay as they are."""

    on: float = 0.5
    off: float = 0.35
    onset_ms: int = 64
    pause_ms: int = 64
    offset_ms: int = 192


class Change(enum.Enum):
    """What a frame changed."""

    BEGAN = "began"
    PAUSED = "paused"  # it may be the end: time to get its text ready
    ENDED = "ended"


class VoiceGate:
    """One stream."""

    def __init__(self, rule: GateRule, frame_ms: int) -> None:
        assert 0 <= rule.off <= rule.on <= 1, rule
        assert frame_ms <= rule.pause_ms <= rule.offset_ms, rule
        self._rule = rule
        self._onset, self._pause, self._offset = (
            max(1, ms // frame_ms) for ms in (rule.onset_ms, rule.pause_ms, rule.offset_ms)
        )
        self._is_open = False  # an onset was told and not its end
        self._is_cut = False  # what is still heard belongs to something that is over
        self._voiced = 0
        self.quiet = 0
        """How many frames ago the voice fell silent; 0 while it is heard."""

    def cut(self) -> None:
        """Whatever was being said is over. If the voice goes on, that is another onset."""
        self._is_cut = self._is_open
        self._voiced = 0

    def feed(self, probability: float, is_eager: bool = False) -> Change | None:
        """The next frame. `is_eager`: one frame is enough for an onset, because somebody else is talking and
        must be held at once; what it was is judged afterwards."""
        self._count(probability)
        if (not self._is_open or self._is_cut) and self._voiced >= (1 if is_eager else self._onset):
            self._is_open, self._is_cut = True, False
            return Change.BEGAN
        if self._is_open and self.quiet >= self._offset:
            self._is_open, self._is_cut = False, False
            self._voiced = 0
            return Change.ENDED
        if self._is_open and not self._is_cut and self.quiet == self._pause:
            return Change.PAUSED
        return None

    def _count(self, probability: float) -> None:
        if probability >= self._rule.on:
            self._voiced += 1
            self.quiet = 0
        elif probability < self._rule.off or self.quiet:
            self.quiet += 1
            if probability < self._rule.off:
                self._voiced = 0
