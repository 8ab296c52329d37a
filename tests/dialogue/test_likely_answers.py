"""Values in replies that were not understood otherwise."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, SlotSpec
from tests.dialogue.dialogue_flows import OTHER, Talker, choice, number, talk

KINDS = {
    "date": SlotSpec("day", SlotKind.DATE, "Which day?"),
    "time": SlotSpec("hour", SlotKind.TIME, "What time?", hours=(8, 20)),
    "number": number("chairs"),
    "name": SlotSpec("guest", SlotKind.NAME, "What's your name?"),
    "yes_no": SlotSpec("parking", SlotKind.YES_NO, "Would you like a parking space?"),
    "code": SlotSpec("plate", SlotKind.CODE, "The plate?", pattern="[A-Z]{2}[0-9]{2}[A-Z]{3}"),
    "choice": choice("colour", "red", "blue"),
}


def asked(kind: str) -> Talker:
    spec = KINDS[kind]
    return talk(Collect("a", spec.name), Confirm("sure", "Sure?"), slots=(spec,))


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("kind", "text", "question"),
    [
        ("number", "my aunt reckoned forty, my uncle said fifty, they can't agree", "Did you mean 40 or 50?"),
        ("time", "nine is when the nanny arrives, so whenever that suits you", "Did you mean 9 am?"),
        ("name", "it's my neighbour ringing for gwendolyn oakes", "Did you mean gwendolyn oakes?"),
        ("yes_no", "no clue, well yeah my wife drives so", "Did you mean yes?"),
        ("choice", "the walls next door turned out red and everyone liked it", "Did you mean red?"),
    ],
)
def test_a_value_in_a_reply_that_was_not_understood_is_asked(kind: str, text: str, question: str) -> None:
    talker = asked(kind).says(text)
    talker = talker.means() if talker.asked_nlu else talker
    assert (talker.slots, talker.said) == ({}, question)


@pytest.mark.req("D-04")
def test_a_yes_takes_the_value_and_a_no_asks_again() -> None:
    text = "it's my neighbour ringing for gwendolyn oakes"
    assert asked("name").says(text).means().says("yes").slots == {"guest": "gwendolyn oakes"}
    refused = asked("name").says(text).means().says("no")
    assert (refused.slots, refused.said) == ({}, "What's your name?")


@pytest.mark.parametrize("said", ["gwendolyn oakes", "yes, gwendolyn oakes", "gwendolyn oakes please"])
def test_the_name_said_again_is_taken(said: str) -> None:
    talker = asked("name").says("it's my neighbour ringing for gwendolyn oakes").means()
    assert talker.says(said).slots == {"guest": "gwendolyn oakes"}


def test_a_month_chooses_one_of_two_dates() -> None:
    born = SlotSpec("birthday", SlotKind.DATE, "When were you born?", is_past=True)
    talker = talk(Collect("a", "birthday"), slots=(born,)).says("3/4/1988")
    assert talker.said == "Did you mean March 4, 1988 or April 3, 1988?"
    assert talker.says("march").slots == {"birthday": "1988-03-04"}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("choice", "anything as long as it isn't red like next door"),
        ("number", "what do people with thirty guests usually take"),
        ("name", "the harbour cottage behind the old bakery or the mill"),
        ("number", OTHER),
    ],
)
def test_a_denied_value_a_question_and_several_names_are_no_candidates(kind: str, text: str) -> None:
    talker = asked(kind).says(text).means()
    assert (talker.slots, "Did you mean" in talker.said) == ({}, False)


@pytest.mark.req("D-12")
def test_asking_for_a_value_counts_as_a_failed_attempt() -> None:
    text = "it's my neighbour ringing for gwendolyn oakes"
    talker = asked("name")
    for _ in range(talker.domain.tries_max + 1):
        talker = talker.says(text)
        talker = talker.means() if talker.asked_nlu else talker
        talker = talker.says("no") if talker.said.startswith("Did you mean") else talker
        if talker.phase == "idle":
            break
    assert talker.phase == "idle"
