"""The codecs of the telephone network: µ-law and A-law, eight bits a sample (ITU-T G.711).

The results are bit for bit the same as those of the module audioop, which Python had up to version 3.12. Rule: every
function takes and returns bytes; PCM is 16-bit.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .frames import UnusableAudio

_PCM16 = np.dtype("<i2")
_ULAW_BIAS = 0x84 >> 2
_ULAW_CLIP = 8_159
_ULAW_ENDS = np.array([0x3F, 0x7F, 0xFF, 0x1FF, 0x3FF, 0x7FF, 0xFFF, 0x1FFF])  # where each segment ends, in 14 bits
_ALAW_ENDS = np.array([0x1F, 0x3F, 0x7F, 0xFF, 0x1FF, 0x3FF, 0x7FF, 0xFFF])  # the same in 13 bits


def pcm_to_ulaw(pcm: bytes) -> bytes:
    return _encode(pcm, _ulaw_codes())


def ulaw_to_pcm(coded: bytes) -> bytes:
    return _ulaw_values()[np.frombuffer(coded, np.uint8)].tobytes()


def pcm_to_alaw(pcm: bytes) -> bytes:
    return _encode(pcm, _alaw_codes())


def alaw_to_pcm(coded: bytes) -> bytes:
    return _alaw_values()[np.frombuffer(coded, np.uint8)].tobytes()


def _encode(pcm: bytes, codes: NDArray[np.uint8]) -> bytes:
    if len(pcm) % 2:
        raise UnusableAudio(f"16-bit PCM needs an even number of bytes, not {len(pcm)}")
    bits: NDArray[np.uint16] = np.frombuffer(pcm, "<u2")
    return codes[bits].tobytes()


# -- Tables: a code for each of the 65,536 samples, a sample for each of the 256 codes


def _all_samples() -> NDArray[np.int64]:
    """Every 16-bit sample, ordered by its bit pattern as an unsigned number."""
    return np.arange(1 << 16, dtype=np.uint16).view(np.int16).astype(np.int64)


@cache
def _ulaw_codes() -> NDArray[np.uint8]:
    value = _all_samples() >> 2
    mask = np.where(value < 0, 0x7F, 0xFF)
    size = np.minimum(np.abs(value), _ULAW_CLIP) + _ULAW_BIAS
    segment = np.searchsorted(_ULAW_ENDS, size)
    code = np.where(segment >= 8, 0x7F, segment << 4 | (size >> (segment + 1)) & 0xF)
    return (code ^ mask).astype(np.uint8)


@cache
def _alaw_codes() -> NDArray[np.uint8]:
    value = _all_samples() >> 3
    mask = np.where(value < 0, 0x55, 0xD5)
    size = np.where(value < 0, -value - 1, value)
    segment = np.searchsorted(_ALAW_ENDS, size)
    code = segment << 4 | (size >> np.maximum(segment, 1)) & 0xF
    return (code ^ mask).astype(np.uint8)


@cache
def _ulaw_values() -> NDArray[np.int16]:
    code = ~np.arange(256) & 0xFF
    size = ((((code & 0xF) << 3) + 0x84) << ((code & 0x70) >> 4)) - 0x84
    return np.where(code & 0x80, -size, size).astype(_PCM16)


@cache
def _alaw_values() -> NDArray[np.int16]:
    code: NDArray[np.int64] = np.arange(256) ^ 0x55
    segment = (code & 0x70) >> 4
    size = ((code & 0xF) << 4) + np.where(segment == 0, 8, 0x108)
    size = size << np.maximum(segment - 1, 0)
    values: NDArray[np.int64] = np.where(code & 0x80, size, -size)
    return values.astype(_PCM16)
