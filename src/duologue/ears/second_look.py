"""Decides when the voice detector judges a frame a second time, and which probability is used then.

The answer of the voice detector (Silero) for a frame is the probability that the frame is speech. It depends on where
the frames begin: the same short word may get the probability 0.2, or 0.9 if the frames begin half a frame later. So
while the detector is unsure about a sound, it judges the sound a second time, in frames that begin half a frame
earlier. The mean of both answers is used if it is higher than the first answer, so the second look never makes speech
less probable. Rule: after some frames that were surely speech, there are no more second looks, because they would delay
the end of speech.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from duologue.turns.voicing import log_odds

NOTICED = 0.1  # from this probability on, a sound may be a voice
SURE = 0.9  # a frame with this probability is surely voice, ...
SURE_FRAMES = 4  # ... and after this many of them, the sound needs no second look
QUIET = 0.35  # frames below this are silent, ...
QUIET_FRAMES = 6  # ... and after this many in a row, the sound is over


@dataclass(slots=True)
class SoundDoubt:
    """How sure the voice detector has been that the current sound of one stream is speech."""

    is_open: bool = False  # True while each frame of the sound is judged twice
    sure: int = 0
    quiet: int = 0

    def needs_look(self, first: float) -> bool:
        """Must this frame be judged a second time? `first` is the probability of speech from the first judgement."""
        return self.sure < SURE_FRAMES and (self.is_open or first >= NOTICED)

    def note(self, first: float, probability: float, is_twice: bool) -> None:
        """Record the result for a frame: the probability from the first judgement, and the probability that is used.
        `is_twice` says whether the frame was judged a second time."""
        self.is_open = is_twice
        self.sure += first >= SURE
        self.quiet = self.quiet + 1 if probability < QUIET else 0
        if self.quiet >= QUIET_FRAMES:
            self.is_open, self.sure = False, 0


def raised(first: float, second: float) -> float:
    """The probability to use after two judgements: the mean of both, computed from their log-odds. It is never less
    than the first."""
    return max(first, 1 / (1 + math.exp(-(log_odds(first) + log_odds(second)) / 2)))
