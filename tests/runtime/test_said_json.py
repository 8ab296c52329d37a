"""The words of turns survive a checkpoint, also one of an earlier version, and damaged data is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duologue.hearing.words import SaidTurn, TurnMark
from duologue.runtime.checkpoint import NotRestorable
from duologue.runtime.said_json import said_from_json, said_from_old_json, said_to_json

SAID = (
    SaidTurn(
        1, ((1, "book a table"), (-1, "for two")), 0.9, (("book a table", 1),), TurnMark.NONE, "book a table", 1, ""
    ),
    SaidTurn(2, ((2, "mhm"),), 0.4, (), TurnMark.OVERHEARD),
)


@pytest.mark.req("D-13", "H-15")
def test_the_words_of_turns_come_back_in_the_order_of_the_turns() -> None:
    data = json.loads(json.dumps([said_to_json(said) for said in reversed(SAID)]))
    assert said_from_json(data) == SAID


@pytest.mark.parametrize(
    "entry",
    [
        ["1", [], 1.0, [], "", "", 0, ""],
        [1, [["a", "text"]], 1.0, [], "", "", 0, ""],
        [1, [[1, 7]], 1.0, [], "", "", 0, ""],
        [1, [], "sure", [], "", "", 0, ""],
        [1, [], 1.0, [], "misheard", "", 0, ""],
        [1, [], 1.0],
    ],
)
def test_damaged_words_are_refused(entry: list[Any]) -> None:
    with pytest.raises((NotRestorable, TypeError, ValueError)):
        said_from_json([entry])


@pytest.mark.req("D-13")
def test_the_words_of_an_earlier_version_keep_their_texts_and_marks() -> None:
    data = {
        "texts": [[2, [[2, "mhm"]]], [1, [[1, "book a table"]]]],
        "confidence": [[1, 0.9]],
        "overheard": [2],
        "requested": [1],
        "known": [["1:book a table", 4]],
    }
    assert said_from_old_json(data) == (
        SaidTurn(1, ((1, "book a table"),), 0.9, (("book a table", 4),), TurnMark.NONE, "book a table"),
        SaidTurn(2, ((2, "mhm"),), 1.0, (), TurnMark.OVERHEARD),
    )
