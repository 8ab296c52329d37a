"""Encodes the agent's sound as binary frames for one client's socket, in PCM or Opus.

The Opus encoder adds a delay and makes packets of 20 ms, but chunks can have any length. So the last samples of a chunk
(at most 22.5 ms) are in the packets of a later frame. A new stream of packets begins with the first chunk of a voice
(one utterance of the agent), and with any chunk that doesn't directly follow the chunk before.

A frame of Opus has two numbers of samples. The number in `HEADER` is how many decoded samples the client must skip at
the start of a new stream, because of the encoder's delay; it is 0 in a frame that doesn't begin a stream. The number in
`SAMPLES` is how many samples the frame's chunk has. Rule: a client that decodes a stream, skips the samples at its
start, and divides the rest into pieces of these lengths gets exactly the chunks.
"""

from __future__ import annotations

import struct
from typing import Protocol

from duologue.lines.opus import OpusEncoder
from duologue.lines.playback.state import OUTPUT_HZ

from .sound_formats import OPUS

HEADER = struct.Struct("<BBHII")  # kind, format, samples to skip, voice or cue, chunk
SAMPLES = struct.Struct("<I")  # of the chunk, before the packets
SIZE = struct.Struct("<H")  # of each packet
VOICE = 1  # kinds
CUE = 2
AMBIENT = 3
AS_PCM = 0  # formats
AS_OPUS = 1
AS_NEW_OPUS = 2  # of a stream that begins with this frame
BITS_PER_S = 32_000


class VoiceFrames(Protocol):
    """Makes the frames for one client. It must be called in the order in which the frames are sent."""

    is_late: bool  # do the last samples of a chunk come with later frames?

    def chunk(self, voice: int, chunk: int, pcm: bytes) -> bytes:
        """The frame for a chunk of sound of one utterance of the agent."""
        ...

    def rest(self, voice: int) -> bytes | None:
        """One more frame, which the client needs to play the last samples of this utterance of the agent; None if no
        samples are left."""
        ...

    def cue(self, cue: int, pcm: bytes) -> bytes:
        """The frame for the sound of a cue (a short signal)."""
        ...


class PcmFrames:
    """Frames of 16-bit PCM."""

    is_late = False

    def chunk(self, voice: int, chunk: int, pcm: bytes) -> bytes:
        return HEADER.pack(VOICE, AS_PCM, 0, voice, chunk) + pcm

    def rest(self, voice: int) -> bytes | None:  # noqa: ARG002 - a chunk has all its samples
        return None

    def cue(self, cue: int, pcm: bytes) -> bytes:
        return HEADER.pack(CUE, AS_PCM, 0, cue, 0) + pcm


class PacketStream:
    """Encodes sound in pieces of any length as one stream of packets."""

    def __init__(self) -> None:
        self._encoder = OpusEncoder(OUTPUT_HZ, BITS_PER_S, is_low_delay=True)
        self._piece = self._encoder.samples * 2  # bytes of a packet's sound
        self.skip = self._encoder.lookahead  # decoded samples before the first one of the sound
        self._pcm = b""  # what wasn't encoded yet: shorter than a packet

    def begin(self) -> None:
        """Drop the stream so far, and begin a new one."""
        self._encoder.reset()
        self._pcm = b""

    def add(self, pcm: bytes) -> list[bytes]:
        """Encode this sound, together with the samples that were left over before. Returns the complete packets."""
        pcm = self._pcm + pcm
        whole = len(pcm) // self._piece * self._piece
        self._pcm = pcm[whole:]
        return [self._encoder.encode(pcm[at : at + self._piece]) for at in range(0, whole, self._piece)]

    def end(self) -> list[bytes]:
        """End the stream. Returns the last packets, which the client needs to decode all samples."""
        missing = len(self._pcm) + self.skip * 2
        packets = self.add(bytes(-(-missing // self._piece) * self._piece - len(self._pcm)))
        self.begin()
        return packets


class OpusFrames:
    """Frames of Opus: a header, the number of samples, and packets with their sizes."""

    is_late = True

    def __init__(self) -> None:
        self._stream: PacketStream | None = None  # created for the first sound
        self._voice = 0  # of the stream, or 0 if it has ended
        self._chunk = 0

    def chunk(self, voice: int, chunk: int, pcm: bytes) -> bytes:
        stream = self._stream = self._stream or PacketStream()
        is_new = voice != self._voice or chunk != self._chunk + 1
        if is_new:
            stream.begin()
        self._voice, self._chunk = voice, chunk
        return _frame(VOICE, stream.skip if is_new else None, voice, chunk, len(pcm) // 2, stream.add(pcm))

    def rest(self, voice: int) -> bytes | None:
        if self._stream is None or voice != self._voice:
            return None
        self._voice = 0
        return _frame(VOICE, None, voice, self._chunk, 0, self._stream.end())

    def cue(self, cue: int, pcm: bytes) -> bytes:
        stream = PacketStream()  # of its own: a cue may come in the middle of a voice
        return _frame(CUE, stream.skip, cue, 0, len(pcm) // 2, [*stream.add(pcm), *stream.end()])


def voice_frames(form: str) -> VoiceFrames:
    """Make the encoder for frames of the format that was agreed in hello."""
    return OpusFrames() if form == OPUS else PcmFrames()


def _frame(kind: int, skip: int | None, number: int, chunk: int, samples: int, packets: list[bytes]) -> bytes:
    """A frame of Opus. If a stream begins with this frame, `skip` is the number of decoded samples that the client must
    skip; otherwise None."""
    form = AS_OPUS if skip is None else AS_NEW_OPUS
    parts = [HEADER.pack(kind, form, skip or 0, number, chunk), SAMPLES.pack(samples)]
    for packet in packets:
        parts += (SIZE.pack(len(packet)), packet)
    return b"".join(parts)
