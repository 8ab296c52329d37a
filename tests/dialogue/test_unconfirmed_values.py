"""Values picked out of a partly understood message are announced, can be objected to, and aren't lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.commands import SetSlot, StartFlow
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    COLOUR,
    OTHER,
    SIZE,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
    choice,
    number,
    talk,
)

ORDER = domain(
    flow(
        "order",
        Collect("size", "size"),
        Collect("colour", "colour"),
        Collect("count", "count"),
        PerformAction("send", "send"),
    ),
    slots=(SIZE, COLOUR, number("count")),
)
SIZE_IN_PART = SetSlot("size", "large", "large", (0, 5), PICKED_OUT)
COLOUR_IN_PART = SetSlot("colour", "red", "red", (6, 9), PICKED_OUT)
COUNT_IN_PART = SetSlot("count", 2, "two", (10, 13), PICKED_OUT)


def ordered(*parts: SetSlot) -> Talker:
    return Talker(ORDER).says(OTHER).means(StartFlow("order"), *parts)


@pytest.mark.req("D-04")
def test_picked_out_values_are_announced_and_not_asked_for() -> None:
    talker = ordered(SIZE_IN_PART, COLOUR_IN_PART)
    assert talker.said == "So far I have size large, colour red. count?"
    assert talker.slots == {"size": "large", "colour": "red"}


@pytest.mark.req("D-04")
def test_each_value_is_announced_once() -> None:
    talker = ordered(SIZE_IN_PART).says(OTHER).means(COLOUR_IN_PART)
    assert talker.said == "So far I have colour red. count?"


@pytest.mark.req("D-07")
def test_a_value_can_be_corrected_at_the_next_question() -> None:
    talker = ordered(SIZE_IN_PART, COLOUR_IN_PART).says("change the size to small")
    assert talker.said == "Got it, I've updated your size to small. count?"
    assert talker.says("3").runs[0].slots == (("size", "small"), ("colour", "red"), ("count", 3))


@pytest.mark.req("D-04")
def test_answering_the_next_question_accepts_the_values() -> None:
    assert ordered(SIZE_IN_PART, COLOUR_IN_PART).says("3").runs[0].action == "send"


@pytest.mark.req("D-14")
def test_no_action_runs_before_the_user_could_object() -> None:
    talker = ordered(SIZE_IN_PART, COLOUR_IN_PART, COUNT_IN_PART)
    assert not talker.runs
    assert talker.phase == "confirming"
    assert talker.said == "I have size large, colour red, count 2. Is that right?"
    assert (
        talker.says("blah").means().said
        == "Please say yes or no. I have size large, colour red, count 2. Is that right?"
    )
    (run,) = talker.says("yes").runs
    assert not run.confirmed, "it was no yes to what the action itself may ask"


@pytest.mark.req("D-08")
def test_an_action_that_requests_a_confirmation_still_asks() -> None:
    talker = (
        ordered(SIZE_IN_PART, COLOUR_IN_PART, COUNT_IN_PART).says("yes").done(confirm="That is 90 euros. All right?")
    )
    assert talker.said == "That is 90 euros. All right?"
    (run,) = talker.says("yes").runs
    assert run.confirmed


@pytest.mark.req("D-09")
def test_a_no_asks_for_each_and_keeps_what_was_answered() -> None:
    talker = Talker(ORDER).says(OTHER).means(StartFlow("order")).says("small").says(OTHER)
    talker.means(COLOUR_IN_PART, COUNT_IN_PART)
    assert talker.said == "I have colour red, count 2. Is that right?"
    assert talker.says("no").said == "colour?"
    assert talker.slots == {"size": "small"}
    assert talker.says("blue", "4").runs[0].slots == (("size", "small"), ("colour", "blue"), ("count", 4))


@pytest.mark.req("D-09")
def test_another_value_instead_of_a_yes_is_taken() -> None:
    talker = ordered(SIZE_IN_PART, COLOUR_IN_PART, COUNT_IN_PART).says("no, make the colour blue")
    assert talker.said == "Got it, I've updated your colour to blue."
    assert talker.runs[0].slots == (("size", "large"), ("colour", "blue"), ("count", 2))


@pytest.mark.req("D-14")
def test_a_message_while_a_value_is_validated_accepts_nothing() -> None:
    # The user can't object to what wasn't announced yet.
    shirts = number("count", validator="enough")
    talker = Talker(domain(*ORDER.flows.values(), slots=(SIZE, COLOUR, shirts)))
    talker.says(OTHER).means(StartFlow("order"), SIZE_IN_PART, COLOUR_IN_PART, COUNT_IN_PART)
    talker.says("hurry").valid(2)
    assert not talker.runs
    assert talker.means().said.endswith("I have size large, colour red, count 2. Is that right?")
    assert talker.says("yes").runs


@pytest.mark.req("D-11")
def test_an_error_in_between_accepts_nothing_unannounced() -> None:
    shirts = number("count", validator="enough")
    talker = Talker(domain(*ORDER.flows.values(), slots=(SIZE, COLOUR, shirts)))
    talker.says(OTHER).means(StartFlow("order"), SIZE_IN_PART, COLOUR_IN_PART, COUNT_IN_PART).fails()
    assert talker.said.startswith("So far I have size large, colour red. I encountered an error.")
    assert talker.says("retry").valid(2).said == "I have count 2. Is that right?"


def test_a_read_back_comes_after_the_announcement() -> None:
    code = SlotSpec("code", SlotKind.CODE, "Which code?", reads_back=True)
    about = domain(
        flow("ask", Collect("size", "size"), Collect("code", "code"), PerformAction("send", "send")), slots=(code, SIZE)
    )
    talker = (
        Talker(about)
        .says(OTHER)
        .means(StartFlow("ask"), SIZE_IN_PART, SetSlot("code", "AB12", "AB12", (0, 4), PICKED_OUT))
    )
    assert talker.said == "So far I have size large. I have A B 1, 2. Is that right?"
    assert talker.says("yes").runs


@pytest.mark.req("D-13")
def test_a_checkpoint_knows_what_was_picked_out() -> None:
    talker = ordered(SIZE_IN_PART, COLOUR_IN_PART, COUNT_IN_PART)
    again = Talker(ORDER, from_json(ORDER, to_json(ORDER, talker.state)))
    assert again.says("no").said == "size?"


def test_the_texts_can_be_replaced() -> None:
    named = number("count", label="number of shirts")
    about = domain(*ORDER.flows.values(), slots=(SIZE, COLOUR, named))
    talker = Talker(about).says(OTHER).means(StartFlow("order"), COUNT_IN_PART)
    assert talker.said == "So far I have number of shirts 2. size?"


def confirmed(talker: Talker) -> set[str]:
    assert talker.state.top is not None
    return {name for name, filled in talker.state.top.slots if filled.confirmed}


@pytest.mark.req("D-02", "D-09")
def test_a_yes_confirms_the_values_that_the_question_names() -> None:
    talker = at_confirmation()
    assert confirmed(talker) == set()
    assert confirmed(talker.says("yes")) == {"to", "amount"}


@pytest.mark.req("D-02")
def test_a_yes_to_a_question_that_names_nothing_confirms_all() -> None:
    about = domain(
        flow("order", Collect("size", "size"), Confirm("sure", "Shall I?"), PerformAction("send", "send")),
        slots=(SIZE,),
    )
    assert confirmed(Talker(about).starts("order").says("large", "yes")) == {"size"}


@pytest.mark.req("D-02")
def test_a_code_that_was_read_back_is_confirmed_and_another_is_not() -> None:
    code = SlotSpec("code", SlotKind.CODE, "Which code?", reads_back=True)
    about = domain(flow("ask", Collect("code", "code"), Collect("size", "size")), slots=(code, SIZE))
    talker = Talker(about).starts("ask").says("A B 1 2")
    assert confirmed(talker.says("yes")) == {"code"}


@pytest.mark.req("D-02", "D-07")
def test_a_value_that_is_changed_is_no_longer_confirmed() -> None:
    talker = at_amount().says("fifty").valid(50).says("yes").fails()
    assert confirmed(talker) == {"to", "amount"}
    talker.says("change the amount to 60").valid(60)
    assert confirmed(talker) == {"to"}
    assert talker.domain is TRANSFER


@pytest.mark.req("D-09")
def test_an_answer_to_a_later_question_is_taken_at_a_confirmation() -> None:
    steps = (Collect("a", "people"), Confirm("b", "For {people}?"), Collect("c", "seat"))
    talker = talk(*steps, slots=(number("people"), choice("seat", "inside", "outside")))
    talker = talker.says("four", "outside please")
    assert talker.slots == {"people": 4, "seat": "outside"}
    assert talker.said == "For 4?"
    assert talker.says("yes").phase == "idle"


@pytest.mark.req("D-04")
def test_a_known_value_is_not_announced_again_and_a_change_only_once() -> None:
    talker = ordered(SIZE_IN_PART).says("red").says(OTHER).means(SIZE_IN_PART)
    assert talker.said == "count?"
    talker.says(OTHER).means(SetSlot("colour", "blue", "blue", (0, 4), PICKED_OUT))
    assert talker.said == "Got it, I've updated your colour to blue. count?"


def test_an_action_that_does_not_use_the_value_is_not_held_up() -> None:
    other = flow("first", Collect("size", "size"), completed="Done.")
    second = flow(
        "second",
        Collect("colour", "colour"),
        PerformAction("look", "look", ("colour",)),
        Collect("size", "size"),
        PerformAction("act", "act", ("size",)),
    )
    about = domain(other, second, slots=(replace(SIZE, is_session=True), COLOUR))
    talker = Talker(about).starts("first").says("small").starts("second").says("red")
    assert [run.action for run in talker.runs] == ["look"]
