"""Silero detects speech and nothing else, in many streams at once, and a bad frame never spoils a stream."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from duologue.audio.frames import Samples, UnusableAudio
from duologue.ears.silero import FRAME_SAMPLES, SileroVad, VadMemory
from duologue.models.cache import ModelMissing
from duologue.models.onnx_sessions import UnusableModel
from tests.ears.ears_recordings import noise, recording, silence


def frames(audio: Samples) -> list[Samples]:
    whole = audio.size // FRAME_SAMPLES * FRAME_SAMPLES
    return list(audio[:whole].reshape(-1, FRAME_SAMPLES))


def share_of_speech(vad: SileroVad, audio: Samples) -> float:
    found = [vad.probability(frame) for frame in frames(audio)]
    return sum(probability >= 0.5 for probability in found) / len(found)


def test_speech_is_detected(vad: SileroVad) -> None:
    assert 0.4 < share_of_speech(vad, recording("beckett")) < 0.5  # it has long pauses
    vad.memory.forget()
    assert 0.6 < share_of_speech(vad, recording("two_cities")) < 0.9


@pytest.mark.parametrize("sound", [silence(3), noise(3, 0.001), noise(3, 0.1), noise(3, 0.5)], ids=str)
def test_silence_and_noise_are_not_speech(vad: SileroVad, sound: Samples) -> None:
    assert share_of_speech(vad, sound) < 0.02


def test_a_tone_is_not_speech(vad: SileroVad) -> None:
    tone = 0.3 * np.sin(2 * np.pi * 440 * np.arange(48_000) / 16_000)
    assert share_of_speech(vad, tone.astype(np.float32)) < 0.02


def test_many_streams_in_one_run_give_the_same_as_each_alone(vad: SileroVad) -> None:
    speech, other = recording("beckett"), recording("two_cities")
    sounds = (speech, other, noise(3, 0.1), silence(3), speech[8_000:], other[16_000:], silence(3))
    streams = [frames(audio)[:60] for audio in sounds]
    alone = []
    for stream in streams:
        vad.memory.forget()
        alone.append([vad.probability(frame) for frame in stream])
    memories = [VadMemory() for _ in streams]
    together = [vad.probabilities(step, memories) for step in zip(*streams, strict=True)]
    assert np.allclose(np.array(together).T, np.array(alone), atol=1e-4)


def test_streams_in_several_threads_give_the_same_as_each_alone(vad: SileroVad) -> None:
    speech = frames(recording("beckett"))[:60]
    alone = [vad.probability(frame) for frame in speech]
    with ThreadPoolExecutor(4) as threads:
        vads = [SileroVad() for _ in range(4)]
        found = list(threads.map(lambda one: [one.probability(frame) for frame in speech], vads))
    assert found == [alone] * 4


def test_a_stream_that_is_forgotten_starts_fresh(vad: SileroVad) -> None:
    first = [vad.probability(frame) for frame in frames(recording("beckett"))[:50]]
    vad.memory.forget()
    assert [vad.probability(frame) for frame in frames(recording("beckett"))[:50]] == first


def test_no_streams_give_no_probabilities(vad: SileroVad) -> None:
    assert vad.probabilities([], []) == []


NAN = np.full(FRAME_SAMPLES, np.nan, np.float32)
INFINITE = np.full(FRAME_SAMPLES, np.inf, np.float32)


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (NAN, "NaN or infinite"),
        (INFINITE, "NaN or infinite"),
        (np.zeros(0, np.float32), "needs 512 samples, not 0"),
        (np.zeros(320, np.float32), "needs 512 samples, not 320"),
        (np.zeros(FRAME_SAMPLES, np.int16), "float32 between -1 and 1, not int16"),
        (np.zeros(FRAME_SAMPLES), "not float64"),
        (np.zeros((1, FRAME_SAMPLES), np.float32), "mono"),
        (np.full(FRAME_SAMPLES, 12_000, np.float32), "divide 16-bit numbers"),
        ([0.0] * FRAME_SAMPLES, "not list"),
    ],
)
def test_unusable_audio_is_rejected_and_leaves_the_stream_unchanged(vad: SileroVad, garbage: Samples, why: str) -> None:
    speech = frames(recording("beckett"))[20:40]
    heard = [vad.probability(frame) for frame in speech]
    vad.memory.forget()
    for at, frame in enumerate(speech):
        if at == 10:
            with pytest.raises(UnusableAudio, match=why) as refusal:
                vad.probability(garbage)
            assert "\n" not in str(refusal.value)
        assert vad.probability(frame) == heard[at]


def test_a_missing_model_raises_at_once_and_names_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match="duologue models pull silero-vad"):
        SileroVad()


def test_a_damaged_model_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "silero_vad.onnx").write_bytes(b"no model")
    with pytest.raises(UnusableModel, match=r"silero_vad\.onnx can't be loaded") as refusal:
        SileroVad(tmp_path).load()
    assert "\n" not in str(refusal.value)


def test_a_second_look_raises_unsure_answers_only(vad: SileroVad) -> None:
    audio = (0.3 * recording("beckett")[: FRAME_SAMPLES * 80]).astype(np.float32)
    once, twice = VadMemory(looks_twice=False), VadMemory()
    first = [vad.probabilities([frame], [once])[0] for frame in frames(audio)]
    both = [vad.probabilities([frame], [twice])[0] for frame in frames(audio)]
    raised = [at for at in range(len(both)) if both[at] != first[at]]
    assert 0 < len(raised) < len(both) / 2
    assert all(both[at] > first[at] for at in raised)


def test_a_stream_that_looks_once_gives_the_answers_of_the_model(vad: SileroVad) -> None:
    speech = frames(recording("beckett"))[:60]
    once, twice = VadMemory(looks_twice=False), VadMemory()
    first = [vad.probabilities([frame], [once])[0] for frame in speech]
    twice.looks_twice = False
    assert [vad.probabilities([frame], [twice])[0] for frame in speech] == first
