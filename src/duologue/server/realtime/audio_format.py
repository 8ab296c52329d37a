"""The audio formats of the protocol: PCM at 24 kHz, µ-law and A-law at 8 kHz.

Rule: inside the server, sound is 16-bit PCM; only this module knows the formats in which clients send and receive
sound.
"""

from __future__ import annotations

from enum import Enum

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.g711 import alaw_to_pcm, pcm_to_alaw, pcm_to_ulaw, ulaw_to_pcm
from duologue.audio.resample import LiveResampler
from duologue.lines.playback.state import OUTPUT_HZ

from .fields import JsonObject, check_names, one_of, read_object
from .refusal import invalid, missing


class AudioFormat(Enum):
    """A format in which sound is sent to or from a client. Its rate and size are attributes, because each frame of a
    client needs them."""

    PCM = "audio/pcm"
    PCMU = "audio/pcmu"
    PCMA = "audio/pcma"

    def __init__(self, name: str) -> None:
        self.rate_hz = OUTPUT_HZ if name == "audio/pcm" else 8_000
        self.bytes_per_ms = self.rate_hz // 1000 * (2 if name == "audio/pcm" else 1)

    def as_json(self) -> JsonObject:
        return {"type": self.value, "rate": self.rate_hz} if self is AudioFormat.PCM else {"type": self.value}

    def decode(self, data: bytes) -> bytes:
        """Decode sound from a client into PCM at `rate_hz`."""
        if self is AudioFormat.PCM:
            return data
        return ulaw_to_pcm(data) if self is AudioFormat.PCMU else alaw_to_pcm(data)


def read_format(value: object, path: str) -> AudioFormat:
    """The format that a client asks for. Raises EventRefused."""
    if isinstance(value, str):
        raise invalid(path, 'it must be an object such as {"type": "audio/pcm", "rate": 24000}')
    given = read_object(value, path)
    check_names(given, ("type", "rate"), f"{path}.")
    if "type" not in given:
        raise missing(f"{path}.type")
    found = AudioFormat(one_of(given["type"], f"{path}.type", [one.value for one in AudioFormat]))
    if given.get("rate") not in (None, found.rate_hz):
        raise invalid(f"{path}.rate", f"the rate of {found.value} must be {found.rate_hz}")
    return found


class OutputEncoder:
    """Encodes the sound of one spoken reply, piece by piece. The sound comes as PCM at 24 kHz."""

    def __init__(self, wanted: AudioFormat) -> None:
        self.format = wanted
        self._resampler = LiveResampler(OUTPUT_HZ, 8_000) if wanted is not AudioFormat.PCM else None

    def encode(self, pcm: bytes) -> bytes:
        if self._resampler is None:
            return pcm
        pcm = to_pcm(self._resampler.feed(to_samples(pcm)))
        return pcm_to_ulaw(pcm) if self.format is AudioFormat.PCMU else pcm_to_alaw(pcm)

    def finish(self) -> bytes:
        """Encode the last piece of sound, which the resampler still holds. Empty if nothing is left."""
        if self._resampler is None:
            return b""
        pcm = to_pcm(self._resampler.finish())
        return pcm_to_ulaw(pcm) if self.format is AudioFormat.PCMU else pcm_to_alaw(pcm)
