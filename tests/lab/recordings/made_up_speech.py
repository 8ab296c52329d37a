"""Speech that costs nothing: a word is 200 ms at its own level, and the models read the levels.

Rule: no real model is needed, and everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from duologue.audio.frames import Samples, to_pcm
from duologue.audio.wav import write_wav
from duologue.core.settings import profile
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Transcription
from duologue.ears.token_vocabulary import WrittenWord
from duologue.lab.recordings.listener import FRAME_MS, RATE_HZ, Decision, Listener, ListenResult
from duologue.runtime.simulated_clock import run_simulated
from duologue.turns.endpoint import policy

FRAME = FRAME_MS * RATE_HZ // 1000


class LevelVad:
    """Hears a voice wherever it is loud."""

    def load(self) -> None:
        pass

    def probability(self, frame: Samples) -> float:
        return 1.0 if np.abs(frame).max() > 0.05 else 0.0


class LevelStt:
    """Writes the level of each word: `w3` is at 0.3."""

    partial_ms = 288

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        levels = [round(10 * float(np.abs(piece).max())) for piece in np.array_split(audio, max(1, audio.size // 400))]
        said = [level for at, level in enumerate(levels) if level and (at == 0 or levels[at - 1] != level)]
        words = tuple(WrittenWord(f"w{level}", 0.9, at) for at, level in enumerate(said, 1))
        return Transcription(" ".join(word.text for word in words), 0.9, words, tuple(said))


def say(*levels: int) -> Samples:
    return np.concatenate([np.full(3_200, level / 10, np.float32) for level in levels])


def silence(length_s: float) -> Samples:
    return np.zeros(int(length_s * RATE_HZ), np.float32)


def joined(*parts: Samples) -> Samples:
    return np.concatenate(parts)


def made_up_ears(stt: LevelStt | None = None) -> LocalEars:
    return LocalEars(stt or LevelStt(), LevelVad, judges_turns=False, cancels_echo=False)


def listener(name: str = "vad", overlap: str = "confirm") -> Listener:
    return Listener(made_up_ears(), policy(name), profile(overlap))


def hear(audio: Samples, played: Samples | None = None, by: Listener | None = None) -> ListenResult:
    """In time in which models cost nothing."""
    return run_simulated((by or listener()).listen(audio, played))


def kinds(result: ListenResult) -> list[str]:
    return [made.kind for made in result.decisions]


class Wordless(LevelStt):
    """Finds no word in anything."""

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        return Transcription("", 0.0)


def before(result: ListenResult, t_ms: int) -> list[Decision]:
    return [made for made in result.decisions if made.t_ms <= t_ms]


def wav(path: Path, audio: Samples, rate_hz: int = RATE_HZ) -> Path:
    write_wav(path, to_pcm(audio), rate_hz)
    return path
