"""Makes and recognises the tones of telephone keys (DTMF).

Sound is 16-bit mono PCM. Each key is two tones at the same time, one from a low group and one from a high group. Rule:
a key is recognised only if almost all of the sound is one tone of each group, so that speech isn't taken for a key.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from duologue.audio.frames import Samples, to_pcm, to_samples
from duologue.core.errors import DuologueError

LOW_HZ = (697, 770, 852, 941)
HIGH_HZ = (1209, 1336, 1477, 1633)
_KEYS = ("123A", "456B", "789C", "*0#D")
TONE_MS = 100
GAP_MS = 80
PAUSE_MS = 500  # of `w`; `W` is twice as long
DIGITS_MAX = 32
_LEVEL = 0.3  # of each of the two tones
_SHARE_MIN = 0.7  # of a frame's energy that must be in its two tones
_ENERGY_MIN = 1e-4


class UnknownKeys(DuologueError, ValueError):
    """A text that can't be sent as keys. The message says why."""


def check_keys(digits: str) -> None:
    """Raises UnknownKeys if these keys can't be sent."""
    if not digits or any(key not in "0123456789*#ABCDwW" for key in digits):
        raise UnknownKeys("keys must be 0 to 9, *, #, A to D, or w for a pause of half a second")
    if len(digits) > DIGITS_MAX:
        raise UnknownKeys(f"at most {DIGITS_MAX} keys can be sent at a time, not {len(digits)}")


def tones_of(digits: str, rate_hz: int) -> bytes:
    """The tones of these keys as sound, with a short silence after each key."""
    check_keys(digits)
    return b"".join(_tone_of(key, rate_hz) for key in digits)


@cache
def _tone_of(key: str, rate_hz: int) -> bytes:
    if key in "wW":
        return bytes(2 * rate_hz * (PAUSE_MS if key == "w" else 2 * PAUSE_MS) // 1000)
    row = next(number for number, keys in enumerate(_KEYS) if key in keys)
    at = np.arange(rate_hz * TONE_MS // 1000) / rate_hz
    both = np.sin(2 * np.pi * LOW_HZ[row] * at) + np.sin(2 * np.pi * HIGH_HZ[_KEYS[row].index(key)] * at)
    return to_pcm((_LEVEL * both).astype(np.float32)) + bytes(2 * rate_hz * GAP_MS // 1000)


@cache
def _waves(samples: int, rate_hz: int) -> npt.NDArray[np.complex128]:
    at = np.arange(samples) / rate_hz
    waves: npt.NDArray[np.complex128] = np.exp(-2j * np.pi * np.outer(LOW_HZ + HIGH_HZ, at))
    return waves


class KeyDetector:
    """Recognises keys in the sound of a call, frame by frame. Each press of a key is reported only once, however long
    its tone lasts."""

    def __init__(self, rate_hz: int = 8_000) -> None:
        self._rate_hz = rate_hz
        self._newest = ""  # the key in the newest frame
        self._told = ""  # the key that was reported and still sounds

    def hear(self, pcm: bytes) -> str:
        """The key that is pressed, or an empty text. A key is reported when its tones are in two frames in a row, and
        only once for each press."""
        key = self._key_in(to_samples(pcm))
        found = key if key and key == self._newest and key != self._told else ""
        self._told = found or (self._told if key and key == self._told else "")
        self._newest = key
        return found

    def _key_in(self, samples: Samples) -> str:
        energy = float(np.mean(samples.astype(np.float64) ** 2)) if samples.size else 0.0
        if energy < _ENERGY_MIN:
            return ""
        strength = 2 * np.abs(_waves(samples.size, self._rate_hz) @ samples / samples.size) ** 2
        low, high = int(np.argmax(strength[:4])), int(np.argmax(strength[4:]))
        pair = float(strength[low]), float(strength[4 + high])
        if sum(pair) < _SHARE_MIN * energy or min(pair) * 8 < max(pair):
            return ""
        return _KEYS[low][high]
