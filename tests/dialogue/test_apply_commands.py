"""Commands: yes and no with values, back, skip, clear, help, handoff, and the open task asked for again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import (
    Affirm,
    ClearSlot,
    CorrectSlot,
    Deny,
    Handoff,
    SetSlot,
    StartFlow,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import CallFlow, Collect, PerformAction, SayText, SlotSpec
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
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


@pytest.mark.req("D-07", "D-09")
def test_no_with_a_new_value_from_nlu_is_a_correction() -> None:
    # Past bug: (Deny, CorrectSlot) at a confirmation cancels the flow and drops the value; NLU and language models give
    # exactly that for "no, I meant sixty".
    talker = at_confirmation().says(OTHER).means(Deny(), CorrectSlot("amount", 60))
    assert talker.phase == "validating_slot"


def test_no_with_a_value_from_nlu_at_a_question_is_that_value() -> None:
    # Past bug: (Deny, SetSlot) where no value is proposed counts as a miss, and the value is dropped.
    talker = at_amount().says(OTHER).means(Deny(), SetSlot("amount", 50))
    assert talker.phase == "validating_slot"


def test_yes_with_a_value_from_nlu_keeps_the_value() -> None:
    # Past bug: (Affirm, SetSlot) drops the value, at a question with a proposal and without.
    talker = talk(
        Collect("size", "size", proposed="usual"), Collect("n", "n"), slots=(SIZE, number("n")), usual="large"
    )
    talker.says(OTHER).means(Affirm(), SetSlot("n", 3))
    assert talker.slots == {"usual": "large", "size": "large", "n": 3}


def test_going_back_from_a_slot_that_an_action_wants_asks_the_one_before() -> None:
    # Past bug: what the action needs is asked again instead: `needs` outlives the step.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT, number("pin")))
    talker.says("two").done(needs=("pin",)).says("go back")
    assert talker.said == "amount?"


def test_going_back_after_a_slot_that_an_action_wanted_does_not_break() -> None:
    # Past bug: StopIteration: `_go_back` looks for a Collect of a slot that only the action asked for.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT, number("pin")))
    talker.says("two").done(needs=("pin",)).says("four").done(confirm="Really?").says("go back")
    assert talker.phase == "waiting_for_slot"


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["help", "what can you do?"])
def test_help_is_answered_when_nothing_is_open(text: str) -> None:
    talker = Talker(TRANSFER).says(text)
    assert (talker.phase, talker.said) == ("idle", "I can help you with: do transfer, do balance, do hours.")


@pytest.mark.req("D-12")
def test_a_message_not_understood_leads_to_help_when_idle_and_is_a_miss_at_a_question() -> None:
    assert Talker(TRANSFER).says("colourless green ideas").means().said.startswith("Sorry, I didn't understand.")
    talker = at_amount().says("colourless green ideas").means()
    assert (talker.phase, talker.state.misses) == ("waiting_for_slot", 1)
    assert talker.said == "Sorry, I didn't get that. How much?"


def test_help_is_not_said_again_and_again() -> None:
    """Seven seconds of the same help after each noise is worse than no help."""
    flows = {**TRANSFER.flows, "transfer": replace(TRANSFER.flows["transfer"], examples=("send some money",))}
    talker = Talker(replace(TRANSFER, flows=flows)).says("colourless green ideas").means()
    assert talker.said == "Sorry, I didn't understand. I can help you with: do transfer, do balance, do hours."
    short = "Sorry, I didn't understand. You could say: send some money."
    assert talker.says("sleep furiously").means().said == short
    assert talker.says("sleep furiously again").means().said == short
    assert talker.says("hello").said == "Hello! I can help you with: do transfer, do balance, do hours."
    assert "I can help you with" in talker.says("sleep furiously").means().said, "understood in between"


@pytest.mark.parametrize("text", ["repeat", "go back", "skip"])
def test_every_command_gets_an_answer_when_idle(text: str) -> None:
    # Past bug: no response to `repeat` before anything was said, or to `back` and `skip` with nothing open.
    assert Talker(TRANSFER).says(text).said


def test_a_value_without_a_flow_gets_an_answer() -> None:
    # Past bug: no response when NLU found a value but no flow.
    assert Talker(TRANSFER).says("fifty for Anna").means(SetSlot("amount", 50)).said


def test_a_handoff_ends_every_open_flow() -> None:
    # Past bug: "Back to where we were." is said in between.
    talker = at_amount().says("what is my balance?").means(StartFlow("balance")).fails().says(OTHER)
    talker.means(Handoff())
    assert (talker.phase, talker.said) == ("idle", "I'll put you through to a person.")


def test_skipping_drops_the_candidates_of_the_question() -> None:
    # Past bug: "Did you mean 6:30 am or 6:30 pm?" is asked for the next slot.
    hour = SlotSpec("hour", SlotKind.TIME, "When?", is_optional=True)
    talker = talk(Collect("hour", "hour"), Collect("size", "size"), slots=(hour, SIZE)).says("half past six", "skip")
    assert talker.slots["hour"] == ANY
    assert talker.said == "All right, we'll leave that out. size?"


def test_going_back_asks_the_previous_question_and_empties_its_dependants() -> None:
    talker = at_amount().says("go back")
    assert talker.said == "Which account?"
    assert talker.slots == {"to": "Anna"}


def test_a_slot_that_is_cleared_is_asked_for_again() -> None:
    # Past bug: the cleared slot itself was never asked for again, and the action ran without it.
    talker = talk(Collect("size", "size"), Collect("colour", "colour"), PerformAction("go", "go"), slots=(SIZE, COLOUR))
    talker.says("small", OTHER).means(ClearSlot("size"))
    assert talker.says("red").phase == "waiting_for_slot"


@pytest.mark.req("D-05")
def test_the_open_task_may_be_asked_for_again_and_the_question_stays() -> None:
    # Past bug: NLU was not given the open task, and took its name for the nearest other one.
    talker = at_amount().says("I want to send some money")
    wanted = talker.effects[-1]
    assert isinstance(wanted, Understand)
    assert "transfer" in wanted.flows
    talker.means(StartFlow("transfer"))
    assert (talker.said, len(talker.state.stack)) == ("How much?", 1)
    assert talker.slots == {"to": "Anna", "account": "AB12"}


def test_the_open_task_asked_for_again_brings_its_values() -> None:
    talker = at_amount().says(OTHER).means(StartFlow("transfer"), SetSlot("to", "Bob"))
    assert talker.said == "Got it, I've updated your to to Bob. Which account?"


def test_naming_the_open_task_again_and_again_is_given_up() -> None:
    talker = Talker(TRANSFER).starts("transfer")
    for _ in range(TRANSFER.tries_max + 1):
        talker.says(OTHER).means(StartFlow("transfer"))
    assert talker.phase == "idle"


def test_going_back_leaves_a_called_flow_that_has_asked_nothing() -> None:
    # Past bug: "this is where we began", in the middle of a task, at the first question of a flow that it calls.
    talker = Talker(
        domain(
            flow("task", Collect("size", "size"), CallFlow("who", "identify"), Collect("colour", "colour")),
            flow("identify", Collect("number", "number")),
            slots=(SIZE, COLOUR, number("number")),
        )
    ).starts("task")
    assert talker.says("small").said == "number?"
    assert talker.says("go back").said == "size?"
    assert (talker.slots, len(talker.state.stack)) == ({}, 1)
    assert talker.says("large").said == "number?"
    assert talker.says("7").said == "colour?"


def test_a_hidden_flow_is_not_started_by_asking() -> None:
    # Past bug: NLU may start it: only the names that exist are looked at, not those that are offered.
    about = domain(
        flow("shown", Collect("size", "size")), flow("inner", SayText("w", "In."), hidden=True), slots=(SIZE,)
    )
    assert "In." not in Talker(about).says("start that inner thing").means(StartFlow("inner")).said


def test_commands_with_unknown_names_are_not_understood() -> None:
    talker = at_amount().says(OTHER).means(StartFlow("nowhere"), SetSlot("nothing", 1))
    assert (talker.phase, talker.state.misses) == ("waiting_for_slot", 1)


def test_a_value_for_another_task_is_a_miss() -> None:
    # Past bug: it counted as understood, so the reprompts never ended.
    spec = choice("other", "a", "b")
    about = domain(flow("task", Collect("size", "size")), flow("other", Collect("other", "other")), slots=(SIZE, spec))
    assert Talker(about).starts("task").says(OTHER).means(SetSlot("other", "a")).state.misses == 1


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["I want to go home please", "no I said the garden door", "no I meant Monday"])
def test_a_repeated_wish_and_an_objection_are_no_free_text(text: str) -> None:
    where = SlotSpec("where", SlotKind.TEXT, "Where to?")
    about = domain(replace(flow("ride", Collect("w", "where")), examples=("I want to go home",)), slots=(where,))
    talker = Talker(about).starts("ride").says(text).means()
    assert (talker.slots, talker.said.endswith("Where to?")) == ({}, True)


def test_words_around_a_repeated_text_are_left_out() -> None:
    where = SlotSpec("where", SlotKind.TEXT, "Where to?")
    talker = talk(Collect("w", "where"), slots=(where,)).says("yes, that's what I said, the garden door").means()
    assert talker.slots == {"where": "the garden door"}
