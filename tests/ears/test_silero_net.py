"""Silero's network in numpy: the probabilities of the file's own graph, and the same onsets and ends."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears import silero_net
from duologue.ears.silero import SileroVad
from duologue.ears.silero_net import CONTEXT_SAMPLES, FRAME_SAMPLES, Numbers, SileroNet
from duologue.ears.speech_gate import Change, GateRule, VoiceGate
from duologue.models.cache import model_path
from tests.ears.ears_recordings import noise, recording, silence


def frames(audio: Samples) -> list[Samples]:
    return list(audio[: audio.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES))


def by_the_file(audio: Samples) -> Iterator[float]:
    """The probabilities that the graph in the file gives."""
    path = model_path("silero-vad") / "silero_vad.onnx"
    session = importlib.import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    context, state = np.zeros((1, CONTEXT_SAMPLES), np.float32), np.zeros((2, 1, 128), np.float32)
    for frame in frames(audio):
        heard = np.concatenate((context, frame[None]), axis=1)
        found, state = session.run(None, {"input": heard, "state": state, "sr": np.array(16_000, np.int64)})
        context = heard[:, FRAME_SAMPLES:]
        yield float(found[0, 0])


def changes(probabilities: list[float], is_eager: bool) -> list[tuple[int, Change]]:
    """At which frame speech begins, pauses and ends."""
    gate, rule, found = VoiceGate(), GateRule(), list[tuple[int, Change]]()
    for place, probability in enumerate(probabilities):
        gate, change = gate.heard(rule, probability, is_eager)
        found += [(place, change)] if change is not None else []
    return found


@pytest.mark.parametrize("sound", ["beckett", "two_cities", "quiet", "noisy"])
def test_probabilities_and_decisions_are_those_of_the_file(vad: SileroVad, sound: str) -> None:
    audio = recording("two_cities" if sound in ("quiet", "noisy") else sound)
    if sound == "quiet":
        audio = audio * np.float32(0.01)
    elif sound == "noisy":
        audio = np.concatenate((audio + noise(30, 0.02)[: audio.size], silence(2), noise(2, 0.3), audio))
    vad.memory.looks_twice = False
    ours, theirs = [vad.probability(frame) for frame in frames(audio)], list(by_the_file(audio))
    assert np.abs(np.array(ours) - np.array(theirs)).max() < 1e-4
    assert any(change is Change.BEGAN for _, change in changes(theirs, False))
    for is_eager in (False, True):
        assert changes(ours, is_eager) == changes(theirs, is_eager)


@pytest.mark.parametrize("silent_s", [0.1, 1.0, 5.0, 40.0])
def test_digital_silence_is_judged_without_the_encoder_and_no_decision_changes(
    vad: SileroVad, silent_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A muted microphone, then speech, again and again. The length of the silence matters to the model, so its memory
    goes on during silence."""
    muted, speech = silence(silent_s), recording("beckett")
    audio = np.concatenate((muted, speech, muted, recording("two_cities"), muted, speech, muted))
    heard, hear = list[Samples](), SileroNet.hear

    def counted(
        self: SileroNet, context: Samples, frame: Samples, hidden: Numbers, cell: Numbers
    ) -> tuple[float, Numbers, Numbers]:
        heard.append(frame)
        return hear(self, context, frame, hidden, cell)

    monkeypatch.setattr(SileroNet, "hear", counted)
    vad.memory.looks_twice = False
    ours, theirs = [vad.probability(frame) for frame in frames(audio)], list(by_the_file(audio))
    assert np.abs(np.array(ours) - np.array(theirs)).max() < 1e-4
    assert len(changes(theirs, False)) > 10
    for is_eager in (False, True):
        assert changes(ours, is_eager) == changes(theirs, is_eager)
    sounding = sum(bool(frame.any()) for frame in frames(audio))
    assert sounding <= len(heard) <= sounding + 8, "a frame of silence after sound has some of it in its context"


@pytest.mark.parametrize(
    ("name", "version", "is_one"),
    [
        ("scipy-openblas", "0.3.31.188.0", True),
        ("openblas", "0.3.27", True),
        ("openblas64", "0.3.23.dev", False),
        ("openblas", "unknown", False),
        ("accelerate", "unknown", True),
        ("mkl-sdl", "2024.1", False),
        ("blas", "3.9.0", False),
    ],
)
def test_libraries_that_may_use_several_threads_are_known(name: str, version: str, is_one: bool) -> None:
    assert silero_net.runs_in_one_thread({"name": name, "version": version}) is is_one


def test_another_model_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="isn't Silero") as refusal:
        SileroNet(b"")
    assert "\n" not in str(refusal.value)
