"""Encodes and decodes Opus by calling libopus directly. This allows any sample rate of Opus, concealment of lost
packets, and error correction.

PyAV, which aiortc uses, encodes only at 48 kHz in stereo and can't conceal a lost packet. But PyAV's package contains
libopus, so nothing more needs to be installed. Rule: sound is 16-bit mono PCM, and the length of a packet's sound is
known before the packet is decoded.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from functools import cache
from pathlib import Path

from duologue.core.errors import DuologueError

CLOCK_HZ = 48_000  # of RTP timestamps, at every rate of the sound
PACKET_MS = 20
PACKET_MS_MAX = 120
PACKET_CLOCKS = CLOCK_HZ * PACKET_MS // 1000
SILENCE = b"\xf8\xff\xfe"  # a packet of 20 ms without sound
_PACKET_BYTES_MAX = 1_275
_VOIP = 2048
_RESTRICTED_LOWDELAY = 2051
_SET_BITRATE = 4002
_SET_COMPLEXITY = 4010
_SET_INBAND_FEC = 4012
_SET_PACKET_LOSS_PERC = 4014
_GET_LOOKAHEAD = 4027
_RESET_STATE = 4028


class NoOpus(DuologueError):
    """libopus can't be found. The message says what to install."""


class UndecodablePacket(DuologueError, ValueError):
    """A packet that isn't Opus, or whose content is damaged."""


@cache
def _libopus() -> ctypes.CDLL:
    library = ctypes.CDLL(libopus_path())
    pointer, whole, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    library.opus_encoder_create.argtypes = [ctypes.c_int32, whole, whole, ctypes.POINTER(whole)]
    library.opus_encoder_create.restype = pointer
    library.opus_encoder_ctl.argtypes = [pointer, whole]
    library.opus_encode.argtypes = [pointer, text, whole, text, ctypes.c_int32]
    library.opus_encoder_destroy.argtypes = [pointer]
    library.opus_decoder_create.argtypes = [ctypes.c_int32, whole, ctypes.POINTER(whole)]
    library.opus_decoder_create.restype = pointer
    library.opus_decode.argtypes = [pointer, text, ctypes.c_int32, text, whole, whole]
    library.opus_decoder_destroy.argtypes = [pointer]
    library.opus_packet_get_nb_samples.argtypes = [text, ctypes.c_int32, ctypes.c_int32]
    return library


def libopus_path() -> str:
    """The path of the libopus file. This is the copy in PyAV's package if there is one; otherwise it is the system's
    libopus. Raises NoOpus if both are missing."""
    found = importlib.util.find_spec("av")
    if found is not None and found.origin is not None:
        package = Path(found.origin).parent
        for folder in (package.parent / "av.libs", package / ".dylibs"):
            for file in sorted(folder.glob("*opus*")):
                return str(file)
    system = ctypes.util.find_library("opus")
    if system is None:
        raise NoOpus("Opus needs libopus: pip install 'duologue[webrtc]', or install your system's libopus")
    return system


def why_no_opus() -> str | None:
    """Why Opus can't be used here, and what to install. None if it can be used."""
    try:
        _libopus()
    except NoOpus as why:
        return str(why)
    except OSError:
        return "libopus can't be loaded: pip install --force-reinstall av, or install your system's libopus"
    return None


def clocks_of(packet: bytes) -> int:
    """The length of a packet's sound in RTP clocks (48 per millisecond); 0 if the packet isn't Opus."""
    samples = _libopus().opus_packet_get_nb_samples(packet, len(packet), CLOCK_HZ) if packet else 0
    return int(samples) if 0 < samples <= CLOCK_HZ * PACKET_MS_MAX // 1000 else 0


