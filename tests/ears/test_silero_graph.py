"""Silero's graph, written anew: the probabilities of the file's own graph, and the same onsets and ends."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.silero import FRAME_SAMPLES, SileroVad, VadMemory
from duologue.ears.silero_graph import INPUT_SAMPLES, faster_graph, silent_graph
from duologue.ears.speech_gate import Change, GateRule, VoiceGate
from duologue.models.cache import model_path
from tests.ears.ears_recordings import noise, recording, silence


def frames(audio: Samples) -> list[Samples]:
    return list(audio[: audio.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES))


def by_the_file(audio: Samples) -> Iterator[float]:
    """The probabilities that the graph in the file gives."""
    path = model_path("silero-vad") / "silero_vad.onnx"
    session = importlib.import_module("onnxruntime").InferenceSession(str(path), providers=["CPUExecutionProvider"])
    context, state = np.zeros((1, INPUT_SAMPLES - FRAME_SAMPLES), np.float32), np.zeros((2, 1, 128), np.float32)
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
    whole_runs, run = list[int](), SileroVad.run_whole

    def counted(self: SileroVad, streams: Sequence[Any]) -> None:
        whole_runs.append(len(streams))
        run(self, streams)

    monkeypatch.setattr(SileroVad, "run_whole", counted)
    vad.memory.looks_twice = False
    ours, theirs = [vad.probability(frame) for frame in frames(audio)], list(by_the_file(audio))
    assert np.abs(np.array(ours) - np.array(theirs)).max() < 1e-4
    assert len(changes(theirs, False)) > 10
    for is_eager in (False, True):
        assert changes(ours, is_eager) == changes(theirs, is_eager)
    sounding = sum(bool(frame.any()) for frame in frames(audio))
    assert sounding <= len(whole_runs) <= sounding + 8, "a frame of silence after sound has some of it in its context"


def test_streams_with_and_without_sound_are_judged_together(vad: SileroVad) -> None:
    streams = [frames(audio)[:60] for audio in (silence(3), recording("two_cities"), silence(3))]
    alone = []
    for stream in streams:
        vad.memory.forget()
        alone.append([vad.probability(frame) for frame in stream])
    memories = [VadMemory() for _ in streams]
    together = [vad.probabilities(step, memories) for step in zip(*streams, strict=True)]
    assert np.allclose(np.array(together).T, np.array(alone), atol=1e-4)


@pytest.mark.parametrize("rewritten", [faster_graph, silent_graph])
def test_another_model_is_refused_in_one_line(rewritten: Callable[[bytes], bytes]) -> None:
    with pytest.raises(ValueError, match="isn't Silero") as refusal:
        rewritten(b"")
    assert "\n" not in str(refusal.value)
