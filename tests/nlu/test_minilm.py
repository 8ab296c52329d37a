"""MiniLM in numpy: the same vectors as anywhere else, and a plain word when its file is broken."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from duologue.models.onnx_sessions import UnusableModel
from duologue.nlu.minilm import SIZE, MiniLm, shared_minilm
from duologue.nlu.numpy_classifier import unit


@pytest.fixture(scope="session")
def model(minilm_folder: Path) -> MiniLm:
    return shared_minilm()


def alike(model: MiniLm, one: str, other: str) -> float:
    meaning, _ = model.embed([one, other])
    return float(unit(meaning)[0] @ unit(meaning)[1])


def test_the_network_agrees_with_the_reference(model: MiniLm) -> None:
    """The first numbers for this sentence as sentence-transformers prints them, start and end tokens included."""
    vector = unit(model.last_layer("This is an example sentence").mean(axis=0))
    assert vector[:6] == pytest.approx([0.0677, 0.0635, 0.0487, 0.0793, 0.0374, 0.0027], abs=2e-4)


def test_texts_with_the_same_meaning_are_similar(model: MiniLm) -> None:
    same = alike(model, "When do you open?", "at what time does the shop open")
    assert same > 0.7
    assert same > alike(model, "When do you open?", "I'd like to pay by card") + 0.4


def test_a_text_is_the_same_alone_and_among_others(model: MiniLm) -> None:
    texts = [f"{'very ' * (number % 7)}nice table {number}" for number in range(90)]
    together, _ = model.embed(texts)
    alone = np.concatenate([model.embed([text])[0] for text in texts[:9]])
    assert together[:9] == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize(
    "text",
    ["", " ", "\x00\ufffd", "\ud800", "ж" * 100_000, "a " * 50_000, "\u0301" * 500, "预订 für δύο 🙂"],
    ids=ascii,
)
def test_any_text_has_vectors(model: MiniLm, text: str) -> None:
    meaning, wording = model.embed([text])
    assert meaning.shape == wording.shape == (1, SIZE)
    assert np.isfinite(meaning).all()
    assert np.isfinite(wording).all()


def test_no_text_has_no_vectors(model: MiniLm) -> None:
    assert model.embed([])[0].shape == (0, SIZE)


def test_conversations_do_not_disturb_each_other(model: MiniLm) -> None:
    texts = [f"table {number} please" for number in range(8)]
    alone = [model.embed([text])[0] for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: model.embed([text])[0], texts))
    assert np.concatenate(together) == pytest.approx(np.concatenate(alone), abs=1e-5)


def test_a_truncated_vocabulary_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n", encoding="utf-8")
    with pytest.raises(UnusableModel, match="it has 3 tokens instead of"):
        MiniLm(tmp_path)
