"""Every check of a torture run finds its violation, and finds nothing in a good conversation."""

from __future__ import annotations

import pytest

from duologue.lab.torture.person_notes import (
    AcceptedWrite,
    ConversationNotes,
    LoggedAction,
    SavedConversation,
    TypedTurn,
)
from duologue.lab.torture.rendered_audio import Stretch
from duologue.lab.torture.verdict import claimed_undone, judge

ID = "c" * 32


def turn(text: str, item: str, *heard: str, **more: bool) -> TypedTurn:
    made = TypedTurn("1", text, item, 0.0, is_safe=True, is_closed=True, heard=list(heard))
    for name, value in more.items():
        setattr(made, name, value)
    return made


def talk(*turns: TypedTurn) -> ConversationNotes:
    voices = [heard for one in turns for heard in one.heard]
    return ConversationNotes(1, ID, list(turns), [(number * 2 + 1, text) for number, text in enumerate(voices)])


def good() -> ConversationNotes:
    return talk(turn("order 1001", "1001", "Shall I order 1001? "), turn("yes", "1001", "Now 1001 is ordered. "))


SAVED = SavedConversation(ID, ("order 1001", "yes"), 0, False)
ACTIONS = [LoggedAction("order", "1001", "", stage, "a1") for stage in ("begun", "done")]
WRITES = [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "a1", 1, 2), AcceptedWrite(ID, "b1", 4, 3)]


def found(
    made: ConversationNotes | None = None,
    saved: SavedConversation | None = SAVED,
    writes: list[AcceptedWrite] = WRITES,
    actions: list[LoggedAction] = ACTIONS,
) -> list[str]:
    talks = [made or good()]
    failures = judge(talks, {ID: saved} if saved else {}, writes, actions) + list(claimed_undone(talks, actions))
    return sorted({failure.check for failure in failures})


def test_a_good_conversation_has_no_findings() -> None:
    assert found() == []


@pytest.mark.parametrize("user", [("order 1001",), ("yes",), ("order 1001", "yes", "yes"), ()])
def test_a_turn_that_is_missing_or_there_twice_is_found(user: tuple[str, ...]) -> None:
    assert found(saved=SavedConversation(ID, user, 0, False)) == ["turns_lost"]
    assert found(saved=None) == ["turns_lost"]


def test_a_turn_without_an_answer_is_found_unless_the_person_was_notified() -> None:
    silent = talk(turn("order 1001", "1001"), turn("yes", "1001", "Now 1001 is ordered. "))
    assert found(silent) == ["turns_lost"]
    silent.turns[0].is_reported_lost = True
    assert found(silent) == []


def test_an_answer_that_does_not_name_the_item_is_found() -> None:
    astray = talk(turn("order 1001", "1001", "Shall I order 1001? "), turn("yes", "1001", "Sorry, which one? "))
    assert found(astray) == ["turns_lost"]


def test_something_that_was_said_to_be_done_and_was_not_is_found() -> None:
    assert found(actions=[]) == ["turns_lost"]


def test_a_sentence_that_was_heard_twice_is_found_and_half_of_it_is_not() -> None:
    twice, half = good(), good()
    twice.heard.append((9, "Shall I order 1001? "))
    half.heard.append((9, "Shall I order 10"))
    assert found(twice) == ["heard_twice"]
    assert found(half) == []


def test_an_action_that_was_done_twice_is_found_and_one_repeated_with_its_key_is_not() -> None:
    assert found(actions=[*ACTIONS, *ACTIONS]) == ["actions_twice"]
    again = [LoggedAction("reserve", "1001", key, "begun", "a1") for key in ("k", "k")]
    assert found(actions=[*ACTIONS, *again]) == []
    assert found(actions=[*ACTIONS, *again, LoggedAction("reserve", "1001", "another", "begun", "b1")]) == [
        "actions_twice"
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "b1", 1, 2)],
        [AcceptedWrite(ID, "a1", 5, 1), AcceptedWrite(ID, "b1", 4, 2)],
        [AcceptedWrite(ID, "a1", 1, 1), AcceptedWrite(ID, "a1", 1, 1)],
    ],
)
def test_two_owners_are_found_by_what_the_store_has_accepted(wrong: list[AcceptedWrite]) -> None:
    assert found(writes=wrong) == ["two_owners"]


def test_two_servers_that_are_heard_at_once_are_found() -> None:
    made = good()
    made.stretches = [Stretch(1, "a1", 0.0, 1.0), Stretch(3, "b1", 0.8, 2.0)]
    assert found(made) == ["two_owners"]
    made.stretches = [Stretch(1, "a1", 0.0, 1.0), Stretch(3, "b1", 1.0, 2.0)]
    assert found(made) == []


def test_a_turn_with_neither_an_answer_nor_an_end_is_found() -> None:
    assert found(talk(*good().turns[:1], turn("yes", "1001", is_stuck=True))) == ["stuck"]
    assert found(saved=SavedConversation(ID, SAVED.user, 1, False, {"voice": "silent"})) == ["stuck"]
    assert found(saved=SavedConversation(ID, SAVED.user, 1, False, {"voice": "playing"})) == []
