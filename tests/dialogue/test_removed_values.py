"""Values that the user takes away at a confirmation."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import Talker, talk

LOCKER = SlotSpec("locker", SlotKind.YES_NO, "Would you like a locker?")
PHONE = SlotSpec("phone", SlotKind.PHONE, "Your phone number?", is_optional=True)
NAME = SlotSpec("name", SlotKind.NAME, "Your name?")


def confirming() -> Talker:
    steps = [Collect(one.name, one.name) for one in (NAME, LOCKER, PHONE)]
    text = "{name}, locker: {locker}, phone: {phone}. Shall I?"
    talker = talk(*steps, Confirm("ok", text), PerformAction("act", "act"), slots=(NAME, LOCKER, PHONE))
    return talker.says("Ann Smith", "yes", "01632 960 112")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "said"),
    {
        "hmm, I don't need the locker after all": "Ann Smith, locker: no, phone: 01632960112. Shall I?",
        "oh, take the phone number off": "Ann Smith, locker: yes, phone: any. Shall I?",
        "yes but leave the phone number out": "Ann Smith, locker: yes, phone: any. Shall I?",
        "take my phone off, I never answer it": "Ann Smith, locker: yes, phone: any. Shall I?",
    }.items(),
)
def test_a_value_that_is_no_longer_wanted_is_taken_away(text: str, said: str) -> None:
    talker = confirming().says(text)
    assert talker.said.endswith(said)
    assert not talker.runs


def test_a_required_value_is_not_taken_away() -> None:
    talker = confirming().says("forget the name")
    assert talker.slots["name"] == "Ann Smith"


def test_a_value_that_is_gone_already_changes_nothing() -> None:
    talker = confirming().says("hmm, I don't need the locker after all", "without the locker, I said")
    assert talker.said == "All right. Ann Smith, locker: no, phone: 01632960112. Shall I?"


@pytest.mark.parametrize("text", ["no the phone should ring twice", "leave the phone as it is"])
def test_a_clause_about_a_value_takes_nothing_away(text: str) -> None:
    talker = confirming().says(text)
    assert (talker.slots["phone"], talker.runs) == ("01632960112", [])
