"""Decides whether a frame is too loud to be an echo of the agent's voice.

The gate compares the level of the microphone with the level of the playback, both in dB. From the agent's first words
on, it learns two numbers, from which it computes how loud the echo can be now. The lag is how long after the playback
the echo arrives; at this lag, both levels rise and fall together. The coupling is how loud the echo is compared with
the playback. As long as the lag is unknown, the gate assumes an echo of the loudest recent playback. Every loud sound
is followed by its echo, and a person who talks at the same time only makes the frame louder. So the coupling is learned
from the quieter frames. Rule: the playback must not be reported later than it is heard.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NOTHING_PLAYED = math.inf
UNKNOWN = -1  # the lag, as long as it isn't known
_EVERY = 4  # frames between two looks at the history


@dataclass(frozen=True, slots=True)
class EchoGateSettings:
    """Settings of an EchoGate. The gate assumes that an echo fades more slowly than in a typical living room, so that
    the echo of a word's end isn't underestimated."""

    margin_db: float = 10.0  # a frame must be this much louder than the expected echo
    margin_wide_db: float = 12.0  # used instead of margin_db while the lag is unknown
    decay_db_s: float = 62.5  # how fast the peak of the playback decays
    spread_ms: int = 32  # an echo may arrive this much after the lag at full level, ...
    early_ms: int = 64  # ... and this much before it, because the playback isn't known exactly when it begins
    reach_ms: int = 704  # the longest lag: 400 ms in the network, a room, and how early a line reports its sound
    playing_db: float = -60.0  # quieter playback causes no echo
    floor_db: float = -66.0  # quieter sound is treated as this loud; telephone codecs have hardly any levels below it
    coupling_db: float = -4.0  # echo level until it is learned; high, so that the agent's first word isn't a barge-in
    loud_db: float = 6.0  # the coupling is learned from playback at most this much below its peak, not from pauses
    loud_share: float = 0.9  # in this share of the loud frames, the echo is at least as loud as the coupling says
    learn_ms_min: int = 256
    learn_ms_max: int = 6_400
    lag_ms_min: int = 512  # how much playback is compared before a lag is believed
    lag_memory_ms: int = 3_000  # how soon earlier playback loses weight in this comparison
    alike_min: float = 0.7  # the least correlation of both levels at the lag
    alike_more: float = 0.05  # how much more alike another lag must be to replace the known one


class _Likeness(NamedTuple):
    """Sums for computing how strongly the heard level correlates with the level that was played 0, 1, 2 … frames
    earlier."""

    weight: float = 0.0
    frames: int = 0
    heard: float = 0.0
    heard_squared: float = 0.0
    played: tuple[float, ...] = ()
    played_squared: tuple[float, ...] = ()
    products: tuple[float, ...] = ()

    def after(self, heard_db: float, played_db: tuple[float, ...], keep: float) -> _Likeness:
        """A copy of the sums that includes one more frame. The weights of the earlier frames are multiplied by
        `keep`."""
        none = (0.0,) * len(played_db)
        return _Likeness(
            self.weight * keep + 1,
            self.frames + 1,
            self.heard * keep + heard_db,
            self.heard_squared * keep + heard_db * heard_db,
            tuple([a * keep + x for a, x in zip(self.played or none, played_db, strict=True)]),
            tuple([a * keep + x * x for a, x in zip(self.played_squared or none, played_db, strict=True)]),
            tuple([a * keep + x * heard_db for a, x in zip(self.products or none, played_db, strict=True)]),
        )

    def at(self, lag: int) -> float:
        """The correlation at this lag, from -1 to 1; 0 if one of the levels is nearly constant."""
        heard, played, weight = self.heard, self.played[lag], self.weight
        spread = self.heard_squared - heard * heard / weight
        spread_played = self.played_squared[lag] - played * played / weight
        if spread <= weight or spread_played <= weight:  # less than 1 dB of standard deviation
            return 0.0
        return (self.products[lag] - heard * played / weight) / math.sqrt(spread * spread_played)


class EchoLevel(NamedTuple):
    """What is known so far about the echo of a loudspeaker in a microphone. The method `after` returns a new value that
    includes the next frame."""

    frame_ms: int
    settings: EchoGateSettings = EchoGateSettings()
    excess_db: float = NOTHING_PLAYED
    """By how many dB the last frame exceeded the expected echo; infinite while nothing is played."""
    lag: int = UNKNOWN
    """How many frames after the playback its echo comes."""
    coupling_db: float = 0.0
    """The level of the echo relative to the playback: learned, or the setting until enough is learned."""
    peak_db: float = -math.inf  # the peak level of the playback whose echo is heard now
    recent: tuple[float, ...] = ()  # levels of the playback within reach, the newest first
    older_heard_db: tuple[float, ...] = ()  # what was heard in frames in which an echo was possible, ...
    older_played_db: tuple[float, ...] = ()  # ... and what was played in them
    newer: tuple[tuple[float, float], ...] = ()
    """Both levels in the newest of these frames. They are separate and few, because each frame copies them."""
    likeness: _Likeness = _Likeness()
    looked_at: int = -_EVERY  # when the history was last looked at, in frames

    def after(self, heard_db: float, played_db: float) -> EchoLevel:
        """What is known about the echo after this frame."""
        rule = self.settings
        reach = rule.reach_ms // self.frame_ms
        recent = (max(played_db, rule.floor_db), *self.recent)[: reach + 1]
        loudest_db = max(recent)
        if loudest_db <= rule.playing_db:
            if recent == self.recent and self.excess_db == NOTHING_PLAYED:
                return self  # nothing has been played for long
            return self._replace(excess_db=NOTHING_PLAYED, recent=recent, peak_db=-math.inf)
        heard_db = max(heard_db, rule.floor_db)
        padded = recent + (rule.floor_db,) * (reach + 1 - len(recent))
        peak_db = self._follow(recent, self.peak_db)
        likeness = self.likeness.after(heard_db, padded, 1 - self.frame_ms / rule.lag_memory_ms)
        heard, played, newer = self.older_heard_db, self.older_played_db, (*self.newer, (heard_db, recent[0]))
        if len(newer) >= _EVERY:
            heard, played, newer = self._kept(heard, newer, 0), self._kept(played, newer, 1), ()
        lag, looked_at = self.lag, self.looked_at
        coupling_db = self.coupling_db if self.likeness.frames else rule.coupling_db
        if heard_db > rule.floor_db + rule.margin_db and likeness.frames >= looked_at + _EVERY:
            lag, looked_at = self._find_lag(likeness), likeness.frames
            levels_db = self._kept(heard, newer, 0), self._kept(played, newer, 1)
            coupling_db = self._find_coupling(_Echoes.after(rule, self.frame_ms, *levels_db), lag, coupling_db)
        if lag != UNKNOWN:
            echo_db = peak_db + coupling_db
        else:
            echo_db = loudest_db + coupling_db + rule.margin_wide_db - rule.margin_db
        excess_db = heard_db - max(rule.floor_db, echo_db)
        # All fields are passed, because `_replace` is slow.
        return EchoLevel(
            self.frame_ms, rule, excess_db, lag, coupling_db, peak_db, recent, heard, played, newer, likeness, looked_at
        )

    @property
    def heard_db(self) -> tuple[float, ...]:
        """What was heard in the frames in which an echo was possible."""
        return self._kept(self.older_heard_db, self.newer, 0)

    @property
    def played_db(self) -> tuple[float, ...]:
        """What was played in these frames."""
        return self._kept(self.older_played_db, self.newer, 1)

    def _kept(self, older: tuple[float, ...], newer: tuple[tuple[float, float], ...], side: int) -> tuple[float, ...]:
        """The levels of one side in as many frames as are needed."""
        return (*older, *[levels_db[side] for levels_db in newer])[-(self.settings.learn_ms_max // self.frame_ms) :]

    def _follow(self, recent: tuple[float, ...], before_db: float) -> float:
        """The peak level of the playback whose echo can be heard now. After a loud sound, this level falls as slowly as
        sound fades in a room."""
        early, spread = self.settings.early_ms // self.frame_ms, self.settings.spread_ms // self.frame_ms
        near = recent[max(0, self.lag - early) : self.lag + spread + 1] if self.lag != UNKNOWN else recent[:1]
        return max(max(near, default=-math.inf), before_db - self.settings.decay_db_s * self.frame_ms / 1000)

    # -- Learning

    def _find_coupling(self, echoes: _Echoes, lag: int, coupling_db: float) -> float:
        """The coupling at this lag. If the lag isn't known yet, the highest coupling that is possible at any lag is
        used. If too little is known, the coupling stays as it is."""
        lag_max = self.settings.reach_ms // self.frame_ms
        if lag == UNKNOWN:
            # Nothing is learned while the echo of the first word may still be on its way.
            return echoes.highest(lag_max) if self._is_enough(echoes.count(lag_max)) else coupling_db
        return echoes.coupling_at(lag) if self._is_enough(echoes.count(lag)) else coupling_db

    def _is_enough(self, frames: int) -> bool:
        """Is this number of frames with loud playback large enough to learn the coupling?"""
        return frames * self.frame_ms >= self.settings.learn_ms_min

    def _find_lag(self, likeness: _Likeness) -> int:
        rule = self.settings
        if likeness.frames * self.frame_ms < rule.lag_ms_min:
            return self.lag
        alike = [likeness.at(lag) for lag in range(len(likeness.played))]
        best = max(range(len(alike)), key=alike.__getitem__)
        least = rule.alike_min if self.lag == UNKNOWN else max(rule.alike_min, alike[self.lag] + rule.alike_more)
        return best if alike[best] >= least else self.lag


class _Echoes(NamedTuple):
    """The levels that were heard after each loud frame of the playback. A frame is loud if its echo should stand out
    from the echo of earlier frames. The echo may come one frame earlier or later than expected, so each level here is
    the highest of three neighbouring frames."""

    heard_db: NDArray[np.float64]
    places: NDArray[np.intp]  # the indexes of the loud frames of the playback, in order
    played_db: NDArray[np.float64]  # the levels of these frames
    quieter: float  # the share of loud frames whose echo is quieter than the coupling says

    @classmethod
    def after(
        cls, rule: EchoGateSettings, frame_ms: int, heard_db: tuple[float, ...], played_db: tuple[float, ...]
    ) -> _Echoes:
        """Collect the echoes from these frames. `heard_db` and `played_db` are the levels of the microphone and of the
        playback in each frame, the oldest first."""
        levels, played = np.array(heard_db), np.array(played_db)
        decayed_db = _decay(played.size, rule.decay_db_s * frame_ms / 1000)
        peaks = np.maximum.accumulate(played + decayed_db) - decayed_db
        is_loud = (played > rule.playing_db) & (played > peaks - rule.loud_db)
        places = is_loud[:-1].nonzero()[0]
        return cls(_peaks(levels), places, _peaks(played)[places], 1 - rule.loud_share)

    def count(self, lag: int) -> int:
        """The number of loud frames whose echo at this lag has been heard."""
        return int(self.places.searchsorted(self.heard_db.size - lag))

    def coupling_at(self, lag: int) -> float:
        """How loud the echo is compared with the playback (the coupling), if it comes at this lag."""
        return self._highest(np.array([lag]))

    def highest(self, lag_max: int) -> float:
        """The highest coupling at any lag up to `lag_max`."""
        return self._highest(np.arange(lag_max + 1))

    def _highest(self, lags: NDArray[np.intp]) -> float:
        """Compute the coupling for each of these lags, and return the highest one. Echoes that haven't been heard yet
        are treated as infinitely loud, so that sorting puts them at the end, where they aren't used."""
        heard_db = np.concatenate((self.heard_db, np.full(lags[-1], math.inf)))
        found = heard_db.take(lags[:, None] + self.places)
        found -= self.played_db
        counts = self.places.searchsorted(self.heard_db.size - lags)
        ranks = (counts * self.quieter).astype(np.intp)
        found.sort(axis=1)
        return float(found[np.arange(lags.size), ranks].max())


