"""Real recordings, made-up sounds, and the word error rate."""

from __future__ import annotations

from functools import cache

import numpy as np

from duologue.audio.frames import Samples, to_pcm
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.ports.ears import Frame
from duologue.turns.words import words_of
from tests.needs import needs_model

RATE_HZ = 16_000
CUTS_S = {"beckett": (0.0, 10.0), "two_cities": (0.7, 17.2)}  # as much as the tests need
BECKETT = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."
TWO_CITIES = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of incredulity, it was the season of light, "
    "it was the season of darkness"
)


@cache
def recording(name: str) -> Samples:
    """A recording at 16 kHz. Call it while a test runs, not while a module is imported: it needs a model."""
    found = read_audio(needs_model("speech-samples") / f"{name}.wav")
    return seconds(resample(found.samples, found.rate_hz, RATE_HZ), *CUTS_S[name])


def seconds(audio: Samples, start: float, end: float) -> Samples:
    return audio[int(start * RATE_HZ) : int(end * RATE_HZ)]


def silence(length_s: float) -> Samples:
    return np.zeros(int(length_s * RATE_HZ), np.float32)


def noise(length_s: float, level: float, seed: int = 1) -> Samples:
    """White noise."""
    return np.random.default_rng(seed).normal(0, level, int(length_s * RATE_HZ)).astype(np.float32)


def frames_of(audio: Samples, rate_hz: int = RATE_HZ, ms: int = 20) -> list[Frame]:
    """The audio as frames, as a line would send it."""
    size = rate_hz * ms // 1000
    return [Frame(to_pcm(audio[at : at + size]), rate_hz) for at in range(0, audio.size, size)]


def word_errors(said: str, heard: str) -> float:
    """The word error rate: wrong, missing and extra words per word that was said."""
    wanted, found = words_of(said), words_of(heard)
    row = list(range(len(found) + 1))
    for count, word in enumerate(wanted, 1):
        above, row = row, [count]
        for at, other in enumerate(found):
            row.append(min(above[at] + (word != other), above[at + 1] + 1, row[at] + 1))
    return row[-1] / len(wanted)
