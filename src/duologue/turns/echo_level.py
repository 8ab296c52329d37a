"""Decides whether a frame is too loud to be the agent's own echo.

The gate compares the level of the microphone with the level of the playback, both in dB. It follows the peak of the
playback, which decays as sound does in a room, and learns how much of that peak returns through the microphone. This is
the expected echo. A frame passes the gate if it is louder than the expected echo by a margin. Rule: the playback levels
must be aligned in time with the real playback. An echo that arrives after the decay isn't recognized.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from statistics import median

NOTHING_PLAYED = math.inf


@dataclass(frozen=True, slots=True)
class EchoGateSettings:
    """Settings of an EchoGate. The decay is slower than in a living room, so that the end of a word is covered."""

    margin_db: float = 12.0  # a frame must be this much louder than the expected echo
    decay_db_s: float = 62.5  # how fast the peak of the playback decays
    spread_ms: int = 32  # an echo may arrive this much later at full level
    playing_db: float = -60.0  # quieter playback causes no echo
    coupling_db: float = -6.0  # echo level until it is learned; high, so that the agent's first word isn't a barge-in
    learn_ms_min: int = 256
    learn_ms_max: int = 6_400


class EchoGate:
    """Distinguishes the echo of one loudspeaker in one microphone from other sounds. Pass every frame once, in
    order."""

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
        """The level of the echo relative to the playback: the median so far, or the setting until enough is learned."""
        learned = len(self._coupling) >= self._learn_frames_min
        return median(self._coupling) if learned else self.settings.coupling_db

    def excess_db(self, heard_db: float, played_db: float) -> float:
        """By how many dB this frame is louder than the expected echo; infinite while nothing is played. The gate also
        learns from the frame."""
        self._played.append(played_db)
        self._peak_db = max(max(self._played), self._peak_db - self._decay_db)
        if self._peak_db <= self.settings.playing_db:
            return NOTHING_PLAYED
        excess = heard_db - self._peak_db - self.coupling_db
        self._coupling.append(heard_db - self._peak_db)
        return excess

    def passes(self, heard_db: float, played_db: float) -> bool:
        """Is this frame too loud to be the agent's own voice? The gate also learns from the frame."""
        return self.excess_db(heard_db, played_db) > self.settings.margin_db
