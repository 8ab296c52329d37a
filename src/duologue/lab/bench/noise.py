"""Measures what noise suppression does to words: errors with and without it, at several levels of noise.

You provide the recordings and the noises as sets of files. The project comes without them. Rule: the reference for a
recording is its text in the set. If the set has no text for it, the reference is the transcript that a better model
makes of the recording without noise. So a number shows the effect of noise and suppression, not the quality of a model.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from duologue.audio.frames import Samples
from duologue.core.errors import DuologueError
from duologue.ears.dictation import Transcribes
from duologue.ears.moonshine import Moonshine
from duologue.ears.noise_suppressor import NoiseSuppressor, WebrtcNoiseSuppressor
from duologue.ears.silero import FRAME_SAMPLES
from duologue.lab.recordings.listener import read
from duologue.lab.recordings.recording_sets import read_rows

RATE_HZ = 16_000
LEVELS_DB: tuple[int | None, ...] = (None, 20, 10, 5)  # None: no noise is added
LEAD_MS = 300  # how much of a recording around the speech is transcribed
NOISE_SKIPPED_MS = 1_000  # of a noise, because noises begin with room tone
SUPPRESSORS: dict[str, Callable[[], NoiseSuppressor] | None] = {
    "none": None,
    "webrtc 1": lambda: WebrtcNoiseSuppressor(1),
    "webrtc 2": lambda: WebrtcNoiseSuppressor(2),
    "webrtc 4": lambda: WebrtcNoiseSuppressor(4),
}


@dataclass(frozen=True, slots=True)
class SpokenRecording:
    """A recording, the first and the last sample of its speech, and its text if the set has one."""

    sound: Samples
    first: int
    end: int
    text: str

    def cut(self, sound: Samples) -> Samples:
        return sound[self.first : self.end]


def bench_noise(
    recordings: Path,
    noises: Path,
    limit: int,
    progress: Callable[[str], object],
    stt: Transcribes | None = None,
    reference: Transcribes | None = None,
    suppressors: dict[str, Callable[[], NoiseSuppressor] | None] | None = None,
) -> dict[str, Any]:
    """Transcribe every recording with every noise level and every suppressor. For each recording and level, all
    suppressors get the same noise."""
    chosen = suppressors or SUPPRESSORS
    backgrounds = [read(row.heard) for row in read_rows(noises)]
    sounds = list(islice((speech for row in _rows(recordings) if (speech := _speech(row)) is not None), limit))
    if not sounds:
        raise DuologueError(
            f"{recordings}: this set has no usable recording "
            "(it needs English speech without noise, during which the agent is silent)"
        )
    stt, reference = stt or Moonshine("tiny"), reference or Moonshine("base")
    texts = [words_of(speech.text or reference.transcribe(speech.cut(speech.sound)).text) for speech in sounds]
    chance = random.Random(7)
    cpu_s, errors = dict.fromkeys(chosen, 0.0), {}
    for level_db in LEVELS_DB:
        progress("no noise" if level_db is None else f"{level_db} dB")
        wrong = dict.fromkeys(chosen, 0)
        for speech, text in zip(sounds, texts, strict=True):
            noisy = speech.sound if level_db is None else mixed(speech, chance.choice(backgrounds), level_db)
            for name, make in chosen.items():
                began = time.process_time()
                clean = noisy if make is None else suppressed(make(), noisy)
                cpu_s[name] += time.process_time() - began
                wrong[name] += word_errors(text, words_of(stt.transcribe(speech.cut(clean)).text))
        errors["none" if level_db is None else f"{level_db} dB"] = wrong
    seconds = sum(speech.sound.size for speech in sounds) / RATE_HZ * len(LEVELS_DB)
    return {
        "recordings": len(sounds),
        "words": sum(len(text) for text in texts),
        "errors": errors,
        "cpu_ms": {name: round(1000 * spent / seconds, 2) for name, spent in cpu_s.items()},
        "delay_ms": {name: delay_ms(make) if make is not None else 0.0 for name, make in chosen.items()},
    }


def report(result: dict[str, Any]) -> list[tuple[str, ...]]:
    """A row for each suppressor: errors in percent at each level, CPU for a second of sound, added delay."""
    rows = []
    for name in result["cpu_ms"]:
        shares = [f"{100 * wrong[name] / max(1, result['words']):.1f} %" for wrong in result["errors"].values()]
        rows.append((name, *shares, f"{result['cpu_ms'][name]:.1f} ms", f"{result['delay_ms'][name]:.0f} ms"))
    return rows


# -- Sound


def mixed(speech: SpokenRecording, noise: Samples, level_db: int) -> Samples:
    """The recording mixed with this noise. The noise is made so loud that, while the person speaks, the speech is
    `level_db` decibels louder than the noise."""
    noise = noise[NOISE_SKIPPED_MS * RATE_HZ // 1000 :] if noise.size > 2 * RATE_HZ else noise
    noise = np.resize(noise, speech.sound.size)
    power = float(np.mean(speech.cut(noise) ** 2)) + 1e-12
    gain = np.sqrt(float(np.mean(speech.cut(speech.sound) ** 2)) / power / 10 ** (level_db / 10))
    both = speech.sound + gain * noise
    return np.asarray(both / max(1.0, float(np.abs(both).max())), np.float32)


def suppressed(suppressor: NoiseSuppressor, sound: Samples) -> Samples:
    """The sound after noise suppression. The suppressor gets the sound frame by frame, as in a conversation."""
    padded = np.concatenate((sound, np.zeros(-sound.size % FRAME_SAMPLES, np.float32)))
    frames = [suppressor.feed(padded[at : at + FRAME_SAMPLES]) for at in range(0, padded.size, FRAME_SAMPLES)]
    return np.concatenate(frames)[: sound.size]


def delay_ms(make: Callable[[], NoiseSuppressor]) -> float:
    """How many milliseconds later a sound comes out of a suppressor than it went in. Measured with a chirp, by
    correlation."""
    at = np.arange(2 * RATE_HZ) / RATE_HZ
    chirp = np.asarray(0.3 * np.sin(2 * np.pi * (200 + 600 * at) * at), np.float32)
    out = suppressed(make(), chirp)
    lags = range(RATE_HZ // 20)
    scores = [float(np.dot(out[lag:], chirp[: chirp.size - lag])) for lag in lags]
    return 1000 * int(np.argmax(scores)) / RATE_HZ


# -- Words


def words_of(text: str) -> list[str]:
    return re.sub(r"[^\w' ]", " ", text.lower()).split()


def word_errors(expected: Sequence[str], found: Sequence[str]) -> int:
    """How many words must be changed, added or removed to turn one text into the other."""
    row = list(range(len(found) + 1))
    for number, word in enumerate(expected, 1):
        before, row[0] = row[0], number
        for place, other in enumerate(found, 1):
            before, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, before + (word != other))
    return row[-1]


# -- The set


def _rows(path: Path) -> list[dict[str, Any]]:
    """The lines of the set in this file, as dicts. Each dict also has the key `path`: the path of its recording."""
    paths = [row.heard for row in read_rows(path)]
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    return [{**json.loads(line), "path": heard} for line, heard in zip(lines, paths, strict=True)]


def _speech(row: dict[str, Any]) -> SpokenRecording | None:
    """The speech of a line. None if the line has no speech, if the agent speaks too, if the recording already has
    noise, or if its language isn't English."""
    spans = row.get("user_speech_ms")
    tags = row.get("tags") or {}
    if not spans or row.get("agent_wav") or tags.get("noise") or tags.get("lang", "en") != "en":
        return None
    sound = read(row["path"])
    first, end = (spans[0][0] - LEAD_MS) * RATE_HZ // 1000, (spans[-1][1] + LEAD_MS) * RATE_HZ // 1000
    return SpokenRecording(sound, max(0, first), min(sound.size, end), str(tags.get("text") or ""))
