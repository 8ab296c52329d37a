"""MiniLM in numpy: the same vectors as anywhere else, and a plain word when its file is broken."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from duologue.models.onnx_sessions import UnusableModel  # noqa: E402 (only with numpy)
from duologue.nlu.blas_threads import _switches, one_core  # noqa: E402
from duologue.nlu.embeddings import Embeddings  # noqa: E402
from duologue.nlu.minilm import PIECES_MAX, SIZE, MiniLm, shared_minilm  # noqa: E402
from duologue.nlu.numpy_classifier import unit  # noqa: E402
from duologue.nlu.safetensors import read_weights  # noqa: E402


@pytest.fixture(scope="session")
def model(minilm_folder: Path) -> MiniLm:
    return shared_minilm()


def alike(model: MiniLm, one: str, other: str) -> float:
    meant, _ = model.embed([one, other])
    return float(unit(meant)[0] @ unit(meant)[1])


def test_the_network_gives_what_the_original_gives(model: MiniLm) -> None:
    """The first numbers for this sentence as sentence-transformers prints them, signs for start and end included."""
    numbers = model._pieces.numbers("This is an example sentence", PIECES_MAX)
    now = model._first((model._words[np.array([numbers])] + model._places[: len(numbers)]).reshape(-1, SIZE))
    for layer in model._layers:
        now = layer(now, 1)
    vector = unit(now.mean(axis=0))
    assert vector[:6] == pytest.approx([0.0677, 0.0635, 0.0487, 0.0793, 0.0374, 0.0027], abs=2e-4)


def test_what_means_the_same_is_near(model: MiniLm) -> None:
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
    meant, said = model.embed([text])
    assert meant.shape == said.shape == (1, SIZE)
    assert np.isfinite(meant).all()
    assert np.isfinite(said).all()


def test_no_text_has_no_vectors(model: MiniLm) -> None:
    assert model.embed([])[0].shape == (0, SIZE)


def test_conversations_do_not_disturb_each_other(model: MiniLm) -> None:
    texts = [f"table {number} please" for number in range(8)]
    alone = [model.embed([text])[0] for text in texts]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda text: model.embed([text])[0], texts))
    assert np.concatenate(together) == pytest.approx(np.concatenate(alone), abs=1e-5)


def test_phrases_are_embedded_once_and_messages_are_forgotten(model: MiniLm) -> None:
    asked: list[str] = []

    class Counting(MiniLm):
        def __init__(self) -> None:
            pass

        def embed(self, texts: object) -> object:  # type: ignore[override]
            asked.extend(texts)  # type: ignore[arg-type]
            return model.embed(texts)  # type: ignore[arg-type]

    vectors = Embeddings(Counting())
    vectors.of_phrases(["a table", "the menu", "a table"])
    vectors.of_phrases(["the menu", "the bill"])
    assert asked == ["a table", "the menu", "the bill"]
    for number in range(20):
        vectors.of_message(f"message {number}")
    vectors.of_message("message 19")
    assert len(asked) == 23
    assert len(vectors._messages) == 8


# -- Files that aren't what they say


def write_file(path: Path, header: object, data: bytes = b"") -> Path:
    written = json.dumps(header).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + data)
    return path


def test_an_array_is_read_as_it_was_written(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32).reshape(2, 3)
    header = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
    path = write_file(tmp_path / "w", header, numbers.tobytes())
    assert (read_weights(path, {"a": (2, 3)})["a"] == numbers).all()


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 2400]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [12, 36]},
        {"dtype": "F32", "shape": [2, 3], "data_offsets": [-24, 0]},
        {"shape": [2, 3]},
        "nothing",
    ],
)
def test_a_header_that_lies_is_one_line(tmp_path: Path, entry: object) -> None:
    path = write_file(tmp_path / "w", {"a": entry}, bytes(24))
    with pytest.raises(UnusableModel, match=r"can't be used: ") as problem:
        read_weights(path, {"a": (2, 3)})
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize("content", [b"", b"\x00" * 8, b"\xff" * 64, b"\x10\0\0\0\0\0\0\0not json at all!"])
def test_a_file_of_another_kind_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "w"
    path.write_bytes(content)
    with pytest.raises(UnusableModel):
        read_weights(path, {"a": (1,)})


def test_a_vocabulary_that_is_cut_off_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n", encoding="utf-8")
    with pytest.raises(UnusableModel, match="it has 3 pieces"):
        MiniLm(tmp_path)


# -- One core


def test_numpy_gets_its_threads_back() -> None:
    threads, _ = _switches()
    before = threads()
    with one_core():
        with one_core():
            assert threads() in (0, 1)  # 0: a library that can't be set
        assert threads() in (0, 1)
    assert threads() == before