@cache
def _decay(frames: int, decay_db: float) -> NDArray[np.float64]:
    """How far a level has decayed after 0, 1, 2 … frames."""
    return np.arange(frames, dtype=np.float64) * np.float64(decay_db)


def _peaks(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each frame except the last: the highest level among this frame and the frames before and after it."""
    highest = np.maximum(levels[:-1], levels[1:])
    np.maximum(highest[1:], levels[:-2], out=highest[1:])
    return highest


class EchoGate:
    """Distinguishes the echo of one loudspeaker in one microphone from other sounds. Every frame must be passed exactly
    one time, in order."""

    def __init__(self, frame_ms: int, settings: EchoGateSettings | None = None) -> None:
        assert frame_ms > 0, frame_ms
        self.settings = settings or EchoGateSettings()
        self.level = EchoLevel(frame_ms, self.settings, coupling_db=self.settings.coupling_db)
        self._is_still = False  # nothing has been played for so long that silent playback changes nothing

    @property
    def coupling_db(self) -> float:
        """How loud the echo is compared with the playback, in dB. Until enough is learned, this is the value from the
        settings."""
        return self.level.coupling_db

    def excess_db(self, heard_db: float, played_db: float) -> float:
        """By how many dB this frame is louder than the expected echo; infinity while nothing is played. The gate also
        learns from this frame."""
        is_silent = played_db <= self.settings.floor_db
        if is_silent and self._is_still:
            return NOTHING_PLAYED
        before, self.level = self.level, self.level.after(heard_db, played_db)
        self._is_still = is_silent and self.level is before
        return self.level.excess_db

    def passes(self, heard_db: float, played_db: float) -> bool:
        """Is this frame too loud to be an echo of the agent's voice? The gate also learns from this frame."""
        return self.excess_db(heard_db, played_db) > self.settings.margin_db
