"""Stored values are checked: each has the declared type, or the conversation isn't restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from duologue.runtime.checkpoint import NotRestorable
from duologue.runtime.validation import number, numbers, pairs, reading, text, texts_by_number, whole


@pytest.mark.parametrize(
    ("check", "value", "result"),
    [
        (whole, 0, 0),
        (number, 0.5, 0.5),
        (text, "", ""),
        (pairs, [[1, "a"]], [(1, "a")]),
        (texts_by_number, [[1, "a"], [2, "b"]], {1: "a", 2: "b"}),
        (numbers, [[1, 2]], {1: 2}),
    ],
)
def test_a_valid_value_is_returned(check: Callable[[Any], Any], value: Any, result: Any) -> None:
    assert check(value) == result


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (whole, -1),
        (whole, True),
        (whole, 1.0),
        (number, float("nan")),
        (number, "1"),
        (text, None),
        (pairs, {"a": 1}),
        (pairs, [[1, 2, 3]]),
        (texts_by_number, [["1", "a"]]),
        (texts_by_number, [[1, 2]]),
        (numbers, [[1, None]]),
    ],
)
def test_an_invalid_value_is_not_restorable(check: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(NotRestorable):
        check(value)


@pytest.mark.parametrize("problem", [KeyError("words"), TypeError(), ValueError(), IndexError(), OverflowError()])
def test_an_error_while_reading_names_what_was_read(problem: Exception) -> None:
    with pytest.raises(NotRestorable, match="the transcript can't be read"), reading("the transcript"):
        raise problem
