"""What the measurement of noise suppression counts, with models and suppressors that are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from duologue.audio.frames import Samples, to_pcm
from duologue.audio.wav import write_wav
from duologue.core.errors import DuologueError
from duologue.ears.moonshine import Transcription
from duologue.lab.bench.noise import (
    RATE_HZ,
    SpokenRecording,
    bench_noise,
    delay_ms,
    mixed,
    report,
    suppressed,
    word_errors,
    words_of,
)


class Loudness:
    """Hears one word in quiet sound and two in loud sound."""

    partial_ms = 288

    def load(self) -> None:
        pass

    def transcribe(self, audio: Samples, draft: Sequence[int] = ()) -> Transcription:
        text = "quiet" if float(np.abs(audio).max()) < 0.5 else "very loud"
        return Transcription(text, 1.0, (), ())


class Delaying:
    """Makes everything half as loud, 5 ms later."""

    def __init__(self) -> None:
        self.rest = np.zeros(80, np.float32)

    def feed(self, sound: Samples) -> Samples:
        both = np.concatenate((self.rest, sound / 2))
        self.rest = both[sound.size :]
        return both[: sound.size]


def tone(ms: int, level: float) -> Samples:
    at = np.arange(ms * RATE_HZ // 1000)
    return np.asarray(level * np.sin(at * 0.3), np.float32)


def test_words_are_compared_without_case_and_marks() -> None:
    assert words_of("Hello, you! It's 5.") == ["hello", "you", "it's", "5"]
    assert word_errors("a b c".split(), "a x c d".split()) == 2
    assert word_errors([], ["a"]) == word_errors(["a"], []) == 1


@pytest.mark.parametrize("level_db", [20, 5, -5])
def test_noise_is_mixed_by_its_level_beside_the_speech(level_db: int) -> None:
    sound = np.concatenate((np.zeros(8_000, np.float32), tone(500, 0.1), np.zeros(8_000, np.float32)))
    speech = SpokenRecording(sound, 8_000, 16_000, "")
    noise = np.random.default_rng(1).normal(0, 0.01, 40_000).astype(np.float32)
    both = speech.cut(mixed(speech, noise, level_db))
    added = both - speech.cut(sound)
    measured = 10 * np.log10(np.mean(speech.cut(sound) ** 2) / np.mean(added**2))
    assert measured == pytest.approx(level_db, abs=0.1)


def test_a_suppressor_gets_frames_and_its_delay_is_measured() -> None:
    sound = tone(1_000, 0.2)
    assert suppressed(Delaying(), sound).size == sound.size
    assert delay_ms(Delaying) == 5.0


def sets(folder: Path) -> tuple[Path, Path]:
    """A set of one usable recording and three that are left out, and a set of one noise."""
    write_wav(folder / "a.wav", to_pcm(np.concatenate((np.zeros(4_800, np.float32), tone(500, 0.4)))), RATE_HZ)
    hiss = np.random.default_rng(1).normal(0, 0.1, 8_000).astype(np.float32)
    write_wav(folder / "n.wav", to_pcm(hiss), RATE_HZ)
    row: dict[str, Any] = {"id": "a", "wav": "a.wav", "user_speech_ms": [[300, 800]], "tags": {}}
    rows = [row, {**row, "tags": {"noise": "rain"}}, {**row, "agent_wav": "n.wav"}, {**row, "user_speech_ms": []}]
    (folder / "speech.jsonl").write_text("\n".join(json.dumps(one) for one in rows))
    (folder / "noise.jsonl").write_text(json.dumps({"id": "n", "wav": "n.wav"}))
    return folder / "speech.jsonl", folder / "noise.jsonl"


def test_errors_are_counted_for_each_level_and_suppressor(tmp_path: Path) -> None:
    told: list[str] = []
    chosen = {"none": None, "half": Delaying}
    result = bench_noise(*sets(tmp_path), 10, told.append, Loudness(), Loudness(), chosen)
    assert told == ["no noise", "20 dB", "10 dB", "5 dB"]
    assert (result["recordings"], result["words"]) == (1, 1)
    assert result["errors"]["none"] == {"none": 0, "half": 0}
    assert result["errors"]["5 dB"] == {"none": 2, "half": 0}, "the noise makes it loud, and the suppressor quiet"
    assert [row[0] for row in report(result)] == ["none", "half"]
    assert report(result)[0][4] == "200.0 %"
    assert report(result)[1][-1] == "5 ms"


def test_a_set_without_speech_is_named(tmp_path: Path) -> None:
    _, noises = sets(tmp_path)
    with pytest.raises(DuologueError, match="this set has no usable recording"):
        bench_noise(noises, noises, 10, lambda what: None, Loudness(), Loudness(), {"none": None})
