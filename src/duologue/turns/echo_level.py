"""Is this frame louder than the agent's own echo can be?

Knows levels in dB only: what the microphone hears and what is being played. Keeps the peak of the playback, lets it
decay as a room does, learns how much of it comes back, and asks for a margin above that. Rule: an echo that
arrives later than the playback decays is not known here; align the reference with what is really played.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from statistics import median

NOTHING_PLAYED = math.inf


@dataclass(frozen=True, slots=True)
class EchoGateSettings:
    """The decay is slower than that of a living room, so that the tail of a word stays covered."""

    margin_db: float = 12.0  # above the expected echo
    decay_db_s: float = 62.5
    spread_ms: int = 32  # an echo may come this much later than its cause and still be as loud
    playing_db: float = -60.0  # quieter playback makes no echo
    coupling_db: float = -6.0  # what comes back until it is learned; loud, so that the first word doesn't stop itself
    learn_ms_min: int = 256
    learn_ms_max: int = 6_400


class EchoGate:
    """One microphone and one loudspeaker."""

    def __init__(self, frame_ms: int, settings: EchoGateSettings | None = None) -> None:
        assert frame_ms > 0, frame_ms
        settings = settings or EchoGateSettings()
        self.settings = settings
        self._decay_db = settings.decay_db_s * frame_ms / 1000
        self._learn_frames_min = settings.learn_ms_min // frame_ms
        self._played: deque[float] = deque(maxlen=1 + settings.spread_ms // frame_ms)
        self._coupling: deque[float] = deque(maxlen=settings.learn_ms_max // frame_ms)
        self._peak_db = -math.inf

    @property
    def coupling_db(self) -> float:
        """How loud the echo is against the playback: the median of what was heard so far."""
        learned = len(self._coupling) >= self._learn_frames_min
        return median(self._coupling) if learned else self.settings.coupling_db

    def excess_db(self, heard_db: float, played_db: float) -> float:
        """By how much this frame is louder than the echo to expect; infinite while nothing is played."""
        self._played.append(played_db)
        self._peak_db = max(max(self._played), self._peak_db - self._decay_db)
        if self._peak_db <= self.settings.playing_db:
            return NOTHING_PLAYED
        excess = heard_db - self._peak_db - self.coupling_db
        self._coupling.append(heard_db - self._peak_db)
        return excess

    def passes(self, heard_db: float, played_db: float) -> bool:
        """Can this frame not be the agent's own voice?"""
        return self.excess_db(heard_db, played_db) > self.settings.margin_db
