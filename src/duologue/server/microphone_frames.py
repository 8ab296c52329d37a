"""Decodes the sound of a client's microphone that comes over the client's socket: each frame is PCM, or one packet of
Opus.

Rule: the duration of a frame is known before the frame is decoded. So refused sound is never decoded, and a frame never
yields more sound than was counted. A frame that doesn't have the agreed format raises BadMessage, and changes nothing.
"""

from __future__ import annotations

from typing import Protocol

from duologue.lines.opus import CLOCK_HZ, OpusDecoder, UndecodablePacket, clocks_of

from .client_messages import BadMessage
from .sound_formats import OPUS

FRAME_MS_MIN = 10  # a packet of Opus that was not agreed is shorter than that as PCM
FRAME_MS_MAX = 200
IS_PACKET = 1  # the first byte of a frame with a packet
PACKET_BYTES_MAX = 1_500


class MicrophoneFrames(Protocol):
    """Decodes the frames of one socket."""

    format: str

    def ms_of(self, frame: bytes) -> int:
        """The duration of the frame in milliseconds, rounded up. Raises BadMessage if the frame is invalid."""
        ...

    def pcm_of(self, frame: bytes) -> bytes:
        """The sound of the frame as PCM. Call `ms_of` first, which checks the frame."""
        ...


class PcmMicrophone:
    """Frames of 16-bit PCM."""

    format = "pcm"

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._bytes_min, self._bytes_max = (rate_hz * 2 * ms // 1000 for ms in (FRAME_MS_MIN, FRAME_MS_MAX))

    def ms_of(self, frame: bytes) -> int:
        if len(frame) % 2 or not self._bytes_min <= len(frame) <= self._bytes_max:
            raise BadMessage(
                f"a frame of audio must be 16-bit PCM of {FRAME_MS_MIN} to {FRAME_MS_MAX} ms, because "
                "Opus wasn't agreed in hello"
            )
        return -(-len(frame) * 500 // self._rate_hz)

    def pcm_of(self, frame: bytes) -> bytes:
        return frame


class OpusMicrophone:
    """Frames that consist of one byte and an Opus packet of at most 120 ms. The sample rate of the decoded sound may
    differ from the rate at which the client encoded it."""

    format = OPUS

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._decoder: OpusDecoder | None = None  # created for the first packet that is heard

    def ms_of(self, frame: bytes) -> int:
        clocks = 0
        if len(frame) > 1 and frame[0] == IS_PACKET and len(frame) <= 1 + PACKET_BYTES_MAX:
            clocks = clocks_of(frame[1:])
        if not clocks:
            raise BadMessage(
                f"a frame of audio must be the byte {IS_PACKET}, then an Opus packet of at most {PACKET_BYTES_MAX} "
                "bytes, as agreed in hello"
            )
        return -(-clocks * 1000 // CLOCK_HZ)

    def pcm_of(self, frame: bytes) -> bytes:
        packet = frame[1:]
        decoder = self._decoder = self._decoder or OpusDecoder(self._rate_hz)
        try:
            return decoder.decode_exactly(packet, decoder.samples_of(packet))
        except UndecodablePacket as why:
            raise BadMessage(f"{why}: the packet is left out") from None


def microphone_frames(form: str, rate_hz: int) -> MicrophoneFrames:
    """Make the decoder for frames of the format that was agreed in hello."""
    return OpusMicrophone(rate_hz) if form == OPUS else PcmMicrophone(rate_hz)
