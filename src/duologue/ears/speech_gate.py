"""Turns probabilities of speech into onsets (first signs of speech), pauses and ends.

This module only counts frames. It uses no models, audio or clocks. Rule: while the agent is silent, a single frame
decides nothing. So a click doesn't begin an utterance, and a voiceless consonant doesn't end an utterance.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

from duologue.turns.voicing import log_odds

FRAME_MS = 32


@dataclass(frozen=True, slots=True)
class GateRule:
    """The rule by which speech begins, pauses and ends. `on` and `off` are thresholds for the probability of speech,
    and the times say how long the probability must stay above `on` or below `off`. A probability between `off` and `on`
    changes nothing: it neither begins nor ends a silence."""

    on: float = 0.5
    off: float = 0.35
    onset_ms: int = 64
    eager_evidence: float = 1.4  # over the agent, summed log-odds begin speech: one frame of probability 0.8
    pause_ms: int = 64
    offset_ms: int = 192

    def __post_init__(self) -> None:
        assert 0 <= self.off <= self.on <= 1, self
        assert FRAME_MS <= self.pause_ms <= self.offset_ms, self


class Change(enum.Enum):
    """What a frame changed."""

    BEGAN = "began"
    PAUSED = "paused"  # speech may have ended, so a transcript should be prepared
    ENDED = "ended"


class VoiceGate(NamedTuple):
    """Decides when speech begins, pauses and ends in one stream. A gate is a value that doesn't change: each frame
    makes a new gate."""

    is_open: bool = False  # an onset was reported, but not its end
    is_cut: bool = False  # the current utterance was ended by `cut`, but its speech may go on
    voiced: int = 0  # frames above `on` since the last one below `off`
    quiet: int = 0
    """How many frames the silence has lasted. 0 during speech."""
    evidence: float = 0.0  # log-odds of voice, summed since the last frame below `off` until they are enough

    def cut(self) -> VoiceGate:
        """The gate after the caller has ended the current utterance. If the speech goes on, a new onset is reported."""
        return self._replace(is_cut=self.is_open, voiced=0, evidence=0.0)

    def heard(self, rule: GateRule, probability: float, is_eager: bool = False) -> tuple[VoiceGate, Change | None]:
        """Return the gate after the next frame, and what the frame changed (None if nothing). With `is_eager`, one
        frame with a high probability is enough for an onset. The caller sets `is_eager` while the agent speaks, because
        playback must then be held immediately. Whether the sound really was speech is judged afterwards."""
        voiced, quiet, evidence = self._count(rule, probability)
        if not self.is_open or self.is_cut:
            begins = evidence >= rule.eager_evidence if is_eager else voiced >= max(1, rule.onset_ms // FRAME_MS)
            if begins:
                return VoiceGate(True, False, voiced, quiet, evidence), Change.BEGAN
        if self.is_open and quiet >= rule.offset_ms // FRAME_MS:
            return VoiceGate(False, False, 0, quiet), Change.ENDED
        gate = VoiceGate(self.is_open, self.is_cut, voiced, quiet, evidence)
        paused = self.is_open and not self.is_cut and quiet == rule.pause_ms // FRAME_MS
        return gate, Change.PAUSED if paused else None

    def _count(self, rule: GateRule, probability: float) -> tuple[int, int, float]:
        """The new values of `voiced`, `quiet` and `evidence` after a frame with this probability."""
        if probability >= rule.on:
            # Once there is enough evidence, more of it changes nothing.
            is_enough = self.evidence >= rule.eager_evidence
            return self.voiced + 1, 0, self.evidence + (0.0 if is_enough else max(0.0, log_odds(probability)))
        if probability < rule.off:
            return 0, self.quiet + 1, 0.0
        return self.voiced, self.quiet + 1 if self.quiet else 0, self.evidence
