"""Counting wrong words."""

from __future__ import annotations

import pytest

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")

from duologue.lab.bench.webrtc_speech import plain_words, word_errors


@pytest.mark.parametrize(
    ("said", "heard", "wrong"),
    [
        ("Two tickets, please.", "two tickets please", 0),
        ("Two tickets, please.", "two chickens please", 1),
        ("Two tickets, please.", "tickets", 2),
        ("No.", "no no", 1),
        ("No.", "", 1),
    ],
)
def test_words_are_compared_without_signs(said: str, heard: str, wrong: int) -> None:
    assert word_errors(said, heard) == wrong


def test_words_are_plain() -> None:
    assert plain_words("Can't, won't!") == ["cant", "wont"]
