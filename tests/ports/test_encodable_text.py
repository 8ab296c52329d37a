"""Text that goes on to voices, models and files can be encoded as UTF-8."""

from __future__ import annotations

import pytest

from duologue.ports.encodable_text import encodable


@pytest.mark.parametrize("text", ["", "plain", "naïve café", "日本語", "a 😀 face"])
def test_text_that_can_be_encoded_stays_the_same(text: str) -> None:
    assert encodable(text) is text


def test_two_halves_of_a_character_are_joined() -> None:
    assert encodable("a \ud83d\ude00 face") == "a 😀 face"


@pytest.mark.parametrize("code", [0xD83D, 0xDE00, 0xDCFF])
def test_a_lone_surrogate_is_replaced(code: int) -> None:
    text = encodable(f"before {chr(code)} after")
    assert text == "before \ufffd after"
    text.encode("utf-8")
