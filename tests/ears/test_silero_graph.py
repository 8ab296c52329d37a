"""Silero's graph for many streams: the probabilities of the file's own graph."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.ears import silero
from duologue.ears.silero import FEW_MAX, SileroVad, VadMemory
from duologue.ears.silero_graph import faster_graph
from tests.ears.ears_recordings import noise, recording, silence
from tests.ears.test_silero_net import by_the_file, frames


def test_probabilities_are_those_of_the_file(vad: SileroVad) -> None:
    speech = recording("two_cities")
    sounds = [speech, speech * np.float32(0.01), recording("beckett"), noise(4, 0.1), silence(4)]
    assert len(sounds) - 1 > FEW_MAX, "otherwise each frame is judged alone"
    streams = [frames(audio)[:100] for audio in sounds]
    memories = [VadMemory(looks_twice=False) for _ in streams]
    ours = [vad.probabilities(step, memories) for step in zip(*streams, strict=True)]
    theirs = [list(by_the_file(np.concatenate(stream))) for stream in streams]
    assert np.abs(np.array(ours).T - np.array(theirs)).max() < 1e-4


def test_every_frame_can_be_judged_by_the_graph(vad: SileroVad, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is where numpy's products of matrices may use several threads."""
    monkeypatch.setattr(silero, "FEW_MAX", 0)
    audio = np.concatenate((silence(1), recording("beckett")[:48_000], silence(1)))
    vad.memory.looks_twice = False
    ours, theirs = [vad.probability(frame) for frame in frames(audio)], list(by_the_file(audio))
    assert np.abs(np.array(ours) - np.array(theirs)).max() < 1e-4


def test_another_model_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="isn't Silero") as refusal:
        faster_graph(b"")
    assert "\n" not in str(refusal.value)
