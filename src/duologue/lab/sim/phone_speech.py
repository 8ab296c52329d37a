"""The caller's speech as telephone audio: synthesized or read from a file, at 8 kHz in µ-law.

Rule: each sentence is synthesized once and cached, so it sounds the same in every call.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.g711 import pcm_to_ulaw
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.ports.voice import Voice

from .call_script import Beep, PlayWav, Say

RATE_HZ = 8_000
BEEP_LEVEL = 0.3


def beep_sound(step: Beep) -> bytes:
    """A beep: a sine tone."""
    at = np.arange(RATE_HZ * step.ms // 1000) / RATE_HZ
    return pcm_to_ulaw(to_pcm((BEEP_LEVEL * np.sin(2 * np.pi * step.hz * at)).astype(np.float32)))


class PhoneSpeech:
    """Makes the caller's audio for a step. WAV files are looked up in `folder`."""

    def __init__(self, voice: Voice, folder: Path | None = None) -> None:
        self._voice = voice
        self._folder = folder or Path()
        self._cached: dict[Say | PlayWav, bytes] = {}

    async def __call__(self, step: Say | PlayWav) -> bytes:
        if step not in self._cached:
            self._cached[step] = self._read(step) if isinstance(step, PlayWav) else await self._speak(step.text)
        return self._cached[step]

    async def _speak(self, text: str) -> bytes:
        sounds = [sound async for sound in self._voice.speak(text)]
        if not sounds:
            return b""
        samples = to_samples(b"".join(sound.pcm for sound in sounds))
        return pcm_to_ulaw(to_pcm(resample(samples, sounds[0].rate_hz, RATE_HZ)))

    def _read(self, step: PlayWav) -> bytes:
        found = read_audio(self._folder / step.file)
        return pcm_to_ulaw(to_pcm(resample(found.samples, found.rate_hz, RATE_HZ)))
