"""Only what is possible at this turn is taken from a model's answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.nlu import ExpectedSlot, Intent, MessageScope, Understanding
from duologue.nlu.llm_answer import UnreadableAnswer, read_answer

SCOPE = MessageScope(
    (Intent("book_table", ("a table for two",), "reserve a table"), Intent("cancel", ("call it off",))),
    (ExpectedSlot("people", "how many"), ExpectedSlot("day")),
    "When would you like to come?",
)
MESSAGE = "a table for five on Friday"
GOOD = {
    "guesses": [{"intent": "book_table", "confidence": 0.9}, {"intent": "cancel", "confidence": 0.1}],
    "slots": {"people": "five", "day": "friday"},
}


def read(**answer: Any) -> Understanding:
    return read_answer({"guesses": [], "slots": {}} | answer, MESSAGE, SCOPE)


def test_no_guess_is_out_of_scope() -> None:
    assert (read().intent, read().error, read().in_scope) == (None, None, 0.0)


@pytest.mark.parametrize(
    "guess",
    [
        {"intent": "rob_a_bank", "confidence": 0.9},
        {"intent": ["book_table"], "confidence": 0.9},
        {"intent": "book_table"},
        {"intent": "book_table", "confidence": "high"},
        {"intent": "book_table", "confidence": True},
        {"intent": "book_table", "confidence": 7},
        {"intent": "book_table", "confidence": -0.1},
        {"intent": "book_table", "confidence": float("nan")},
        "book_table",
        None,
    ],
    ids=str,
)
def test_an_invalid_guess_is_left_out(guess: object) -> None:
    found = read(guesses=[guess, {"intent": "cancel", "confidence": 0.6}])
    assert [each.intent for each in found.guesses] == ["cancel"]


def test_guesses_are_ranked_by_confidence_and_named_once() -> None:
    found = read(
        guesses=[
            {"intent": name, "confidence": sure} for name, sure in [("cancel", 0.6), ("book_table", 0.9), ("cancel", 1)]
        ]
    )
    assert [guess.intent for guess in found.guesses] == ["book_table", "cancel"]
    assert sum(guess.confidence for guess in found.guesses) == pytest.approx(1)


def test_low_confidence_is_out_of_scope() -> None:
    assert read(guesses=[{"intent": "cancel", "confidence": 0.3}]).intent is None


@pytest.mark.parametrize(
    "slots", [{"people": "six"}, {"people": 5}, {"name": "five"}, {"people": ""}, {"people": None}, None]
)
def test_words_that_are_not_in_the_message_fill_no_slot(slots: object) -> None:
    assert read(slots=slots).quotes == ()


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.floats()
        | st.text(max_size=9)
        | st.sampled_from(["guesses", "intent", "cancel"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["guesses", "slots", "intent", "confidence", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_rejected(data: object) -> None:
    for answer in ([data] if isinstance(data, dict) else []) + [json.dumps(data)]:
        try:
            found = read_answer(answer, MESSAGE, SCOPE)  # type: ignore[arg-type]
        except UnreadableAnswer:
            continue
        assert all(0 <= guess.confidence <= 1 for guess in found.guesses)


@given(st.text(max_size=60))
def test_any_text_is_read_or_rejected(text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer(text, MESSAGE, SCOPE)


def test_deeply_nested_json_is_rejected() -> None:
    with pytest.raises(UnreadableAnswer):
        read_answer('{"guesses": ' + "[" * 100_000 + "]" * 100_000 + "}", MESSAGE, SCOPE)


@pytest.mark.req("D-17")
def test_values_and_an_answer_are_read_if_they_are_possible_now() -> None:
    given = {
        "guesses": [],
        "slots": {},
        "values": {"people": 5, "other": 1, "day": "x" * 900},
        "answer": " It is\nfree. ",
    }
    found = read_answer(given, "five", SCOPE)
    assert [(one.slot, one.written) for one in found.values] == [("people", "5")]
    assert found.answer == "It is free."
    assert read_answer({"guesses": [], "slots": {}, "values": [1], "answer": 5}, "five", SCOPE).answer == ""
