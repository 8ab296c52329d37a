"""The client's side of Opus frames, for tests: what a page decodes, with libopus, and packets of a microphone."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from duologue.lines.opus import OpusDecoder, OpusEncoder
from duologue.server.voice_frames import AS_NEW_OPUS, AS_PCM, HEADER, SAMPLES, SIZE


class OpusFrame(NamedTuple):
    """A frame of the server, taken apart."""

    kind: int
    is_new: bool  # a stream begins
    skip: int
    number: int
    chunk: int
    samples: int
    packets: tuple[bytes, ...]


def parse(frame: bytes) -> OpusFrame:
    kind, form, skip, number, chunk = HEADER.unpack_from(frame)
    assert form != AS_PCM
    (samples,) = SAMPLES.unpack_from(frame, HEADER.size)
    packets, at = [], HEADER.size + SAMPLES.size
    while at < len(frame):
        (size,) = SIZE.unpack_from(frame, at)
        at += SIZE.size + size
        packets.append(frame[at - size : at])
    assert at == len(frame)
    return OpusFrame(kind, form == AS_NEW_OPUS, skip, number, chunk, samples, tuple(packets))


class VoiceReader:
    """Decodes the frames of one voice, as a page does."""

    def __init__(self) -> None:
        self.pcm = b""  # decoded samples of the newest stream, without those to skip
        self.samples = 0  # of its chunks
        self._decoder = OpusDecoder(24_000)
        self._skip = 0

    def read(self, frame: bytes) -> OpusFrame:
        parsed = parse(frame)
        if parsed.is_new:
            self._decoder = OpusDecoder(24_000)
            self.pcm, self.samples, self._skip = b"", 0, parsed.skip
        self.samples += parsed.samples
        for packet in parsed.packets:
            sound = self._decoder.decode_exactly(packet, 480)
            self.pcm += sound[self._skip * 2 :]
            self._skip = 0
        return parsed

    @property
    def late(self) -> int:
        """Samples that were announced, and can't be decoded yet."""
        return self.samples - len(self.pcm) // 2


def wave(samples: int, rate_hz: int = 24_000, hertz: float = 196.0) -> bytes:
    """A tone whose loudness changes like that of speech."""
    made = (
        9_000 * math.sin(2 * math.pi * hertz * n / rate_hz) * (0.6 + 0.4 * math.sin(n * 17 / rate_hz))
        for n in range(samples)
    )
    return struct.pack(f"<{samples}h", *map(int, made))


def microphone_packets(ms: int, rate_hz: int = 16_000) -> list[bytes]:
    """A tone as a microphone of this client sends it, in frames of 20 ms."""
    encoder = OpusEncoder(rate_hz, is_low_delay=True)
    step = encoder.samples * 2
    pcm = wave(rate_hz * ms // 1000, rate_hz)
    return [b"\x01" + encoder.encode(pcm[at : at + step]) for at in range(0, len(pcm), step)]
