"""Corrections of a free text, with and without the name of its slot."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import Talker, talk

STREET = SlotSpec("street", SlotKind.TEXT, "Which street?")
OWNER = SlotSpec("owner", SlotKind.NAME, "What's your name?")


def asked(street: str = "7 B Elm Row") -> Talker:
    steps = (Collect("s", "street"), Collect("o", "owner"), Confirm("sure", "{street}, {owner}. Shall I send it?"))
    send = PerformAction("send", "send", ("street", "owner"))
    return talk(*steps, send, slots=(STREET, OWNER), street=street, owner="Nora Lind")


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("text", "street"),
    [
        ("the street is 7 C not 7 B Elm Row", "7 C Elm Row"),
        ("the street is Oak Row, not Elm Row", "Oak Row"),
        ("the street is Do Not Enter Lane", "Do Not Enter Lane"),
        ("no the street should just say Oak Row", "Oak Row"),
        ("can the street be Oak Row", "Oak Row"),
        ("the street is wrong it should be Oak Row", "Oak Row"),
        ("yes, but it's just Elm Row", "Elm Row"),
        ("it's 7 B Elm Row West", "7 B Elm Row West"),
        ("no it's 9 B Elm Row", "9 B Elm Row"),
    ],
)
def test_a_text_is_replaced_by_the_new_words_only(text: str, street: str) -> None:
    talker = asked().says(text)
    assert (talker.slots["street"], talker.slots["owner"], talker.runs) == (street, "Nora Lind", [])


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text", ["Elm Row", "yes but Elm Row is closed so he can't park there", "is it in Elm Row?", "yes but who is Nora"]
)
def test_other_words_about_a_text_change_nothing(text: str) -> None:
    talker = asked()
    before = talker.slots
    assert (talker.says(text).slots, talker.runs) == (before, [])
