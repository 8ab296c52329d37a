"""Decides whether a frame is too loud to be an echo of the agent's voice.

The gate compares the level of the microphone with the level of the playback, both in dB. From the agent's first words
on, it learns two numbers. The lag is how long after the playback the echo arrives; at this lag, both levels rise and
fall together. The coupling is how loud the echo is compared with the playback. From these two numbers, the gate
computes how loud the echo can be now. As long as the lag is unknown, the gate assumes an echo of the loudest recent
playback. Every loud sound is followed by its echo, and a person who talks at the same time only makes the frame louder.
So the coupling is learned from the quieter frames. Rule: the playback must not be reported later than it is heard.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from itertools import compress
from typing import NamedTuple

NOTHING_PLAYED = math.inf
UNKNOWN = -1  # the lag, as long as it isn't known
_EVERY = 4  # frames between two looks at the history


@dataclass(frozen=True, slots=True)
class EchoGateSettings:
    """Settings of an EchoGate. The gate assumes that an echo fades more slowly than in a typical living room, so that
    the echo of a word's end isn't underestimated."""

    margin_db: float = 10.0  # a frame must be this much louder than the expected echo
    margin_wide_db: float = 12.0  # instead, while the lag is unknown
    decay_db_s: float = 62.5  # how fast the peak of the playback decays
    spread_ms: int = 32  # an echo may arrive this much after the lag at full level, ...
    early_ms: int = 64  # ... and this much before it, because the playback isn't known exactly when it begins
    reach_ms: int = 704  # the longest lag: 400 ms in the network, a room, and how early a line reports its sound
    playing_db: float = -60.0  # quieter playback causes no echo
    floor_db: float = -66.0  # quieter sound counts as this loud; below it, a telephone's codec has hardly any levels
    coupling_db: float = -4.0  # echo level until it is learned; high, so that the agent's first word isn't a barge-in
    loud_db: float = 6.0  # the coupling is learned from playback at most this much below its peak, not from pauses
    loud_share: float = 0.9  # the coupling is a level that the echo of this share of such playback reaches
    learn_ms_min: int = 256
    learn_ms_max: int = 6_400
    lag_ms_min: int = 512  # how much playback is compared before a lag is believed
    lag_memory_ms: int = 3_000  # how soon earlier playback loses weight in this comparison
    alike_min: float = 0.7  # the least correlation of both levels at the lag
    alike_more: float = 0.05  # how much more alike another lag must be to replace the known one


class _FrameLevels(NamedTuple):
    """The levels of one frame: what the microphone heard, and what was played."""

    heard_db: float
    played_db: float


@dataclass(frozen=True, slots=True)
class _Likeness:
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


@dataclass(frozen=True, slots=True)
class EchoLevel:
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
    peak_db: float = -math.inf  # of the playback whose echo is heard now
    recent: tuple[float, ...] = ()  # levels of the playback within reach, the newest first
    history: tuple[_FrameLevels, ...] = ()  # frames in which an echo was possible
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
            return replace(self, excess_db=NOTHING_PLAYED, recent=recent, peak_db=-math.inf)
        heard_db = max(heard_db, rule.floor_db)
        padded = recent + (rule.floor_db,) * (reach + 1 - len(recent))
        now = replace(
            self,
            coupling_db=self.coupling_db if self.history else rule.coupling_db,
            peak_db=self._follow(recent, self.peak_db),
            recent=recent,
            history=(*self.history, _FrameLevels(heard_db, recent[0]))[-(rule.learn_ms_max // self.frame_ms) :],
            likeness=self.likeness.after(heard_db, padded, 1 - self.frame_ms / rule.lag_memory_ms),
        )
        if heard_db > rule.floor_db + rule.margin_db and now.likeness.frames >= self.looked_at + _EVERY:
            now = now._learn()
        if now.lag != UNKNOWN:
            echo_db = now.peak_db + now.coupling_db
        else:
            echo_db = loudest_db + now.coupling_db + rule.margin_wide_db - rule.margin_db
        return replace(now, excess_db=heard_db - max(rule.floor_db, echo_db))

    def _follow(self, recent: tuple[float, ...], before_db: float) -> float:
        """The peak level of the playback whose echo can be heard now. After a loud sound, this level falls as slowly as
        sound fades in a room."""
        early, spread = self.settings.early_ms // self.frame_ms, self.settings.spread_ms // self.frame_ms
        near = recent[max(0, self.lag - early) : self.lag + spread + 1] if self.lag != UNKNOWN else recent[:1]
        return max(max(near, default=-math.inf), before_db - self.settings.decay_db_s * self.frame_ms / 1000)

    # -- Learning

    def _learn(self) -> EchoLevel:
        """Learn the lag, then the coupling at this lag. If the lag isn't known yet, the highest coupling that is
        possible at any lag is used."""
        now = replace(self, lag=self._find_lag(), looked_at=self.likeness.frames)
        echoes = self._echoes()
        lag_max = self.settings.reach_ms // self.frame_ms
        if now.lag == UNKNOWN:
            # If the echo of the first word may still come, nothing is learned.
            coupling_db = echoes.highest(lag_max) if self._is_enough(echoes.count(lag_max)) else None
        else:
            coupling_db = echoes.coupling_at(now.lag) if self._is_enough(echoes.count(now.lag)) else None
        return now if coupling_db is None else replace(now, coupling_db=coupling_db)

    def _is_enough(self, frames: int) -> bool:
        """Are these enough frames with loud playback to learn the coupling from?"""
        return frames * self.frame_ms >= self.settings.learn_ms_min

    def _find_lag(self) -> int:
        rule, likeness = self.settings, self.likeness
        if likeness.frames * self.frame_ms < rule.lag_ms_min:
            return self.lag
        alike = [likeness.at(lag) for lag in range(len(likeness.played))]
        best = max(range(len(alike)), key=alike.__getitem__)
        least = rule.alike_min if self.lag == UNKNOWN else max(rule.alike_min, alike[self.lag] + rule.alike_more)
        return best if alike[best] >= least else self.lag

    def _echoes(self) -> _Echoes:
        """The positions in the history at which the playback was so loud that its echo must be audible."""
        rule, peak_db, loud = self.settings, -math.inf, list[bool]()
        decay_db, quieter = rule.decay_db_s * self.frame_ms / 1000, 1 - rule.loud_share
        for _, played_db in self.history:
            peak_db = max(played_db, peak_db - decay_db)
            loud.append(played_db > rule.playing_db and played_db > peak_db - rule.loud_db)
        heard, played = ([*levels] for levels in zip(*self.history, strict=True))
        heard, played = _peaks(heard), _peaks(played)
        places = [*compress(range(len(played)), loud)]
        return _Echoes(heard, places, sorted([(played[place], place) for place in places], reverse=True), quieter)


class _Echoes(NamedTuple):
    """What was heard after each loud frame of the playback. The echo of a frame may come one frame earlier or later, so
    levels are the highest of three frames."""

    heard_db: list[float]
    places: list[int]  # of the loud frames of the playback, in order
    loud: list[tuple[float, int]]  # the level of each of these frames and its position, the loudest first
    quieter: float  # the share of loud frames whose echo is quieter than the coupling says

    def count(self, lag: int) -> int:
        """The number of loud frames whose echo at this lag has been heard."""
        return bisect_left(self.places, len(self.heard_db) - lag)

    def coupling_at(self, lag: int) -> float:
        """The coupling, if the echo comes at this lag."""
        heard_db, end = self.heard_db, len(self.heard_db) - lag
        found = sorted([heard_db[place + lag] - played_db for played_db, place in self.loud if place < end])
        return found[int(len(found) * self.quieter)]

    def highest(self, lag_max: int) -> float:
        """The highest coupling at any lag up to this one."""
        highest_db = self.coupling_at(lag_max)
        for lag in range(lag_max - 1, -1, -1):
            if self._exceeds(highest_db, lag):
                highest_db = self.coupling_at(lag)
        return highest_db

    def _exceeds(self, coupling_db: float, lag: int) -> bool:
        """Is the coupling at this lag higher than `coupling_db`? Usually the answer is no, and it is found after few
        frames, because the echoes of the loudest playback are checked first."""
        heard_db, end = self.heard_db, len(self.heard_db) - lag
        left = int(self.count(lag) * self.quieter)
        for played_db, place in self.loud:
            if place < end and heard_db[place + lag] - played_db <= coupling_db:
                if left == 0:
                    return False
                left -= 1
        return True


def _peaks(levels_db: list[float]) -> list[float]:
    """For each frame but the last: the highest level of it and its neighbours."""
    return [max(levels_db[:2]), *map(max, levels_db, levels_db[1:], levels_db[2:])]


class EchoGate:
    """Distinguishes the echo of one loudspeaker in one microphone from other sounds. Every frame must be passed exactly
    one time, in order."""

    def __init__(self, frame_ms: int, settings: EchoGateSettings | None = None) -> None:
        assert frame_ms > 0, frame_ms
        self.settings = settings or EchoGateSettings()
        self.level = EchoLevel(frame_ms, self.settings, coupling_db=self.settings.coupling_db)

    @property
    def coupling_db(self) -> float:
        """How loud the echo is compared with the playback, in dB. Until enough is learned, this is the value from the
        settings."""
        return self.level.coupling_db

    def excess_db(self, heard_db: float, played_db: float) -> float:
        """By how many dB this frame is louder than the expected echo; infinity while nothing is played. The gate also
        learns from this frame."""
        self.level = self.level.after(heard_db, played_db)
        return self.level.excess_db

    def passes(self, heard_db: float, played_db: float) -> bool:
        """Is this frame too loud to be an echo of the agent's voice? The gate also learns from this frame."""
        return self.excess_db(heard_db, played_db) > self.settings.margin_db
