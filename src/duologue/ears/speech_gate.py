"""Turns probabilities of speech into onsets (first signs of speech), pauses and ends.

This module only counts frames. It uses no models, audio or clocks. Rule: while the agent is silent, a single frame
decides nothing, so a click doesn't start an utterance and a consonant doesn't end one.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateRule:
    """When speech begins, pauses and ends: the thresholds for the probability of speech, and for how long the
    probability must stay above `on` or below `off`. A probability between `off` and `on` neither begins nor interrupts
    a silence."""

    on: float = 0.5
    off: float = 0.35
    onset_ms: int = 64
    pause_ms: int = 64
    offset_ms: int = 192


class Change(enum.Enum):
    """What a frame changed."""

    BEGAN = "began"
    PAUSED = "paused"  # speech may have ended, so a transcript should be prepared
    ENDED = "ended"


class VoiceGate:
    """Decides when speech begins, pauses and ends in one stream."""

    def __init__(self, rule: GateRule, frame_ms: int) -> None:
        assert 0 <= rule.off <= rule.on <= 1, rule
        assert frame_ms <= rule.pause_ms <= rule.offset_ms, rule
        self._rule = rule
        self._onset, self._pause, self._offset = (
            max(1, ms // frame_ms) for ms in (rule.onset_ms, rule.pause_ms, rule.offset_ms)
        )
        self._is_open = False  # an onset was reported, but not its end
        self._is_cut = False  # the current utterance was ended by `cut`, but its speech may go on
        self._voiced = 0
        self.quiet = 0
        """How many frames the silence has lasted. 0 during speech."""

    def cut(self) -> None:
        """End the current utterance. If speech goes on, another onset is reported."""
        self._is_cut = self._is_open
        self._voiced = 0

    def feed(self, probability: float, is_eager: bool = False) -> Change | None:
        """Process the next frame and return what it changed; None if nothing. With `is_eager`, one frame is enough for
        an onset. The caller sets `is_eager` while the agent speaks, because the playback must be held immediately.
        Whether the sound was speech is judged afterwards."""
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
