"""The audio codecs of phone calls: PCMU, PCMA and L16.

Rule: a codec takes and returns bytes; PCM is 16-bit, little-endian and mono.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from duologue.audio.frames import UnusableAudio
from duologue.audio.g711 import alaw_to_pcm, pcm_to_alaw, pcm_to_ulaw, ulaw_to_pcm
from duologue.core.errors import DuologueError

from .carriers import Carrier

FRAME_MS = 20
_RATES_HZ = (8_000, 16_000, 24_000)


class UnknownCodec(DuologueError):
    """A codec or a sample rate that isn't supported."""


@dataclass(frozen=True, slots=True)
class Codec:
    """Converts between PCM and the bytes that a carrier sends and receives."""

    name: str
    rate_hz: int
    bytes_per_sample: int
    encode: Callable[[bytes], bytes]
    decode: Callable[[bytes], bytes]

    @property
    def frame_bytes(self) -> int:
        """The number of bytes in 20 ms of encoded sound."""
        return self.rate_hz * FRAME_MS // 1000 * self.bytes_per_sample

    @property
    def silence(self) -> bytes:
        """20 ms of silence, encoded."""
        return self.encode(bytes(self.rate_hz * FRAME_MS // 1000 * 2))


def codec_of(carrier: Carrier, encoding: str, rate_hz: int) -> Codec:
    """The codec for this encoding and rate. Raises UnknownCodec if they aren't supported."""
    if encoding in ("PCMU", "PCMA") and rate_hz == 8_000:
        both = (pcm_to_ulaw, ulaw_to_pcm) if encoding == "PCMU" else (pcm_to_alaw, alaw_to_pcm)
        return Codec(encoding, rate_hz, 1, *both)
    if encoding == "L16" and rate_hz in _RATES_HZ:
        swap = _swapped if carrier.l16_byte_order == "big" else _as_is
        return Codec(encoding, rate_hz, 2, swap, swap)
    raise UnknownCodec(f"{carrier.name} sends an unsupported codec or rate: configure PCMU at 8 kHz")


def _swapped(pcm: bytes) -> bytes:
    return np.frombuffer(_as_is(pcm), "<i2").byteswap().tobytes()


def _as_is(pcm: bytes) -> bytes:
    if len(pcm) % 2:
        raise UnusableAudio(f"16-bit audio must have an even number of bytes, not {len(pcm)}")
    return pcm
