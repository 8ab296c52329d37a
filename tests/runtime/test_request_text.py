"""The text of a request is bounded, and says what was left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.runtime.request_text import request_text


def test_what_fits_is_joined() -> None:
    assert request_text(["one", "two"]) == "one two"
    assert request_text([]) == ""


def test_the_newest_turns_are_whole_and_a_line_says_what_was_left_out() -> None:
    text = request_text(["a" * 50, "b" * 50, "c" * 50], chars_max=110)
    left_out = "[1 earlier messages of the user with 50 characters are left out, because they don't fit.]"
    assert text == f"{left_out} {'b' * 50} {'c' * 50}"


def test_of_a_turn_that_is_too_long_the_end_is_kept() -> None:
    text = request_text(["old", "x" * 90 + "yes"], chars_max=40)
    assert "[The first 53 characters of this message are left out" in text
    assert text.startswith("[1 earlier messages of the user with 3 characters")
    assert text.endswith("x" * 37 + "yes")


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(1, 100))
def test_the_text_is_never_much_longer_than_the_limit(texts: list[str], chars_max: int) -> None:
    assert len(request_text(texts, chars_max)) <= chars_max + 250
