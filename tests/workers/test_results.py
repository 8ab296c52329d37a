"""Results become text, and long ones become shorter."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum

import pytest
from pydantic import BaseModel

from duologue.workers import result_text, shorten


class Colour(Enum):
    RED = "red"


class Guest(BaseModel):
    name: str
    since: date


@dataclass
class Table:
    seats: int
    guests: list[Guest]


class Opaque:
    def __str__(self) -> str:
        return "an opaque thing"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        ("", ""),
        (None, "done"),
        (True, "true"),
        (3, "3"),
        ({"a": 1, "b": [1, None]}, '{"a":1,"b":[1,null]}'),
        (["ä", "ö"], '["ä","ö"]'),
        ({2: Colour.RED, Colour.RED: ()}, '{"2":"red","red":[]}'),
        (Colour.RED, "red"),
        ({"b", "a"}, '["a","b"]'),
        (date(2026, 11, 15), "2026-11-15"),
        ({"price": Decimal("9.50")}, '{"price":"9.50"}'),
        (Guest(name="Ada", since=date(2020, 1, 2)), '{"name":"Ada","since":"2020-01-02"}'),
        (
            Table(2, [Guest(name="Ada", since=date(2020, 1, 2))]),
            '{"seats":2,"guests":[{"name":"Ada","since":"2020-01-02"}]}',
        ),
        (Opaque(), "an opaque thing"),
        ([Opaque()], '["an opaque thing"]'),
    ],
    ids=lambda given: repr(given) if type(given) is str else "",  # sets and objects print differently each time
)
def test_every_value_has_a_text(value: object, text: str) -> None:
    assert result_text(value) == text


@pytest.mark.parametrize("value", [b"raw", {"picture": b"raw"}, [bytearray(b"raw")]], ids=repr)
def test_bytes_are_refused_wherever_they_are(value: object) -> None:
    with pytest.raises(TypeError, match="bytes"):
        result_text(value)


def test_a_list_that_contains_itself_still_has_a_text() -> None:
    endless: list[object] = []
    endless.append(endless)
    assert result_text(endless) == "[[...]]"


def test_a_text_that_fits_is_left_alone() -> None:
    assert shorten("x" * 4000, 4000) == "x" * 4000


@pytest.mark.req("L-11")
def test_a_long_result_is_cut_between_words_and_marked_as_cut() -> None:
    text = "word " * 1000
    short = shorten(text, 4000, " (cut)")
    assert len(short) <= 4000
    assert len(short) > 3980
    assert short.endswith("word (cut)")


def test_a_very_long_word_is_cut_anywhere() -> None:
    assert shorten("x" * 5000, 4000, "!") == "x" * 3999 + "!"
    assert shorten("see " + "x" * 5000, 4000, "!") == "see " + "x" * 3995 + "!"


def test_a_word_that_just_fits_is_kept() -> None:
    assert shorten("one two three", 8, "…") == "one two…"
    assert shorten("one two three", 9, "…") == "one two…"
    assert shorten("one two three", 10, "…") == "one two…"


def test_a_limit_shorter_than_the_notice_is_refused() -> None:
    with pytest.raises(ValueError, match="notice"):
        shorten("some text", 3, " (shortened)")
