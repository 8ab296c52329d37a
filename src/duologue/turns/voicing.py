"""Voice and silence of the current turn, frame by frame.

Voiced and silent time are counted from VAD probabilities. Rule: the caller ends a turn with `forget`. A pause never
ends the turn, because the user may go on speaking.
"""

from __future__ import annotations

import math
from collections import deque

FRAME_MS = 32
VOICE_ON = 0.5  # a voice begins at this probability ...
VOICE_OFF = 0.35  # ... and ends below this one, so that a weak syllable isn't a pause
EVIDENCE_PER_FRAME_MAX = 4.0
_TURN_MS_MAX = 12_000  # older levels don't matter for the end of a turn
_BEFORE_FRAMES = 2  # earlier frames that belong to the turn, because a syllable starts before the VAD is sure
_PROBABILITY_MARGIN = 1e-3


def log_odds(probability: float) -> float:
    """The log-odds of a probability. For 0 and 1 too, the result is finite, because the probability is clipped
    first."""
    inside = min(max(probability, _PROBABILITY_MARGIN), 1 - _PROBABILITY_MARGIN)
    return math.log(inside / (1 - inside))


class Voicing:
    """Measures one turn of one person. `evidence` is the sum, over the voiced frames, of the log-odds that a frame is
    voice. A "yes" has more evidence than a cough."""

    def __init__(self, frame_ms: int = FRAME_MS) -> None:
        assert frame_ms > 0, frame_ms
        self.frame_ms = frame_ms
        self._recent: deque[float] = deque(maxlen=_BEFORE_FRAMES)
        self.forget()

    def forget(self) -> None:
        """Forget the turn, so that the next voice starts a new one."""
        self.voiced = False
        self.begun = False
        self.silence_ms = 0
        self.voiced_ms = 0
        self.evidence = 0.0
        self._levels_db: deque[float] = deque(maxlen=_TURN_MS_MAX // self.frame_ms)

    @property
    def levels_db(self) -> tuple[float, ...]:
        """The levels of this turn's frames in dB, up to and including the first silent frame of the current pause."""
        return tuple(self._levels_db)

    def update(self, vad: float, level_db: float) -> None:
        """Process the next frame, with its probability of voice and its level."""
        self.voiced = vad >= (VOICE_OFF if self.voiced else VOICE_ON)
        if self.voiced:
            self._voice(vad, level_db)
        elif self.begun:
            self.silence_ms += self.frame_ms
            if self.silence_ms == self.frame_ms:
                self._levels_db.append(level_db)
        self._recent.append(level_db)

    def _voice(self, vad: float, level_db: float) -> None:
        if not self.begun:
            self.begun = True
            self._levels_db.extend(self._recent)
        self.silence_ms = 0
        self.voiced_ms += self.frame_ms
        self.evidence += min(max(0.0, log_odds(vad)), EVIDENCE_PER_FRAME_MAX)
        self._levels_db.append(level_db)
