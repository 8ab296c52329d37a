"""Operations that must not be confused."""

from __future__ import annotations

import pytest

from duologue.dialogue.english.operations import excludes


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("I need to reschedule my booking", "cancel my booking"),
        ("unblock my card please", "block my card"),
        ("can you move my appointment", "I'd like to book an appointment"),
        ("please activate the alarm", "deactivate the alarm"),
        ("I want to withdraw fifty", "deposit money"),
    ],
)
def test_opposite_operations_exclude_each_other(text: str, phrase: str) -> None:
    assert excludes(text, [phrase])


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("cancel my booking", "cancel a reservation"),
        ("there is a change of plans, cancel my table", "cancel a reservation"),
        ("where is my parcel", "block my card"),
        ("when do you close", "when do you open"),
        ("I have a booking", "cancel a reservation"),
    ],
)
def test_other_phrases_exclude_nothing(text: str, phrase: str) -> None:
    assert not excludes(text, [phrase])


def test_words_that_only_look_like_an_operation_are_none() -> None:
    assert not excludes("I'd like to book it quite soon", ["book a visit"])
    assert not excludes("we want to book a table before the movies", ["book a table"])
    assert excludes("I want to quit", ["book a visit"])