class OpusEncoder:
    """Encodes pieces of 20 ms. With `is_low_delay`, encoding takes half as much CPU, the first packet has no
    distortion, and the sound is delayed by 2.5 ms instead of 6.5 ms. Without `is_low_delay`, speech sounds better below
    20 kbit/s, and a packet can contain a copy of the previous packet."""

    def __init__(
        self, rate_hz: int = 24_000, bits_per_s: int = 32_000, complexity: int = 1, is_low_delay: bool = False
    ) -> None:
        self._library = _libopus()
        problem = ctypes.c_int(0)
        application = _RESTRICTED_LOWDELAY if is_low_delay else _VOIP
        self._state = self._library.opus_encoder_create(rate_hz, 1, application, ctypes.byref(problem))
        if problem.value:
            raise ValueError(f"Opus has no encoder for {rate_hz} Hz")
        self.samples = rate_hz * PACKET_MS // 1000  # of a packet
        self._packet = ctypes.create_string_buffer(_PACKET_BYTES_MAX)
        self._loss_percent = 0
        self._set(_SET_BITRATE, bits_per_s)
        self._set(_SET_COMPLEXITY, complexity)

    def _set(self, what: int, value: int) -> None:
        self._library.opus_encoder_ctl(self._state, what, ctypes.c_int(value))

    @property
    def lookahead(self) -> int:
        """The number of samples by which the decoded sound is delayed."""
        samples = ctypes.c_int(0)
        self._library.opus_encoder_ctl(self._state, _GET_LOOKAHEAD, ctypes.byref(samples))
        return samples.value

    def reset(self) -> None:
        """Forget the sound so far. The next packet begins a new stream, which needs a new decoder."""
        self._library.opus_encoder_ctl(self._state, _RESET_STATE)

    def expect_loss(self, percent: int) -> None:
        """Prepare for this percentage of lost packets: each packet may then contain a copy of the previous packet, in
        lower quality. 0 turns the copies off."""
        if percent != self._loss_percent:
            self._loss_percent = percent
            self._set(_SET_INBAND_FEC, int(percent > 0))
            self._set(_SET_PACKET_LOSS_PERC, percent)

    def encode(self, pcm: bytes) -> bytes:
        """Encode 20 ms of sound as a packet."""
        assert len(pcm) == self.samples * 2, f"20 ms are {self.samples * 2} bytes, not {len(pcm)}"
        size = self._library.opus_encode(self._state, pcm, self.samples, self._packet, _PACKET_BYTES_MAX)
        return self._packet.raw[:size] if size > 0 else SILENCE

    def __del__(self) -> None:
        if getattr(self, "_state", None):
            self._library.opus_encoder_destroy(self._state)


class OpusDecoder:
    """Decodes packets of any length that Opus allows."""

    def __init__(self, rate_hz: int = 16_000) -> None:
        self.rate_hz = rate_hz
        self._library = _libopus()
        problem = ctypes.c_int(0)
        self._state = self._library.opus_decoder_create(rate_hz, 1, ctypes.byref(problem))
        if problem.value:
            raise ValueError(f"Opus has no decoder for {rate_hz} Hz")
        self._samples_max = rate_hz * PACKET_MS_MAX // 1000
        self._pcm = ctypes.create_string_buffer(self._samples_max * 2)

    def decode(self, packet: bytes) -> bytes:
        """The sound of a packet. A damaged packet is concealed: similar sound replaces it."""
        samples = self._library.opus_decode(self._state, packet, len(packet), self._pcm, self._samples_max, 0)
        return self._pcm.raw[: samples * 2] if samples > 0 else self.conceal(PACKET_CLOCKS)

    def decode_exactly(self, packet: bytes, samples: int) -> bytes:
        """The sound of a packet that should have this many samples (see `samples_of`). Raises UndecodablePacket if the
        packet has a different number of samples or can't be decoded."""
        made = self._library.opus_decode(self._state, packet, len(packet), self._pcm, samples, 0) if packet else 0
        if made != samples:
            raise UndecodablePacket("a packet can't be decoded as Opus")
        return self._pcm.raw[: made * 2]

    def samples_of(self, packet: bytes) -> int:
        """How many samples the sound of a packet has. 0 if the packet isn't Opus, or if its sound is longer than the
        120 ms that Opus allows."""
        return clocks_of(packet) * self.rate_hz // CLOCK_HZ

    def conceal(self, clocks: int, following: bytes | None = None) -> bytes:
        """Sound of this length that replaces a lost packet. `following` is the packet after the lost packet. If
        `following` contains a copy of the lost packet, the copy is used."""
        samples = min(clocks * self.rate_hz // CLOCK_HZ, self._samples_max)
        data, size, has_copy = (following, len(following), 1) if following else (None, 0, 0)
        made = self._library.opus_decode(self._state, data, size, self._pcm, samples, has_copy)
        return self._pcm.raw[: made * 2] if made > 0 else bytes(samples * 2)

    def __del__(self) -> None:
        if getattr(self, "_state", None):
            self._library.opus_decoder_destroy(self._state)
