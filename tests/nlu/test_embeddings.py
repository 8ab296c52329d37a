"""Phrases are embedded once; only the last messages are stored."""

from __future__ import annotations

from pathlib import Path

from duologue.nlu.embeddings import MESSAGES_MAX, Embeddings
from duologue.nlu.minilm import MiniLm, shared_minilm


def test_phrases_are_embedded_once_and_only_the_last_messages_are_stored(minilm_folder: Path) -> None:
    model = shared_minilm()
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
    assert vectors.cached_messages == tuple(f"message {number}" for number in range(20 - MESSAGES_MAX, 20))
