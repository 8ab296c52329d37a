"""Samples are checked before a model gets them, and a missing file names the command that gets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from duologue.ears.model_input import UnusableAudio, checked, find_file
from duologue.models.cache import ModelMissing


@pytest.mark.parametrize("size", [0, 1, 512])
def test_good_samples_pass_unchanged(size: int) -> None:
    samples = np.linspace(-1, 1, size, dtype=np.float32)
    assert checked(samples) is samples


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ([0.0], "float32 between -1 and 1, not list"),
        (np.zeros(4), "not float64"),
        (np.zeros((2, 2), np.float32), "one dimension, not 2"),
        (np.array([0, np.nan], np.float32), "NaN or infinite"),
        (np.array([0, -np.inf], np.float32), "NaN or infinite"),
        (np.array([0, 8_000], np.float32), "divide 16-bit numbers by 32768"),
    ],
)
def test_unusable_samples_are_rejected_with_the_reason(samples: object, why: str) -> None:
    with pytest.raises(UnusableAudio, match=why):
        checked(samples)  # type: ignore[arg-type]


def test_the_first_file_that_exists_is_found(tmp_path: Path) -> None:
    (tmp_path / "b.onnx").touch()
    (tmp_path / "c.onnx").touch()
    assert find_file("silero-vad", ["a.onnx", "b.onnx", "c.onnx"], tmp_path) == tmp_path / "b.onnx"


def test_a_folder_without_the_file_counts_as_a_missing_model(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="duologue models pull silero-vad"):
        find_file("silero-vad", ["a.onnx"], tmp_path)
