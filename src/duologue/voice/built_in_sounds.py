"""The sounds that come with Duologue, made from damped tones: a sound for waiting, and a chime.

Each sound is computed when it is first used, at the sample rate that is asked for, with the standard library only.
Rule: a built-in sound starts and ends in silence, is quieter than speech, and uses only frequencies that a telephone
transmits.
"""

from __future__ import annotations

import math
from array import array
from functools import cache
from sys import byteorder
from typing import NamedTuple

from duologue.ports.sound import Sound

RATE_HZ = 24_000
_FULL_SCALE = 32_767
_ATTACK_MS = 14  # a tone that starts at once would click
_RELEASE_MS = 40


class _Tone(NamedTuple):
    """A tone that starts softly and then fades: its level falls by a factor of e in each `decay_ms`."""

    hz: float
    start_ms: int
    decay_ms: int
    peak: float  # from 0 to 1


_THINKING = (_Tone(392.0, 0, 85, 0.055), _Tone(329.6, 190, 110, 0.045))
_THINKING_MS = 640
_CONNECTED = (_Tone(523.3, 0, 120, 0.08), _Tone(784.0, 130, 160, 0.08))
_CONNECTED_MS = 620


@cache
def thinking_sound(rate_hz: int = RATE_HZ) -> Sound:
    """The sound that tells the user that the agent is thinking: two soft low tones."""
    return _made(_THINKING, _THINKING_MS, rate_hz)


@cache
def connected_sound(rate_hz: int = RATE_HZ) -> Sound:
    """The sound that tells the user that the agent is connected: a short rising chime."""
    return _made(_CONNECTED, _CONNECTED_MS, rate_hz)


def _made(tones: tuple[_Tone, ...], ms: int, rate_hz: int) -> Sound:
    samples = array("h", (_sample(tones, at * 1000 / rate_hz, ms) for at in range(rate_hz * ms // 1000)))
    if byteorder == "big":
        samples.byteswap()
    return Sound(ms, samples.tobytes(), rate_hz)


def _sample(tones: tuple[_Tone, ...], at_ms: float, total_ms: int) -> int:
    level = sum(_level(tone, at_ms - tone.start_ms) for tone in tones)
    fade = min(1.0, (total_ms - at_ms) / _RELEASE_MS)
    return round(level * fade * _FULL_SCALE)


def _level(tone: _Tone, at_ms: float) -> float:
    """The value of a tone's wave at this time, from -1 to 1. The wave contains a quieter second tone, one octave
    higher, because small loudspeakers reproduce high tones better."""
    if at_ms < 0:
        return 0.0
    attack = 0.5 - 0.5 * math.cos(math.pi * min(1.0, at_ms / _ATTACK_MS))
    turns = 2 * math.pi * tone.hz * at_ms / 1000
    wave = 0.85 * math.sin(turns) + 0.15 * math.sin(2 * turns)
    return tone.peak * attack * math.exp(-at_ms / tone.decay_ms) * wave
