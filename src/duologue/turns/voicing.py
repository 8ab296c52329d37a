"""Measures the voice and the silence in the current turn, frame by frame.

Voiced and silent time are counted from VAD probabilities. Rule: a turn ends only when the caller calls `forgotten`. A
pause never ends the turn, because the user may continue to speak.
"""

from __future__ import annotations

import math
from typing import NamedTuple

FRAME_MS = 32
VOICE_ON = 0.5  # a voice begins at this probability ...
VOICE_OFF = 0.35  # ... and ends below this one, so that a weak syllable isn't a pause
EVIDENCE_PER_FRAME_MAX = 4.0
STRETCH_GAP_MS = 192  # voice after this much silence is another stretch
_TURN_MS_MAX = 12_000  # older levels don't matter for the end of a turn
_NEWER_MAX = 16
_BEFORE_FRAMES = 2  # earlier frames that belong to the turn, because a syllable starts before the VAD is sure
_PROBABILITY_MARGIN = 1e-3


def log_odds(probability: float) -> float:
    """The log-odds of a probability. The result is finite even for 0 and 1, because the probability is clipped
    first."""
    inside = min(max(probability, _PROBABILITY_MARGIN), 1 - _PROBABILITY_MARGIN)
    return math.log(inside / (1 - inside))


class Voicing(NamedTuple):
    """The measurements of one turn of one person. Each frame gives a new value."""

    frame_ms: int = FRAME_MS
    voiced: bool = False  # does the latest frame contain a voice?
    begun: bool = False
    silence_ms: int = 0
    voiced_ms: int = 0
    evidence: float = 0.0
    """The sum, over the voiced frames, of the log-odds that a frame is voice. A "yes" has more evidence than a
    cough."""
    older_db: tuple[float, ...] = ()
    newer_db: tuple[float, ...] = ()
    """The end of `levels_db`. It is separate and short, because each frame with a voice copies it."""
    recent_db: tuple[float, ...] = ()
    """The levels of the last frames before this one. They belong to the turn if a voice begins now."""
    stretch_ms: int = 0  # voice of the last stretch
    stretch_evidence: float = 0.0  # evidence of the last stretch

    @property
    def levels_db(self) -> tuple[float, ...]:
        """The levels of this turn's frames in dB, up to and including the first silent frame of the current pause."""
        return (*self.older_db, *self.newer_db)[-(_TURN_MS_MAX // self.frame_ms) :]

    def forgotten(self) -> Voicing:
        """The measurements after the end of the turn: everything about this turn is forgotten. The next voice starts a
        new turn."""
        return Voicing(self.frame_ms, recent_db=self.recent_db)

    def heard(self, vad: float, level_db: float) -> Voicing:
        """The measurements after the next frame. `vad` is the probability that this frame is voice, and `level_db` is
        its level."""
        recent_db = (*self.recent_db[1 - _BEFORE_FRAMES :], level_db)
        if vad >= (VOICE_OFF if self.voiced else VOICE_ON):
            return self._voice(vad, level_db, recent_db)
        if not self.begun:
            return Voicing(self.frame_ms, recent_db=recent_db)
        older_db, newer_db = (self.older_db, self.newer_db) if self.silence_ms else self._levels((level_db,))
        return Voicing(
            self.frame_ms,
            False,
            True,
            self.silence_ms + self.frame_ms,
            self.voiced_ms,
            self.evidence,
            older_db,
            newer_db,
            recent_db,
            self.stretch_ms,
            self.stretch_evidence,
        )

    def _voice(self, vad: float, level_db: float, recent_db: tuple[float, ...]) -> Voicing:
        evidence = min(max(0.0, log_odds(vad)), EVIDENCE_PER_FRAME_MAX)
        older_db, newer_db = self._levels((level_db,) if self.begun else (*self.recent_db, level_db))
        goes_on = self.silence_ms < STRETCH_GAP_MS
        return Voicing(
            self.frame_ms,
            True,
            True,
            0,
            self.voiced_ms + self.frame_ms,
            self.evidence + evidence,
            older_db,
            newer_db,
            recent_db,
            self.frame_ms + (self.stretch_ms if goes_on else 0),
            evidence + (self.stretch_evidence if goes_on else 0.0),
        )

    def _levels(self, added_db: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The new `older_db` and `newer_db` after these levels."""
        newer_db = (*self.newer_db, *added_db)
        if len(newer_db) < _NEWER_MAX:
            return self.older_db, newer_db
        return (*self.older_db, *newer_db)[-(_TURN_MS_MAX // self.frame_ms) :], ()
