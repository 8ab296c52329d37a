"""The second opinion: it sees what texts have in common, takes any text, and says when it can't be used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from duologue.models.onnx_sessions import UnusableModel, session
from duologue.nlu.e5 import E5, PIECES_MAX, SIZE, shared_e5
from duologue.nlu.numpy_classifier import unit


@pytest.fixture(scope="session")
def model(e5_folder: Path) -> E5:
    return shared_e5()


def test_the_same_meaning_is_more_similar_than_the_same_words(model: E5) -> None:
    asked, same, other = unit(model.embed(["is my flight on time", "has my plane been delayed", "is my watch on time"]))
    assert asked @ same > asked @ other


def test_many_texts_give_the_same_as_each_alone(model: E5) -> None:
    texts = [f"a table for {number} people at the window" for number in range(9)] + ["", "menu"]
    together = model.embed(texts)
    assert together.shape == (len(texts), SIZE)
    for text, row in zip(texts, together, strict=True):
        np.testing.assert_array_equal(model.embed([text])[0], row)


@pytest.mark.parametrize("text", ["", "\x00\ud800", "\u0301" * 500, "word " * 50_000, "预订 стол 🙂"], ids=range(5))
def test_any_text_has_a_row_of_numbers(model: E5, text: str) -> None:
    assert np.isfinite(model.embed([text])).all()


def test_a_long_text_is_cut(e5_folder: Path, minilm_folder: Path) -> None:
    lengths = []

    def measuring(names: Sequence[str], given: dict[str, Any]) -> list[Any]:
        lengths.append(np.shape(given["input_ids"])[1])
        return session(e5_folder / "e5-small.onnx").run(names, given)

    E5(e5_folder, minilm_folder / "vocab.txt", measuring).embed(["word " * 1_000])
    assert lengths == [PIECES_MAX]


@pytest.mark.parametrize(
    "output", [np.full((1, 5, SIZE), np.nan, np.float32), np.zeros((1, 5, 3), np.float32)], ids=["nan", "small"]
)
def test_an_unusable_output_of_the_network_is_rejected(
    e5_folder: Path, minilm_folder: Path, output: NDArray[np.float32]
) -> None:
    model = E5(e5_folder, minilm_folder / "vocab.txt", lambda names, given: [output])
    with pytest.raises(UnusableModel, match=r"run `duologue models verify e5-small`$"):
        model.embed(["a table"])


def test_a_damaged_file_is_one_line(tmp_path: Path, minilm_folder: Path) -> None:
    (tmp_path / "e5-small.onnx").write_bytes(b"not a model")
    with pytest.raises(UnusableModel, match=r"e5-small\.onnx can't be loaded") as refusal:
        E5(tmp_path, minilm_folder / "vocab.txt")
    assert "\n" not in str(refusal.value)
