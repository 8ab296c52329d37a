"""Text for the Pico engine: no command, no unknown symbol, no part that is too long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.voice.pico_text import parts, speakable


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Hello, world.", "Hello, world."),
        ("Wait <pause> here", "Wait pause here"),
        ("<usesig file='/etc/passwd'>a</usesig>", "usesig file='/etc/passwd' a /usesig"),
        ("Grüße, señor: ça va, Łódź", "Grüße, señor: ça va, Łódź"),
        ("It\u2019s “fine” — really…", 'It\'s "fine" , really...'),
        ("A smile 😀 and 日本 and Привет", "A smile and and"),
        ("a\0b\x07c\ud83dd\u202ee\u200b", "a b c d e"),
        ("e\u0301te\u0301", "été"),
        ("well!!!!!!!! ------", "well!!! ---"),
        ("3 < 5, 7 > 6", "3 5, 7 6"),
    ],
)
def test_what_the_engine_gets(text: str, said: str) -> None:
    assert speakable(text) == said


@pytest.mark.parametrize("text", ["", " \n", "...", "😀", "日本語", "\0\x1b", "<>", "— –"])  # noqa: RUF001
def test_a_text_that_sounds_as_nothing_is_empty(text: str) -> None:
    assert speakable(text) == ""


@given(st.text(max_size=300))
def test_no_text_contains_a_command_or_a_long_word(text: str) -> None:
    said = speakable(text)
    assert not set(said) & set("<>\0\\")
    assert all(len(word) <= 40 for word in said.split())
    assert speakable(said) == said
    assert said == "" or any(letter.isalnum() for letter in said)


def test_a_long_sentence_is_cut_after_a_comma_if_possible() -> None:
    assert parts("one two, three four five", 16) == ["one two,", "three four five"]
    assert parts("one two three four", 10) == ["one two", "three four"]
    assert parts("short", 10) == ["short"]


@given(st.text(max_size=1_000), st.integers(50, 200))
def test_the_parts_are_short_and_together_the_text(text: str, chars_max: int) -> None:
    said = speakable(text)
    found = parts(said, chars_max)
    assert " ".join(found).split() == said.split()
    assert all(0 < len(part) <= chars_max for part in found)
