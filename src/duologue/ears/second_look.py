"""Decides when the voice detector judges a sound a second time, and which answer counts then.

Silero's answer depends on where its frames begin: the same short word gets 0.2 or 0.9, half a frame apart. So while it
is unsure, it also judges frames that begin half a frame earlier. The mean of both answers counts if it is higher, so
that the second look never makes a voice less probable. Rule: a voice that was sure for some frames isn't judged again,
so the end of speech is found as before.
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
    """How sure the voice detector has been of the current sound of one stream."""

    is_open: bool = False  # the sound is judged twice
    sure: int = 0
    quiet: int = 0

    def needs_look(self, first: float) -> bool:
        """Is a second look needed at the frame that has this probability?"""
        return self.sure < SURE_FRAMES and (self.is_open or first >= NOTICED)

    def note(self, first: float, probability: float, is_twice: bool) -> None:
        """Note the first answer about a frame and the answer that counts. `is_twice`: there was a second look."""
        self.is_open = is_twice
        self.sure += first >= SURE
        self.quiet = self.quiet + 1 if probability < QUIET else 0
        if self.quiet >= QUIET_FRAMES:
            self.is_open, self.sure = False, 0


def raised(first: float, second: float) -> float:
    """The answer that counts: the probability whose log-odds are the mean of both, but never less than the first
    answer."""
    return max(first, 1 / (1 + math.exp(-(log_odds(first) + log_odds(second)) / 2)))
