"""Choices that a reply describes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.flow import Collect, Confirm, PerformAction
from tests.dialogue.dialogue_flows import Talker, choice, talk

ROOM = replace(
    choice("room", "garden room", "tower room", "corner room"),
    prompt="The garden room for 40 euros, the tower room for 90 euros or the corner room?",
    help="The tower room has a balcony, and the garden room is good for wheelchairs.",
)


def asked() -> Talker:
    return talk(Collect("r", "room"), Confirm("sure", "{room}?"), PerformAction("go", "go", ("room",)), slots=(ROOM,))


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["the tower one then", "tower I guess", "something in the tower"])
def test_a_word_of_one_choice_is_enough(text: str) -> None:
    talker = asked().says(text)
    assert (talker.slots, talker.asked_nlu) == ({"room": "tower room"}, False)
    assert talker.said.startswith("So far I have room tower room.")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "room"),
    [
        ("the one with the balcony", "tower room"),
        ("the forty euro one", "garden room"),
        ("the one for wheelchairs", "garden room"),
    ],
)
def test_a_described_choice_is_asked(text: str, room: str) -> None:
    talker = asked().says(text)
    assert (talker.slots, talker.said) == ({}, f"Did you mean {room}?")
    assert talker.says("yes").slots == {"room": room}


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "text", ["not the tower one", "a room please", "does the tower one have a bath?", "the blue one"]
)
def test_other_replies_describe_no_choice(text: str) -> None:
    assert asked().says(text).slots == {}
