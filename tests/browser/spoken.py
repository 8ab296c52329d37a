"""Sound for a page to hear: sentences of our own voice, a hum, and files for the browser's fake microphone.

Everything is 16-bit mono at 16 kHz. Rule: the same words are the same samples, every time.
"""

from __future__ import annotations

import base64
import wave
from pathlib import Path

import numpy as np

from duologue.audio.frames import Samples, to_pcm, to_samples
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.models.cache import model_path
from duologue.voice.espeak import EspeakVoice

RATE_HZ = 16_000
RATE_WPM = 160  # at which the small model understands espeak best
HUM_MS, HUM_HZ = 200, 110
HUM_LIPS = ((250.0, 1.0), (1_200.0, 0.1), (2_200.0, 0.05))  # where closed lips let sound through, and how much
LEAD_MS = 1_500  # the fake microphone begins when it is opened, and the conversation a little later

_SAID: dict[str, Samples] = {}


async def sentence(text: str) -> Samples:
    """This text, spoken."""
    if text not in _SAID:
        pieces = [sound async for sound in EspeakVoice("en-us", RATE_WPM).speak(text)]
        pcm = b"".join(piece.pcm or bytes(piece.rate_hz * piece.ms // 1000 * 2) for piece in pieces)
        _SAID[text] = resample(to_samples(pcm), pieces[0].rate_hz, RATE_HZ)
    return _SAID[text]


def hum() -> Samples:
    """A hum of a fifth of a second: a voice without words, which must not interrupt. Harmonics of a low voice through
    closed lips."""
    at_s = np.arange(RATE_HZ * HUM_MS // 1000) / RATE_HZ
    phase = 2 * np.pi * HUM_HZ * (at_s + 0.05 * np.sin(9.4 * at_s) / 9.4)
    tones = [number * HUM_HZ for number in range(1, 29)]
    loud = [sum(share / (1 + ((hz - lips) / 90) ** 2) for lips, share in HUM_LIPS) for hz in tones]
    sound = sum(level * np.sin(number * phase) for number, level in enumerate(loud, 1))
    edge = np.minimum(np.arange(at_s.size), np.arange(at_s.size)[::-1]) / (RATE_HZ * 0.03)
    sound = sound * np.minimum(1.0, edge)
    return (0.3 * sound / np.abs(sound).max()).astype(np.float32)


def recording(name: str, seconds_max: float = 60.0) -> Samples:
    """The beginning of a recording of a person."""
    found = read_audio(model_path("speech-samples") / name)
    return resample(found.samples[: int(found.rate_hz * seconds_max)], found.rate_hz, RATE_HZ)


def silence(ms: int) -> Samples:
    return np.zeros(RATE_HZ * ms // 1000, dtype=np.float32)


def in_base64(samples: Samples) -> str:
    return base64.b64encode(to_pcm(samples)).decode()


def write_wav(path: Path, samples: Samples) -> None:
    """For the browser's own fake microphone, with silence before it."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE_HZ)
        file.writeframes(to_pcm(np.concatenate([silence(LEAD_MS), samples, silence(3_000)])))


def word_errors(said: str, heard: str) -> float:
    """The share of the words that are wrong, missing or too many."""
    wanted, found = _words(said), _words(heard)
    row = list(range(len(found) + 1))
    for i, word in enumerate(wanted, 1):
        above, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (word != other))
    return row[-1] / max(1, len(wanted))


def _words(text: str) -> list[str]:
    return "".join(letter.lower() if letter.isalnum() or letter == "'" else " " for letter in text).split()
