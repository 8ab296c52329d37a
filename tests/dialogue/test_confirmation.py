"""Replies to a confirmation: yes, no, cancel, and changes."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import (
    Affirm,
    Cancel,
    ClearSlot,
)
from duologue.dialogue.english import Json, SlotKind
from duologue.dialogue.flow import Collect, Confirm, Jump, PerformAction, SayText, SlotSpec
from tests.dialogue.dialogue_flows import (
    OTHER,
    SIZE,
    Talker,
    at_confirmation,
    number,
    talk,
)


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["yes", "sure, go ahead", "yes, that's right"])
def test_yes_leads_to_the_action(text: str) -> None:
    assert at_confirmation().says(text).phase == "executing_action"


@pytest.mark.req("D-09")
def test_a_no_asks_what_to_change_and_a_second_one_ends_the_flow() -> None:
    talker = at_confirmation().says("no")
    assert (talker.phase, talker.said) == ("confirming", "All right. What should I change?")
    assert talker.slots == {"to": "Anna", "account": "AB12", "amount": 50}
    talker.says("no")
    assert (talker.phase, talker.said) == ("idle", "All right, let's leave it.")
    assert talker.slots["amount"] == 50


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["no, change it", "I want to change something", "wait, let me change that"])
def test_a_wish_for_a_change_keeps_everything(text: str) -> None:
    talker = at_confirmation().says(text)
    assert (talker.phase, talker.said) == ("confirming", "All right. What should I change?")
    assert talker.slots == {"to": "Anna", "account": "AB12", "amount": 50}


@pytest.mark.req("D-09")
def test_what_is_to_be_changed_may_be_named_or_given() -> None:
    assert at_confirmation().says("no", "the amount").said == "How much?"
    changed = at_confirmation().says("no", "60").valid(60)
    assert changed.said == "Got it, I've updated your amount to 60. Send 60 to Anna?"
    assert at_confirmation().says("no", "leave it").phase == "idle"


@pytest.mark.req("D-09")
def test_a_yes_to_what_to_change_confirms_nothing() -> None:
    talker = at_confirmation().says("no", "yes")
    assert (talker.phase, talker.said, talker.runs) == ("confirming", "Send 50 to Anna?", [])


def test_a_no_to_a_question_without_values_ends_the_flow() -> None:
    talker = talk(Collect("size", "size"), Confirm("sure", "Shall we?"), slots=(SIZE,)).says("small", "no")
    assert (talker.phase, talker.said) == ("idle", "All right, let's leave it.")


@pytest.mark.req("D-09")
def test_a_no_may_jump_to_another_step() -> None:
    talker = talk(
        Confirm("sure", "Sure?", on_no=2), Jump("over", 3), SayText("well", "Well then."), SayText("end", "Bye.")
    )
    assert talker.says("no").said == "Well then. Bye."


@pytest.mark.req("D-09")
def test_a_change_without_a_value_goes_to_nlu() -> None:
    talker = at_confirmation().says("I would like to change something about it")
    assert talker.phase == "understanding"


@pytest.mark.req("D-09")
def test_cancel_at_a_confirmation_cancels_even_if_there_is_an_on_no() -> None:
    # Past bug: "cancel" is read as a no; where a no leads back to the question, nothing gets out of it.
    talker = talk(Collect("size", "size"), Confirm("sure", "{size}?", on_no=0), slots=(SIZE,))
    assert talker.says("small", "cancel", "cancel").phase == "idle"


def test_a_no_that_leads_to_an_answered_question_asks_it_again() -> None:
    # Past bug: the slot is filled, so the question is skipped and the same yes is asked for: no, no, no for ever.
    talker = talk(Collect("size", "size"), Confirm("sure", "{size}?", on_no=0), slots=(SIZE,)).says("small", "no")
    assert talker.said == "size?"


@pytest.mark.req("D-14")
@pytest.mark.parametrize("ask", [Confirm("sure", "Really?"), None])
def test_a_yes_said_before_the_question_does_not_confirm_it(ask: Confirm | None) -> None:
    # Past bug: what is said while an action runs is taken as the answer to the question that comes after it.
    program = (
        (PerformAction("look", "look"), ask, PerformAction("pay", "pay")) if ask else (PerformAction("pay", "pay"),)
    )
    talker = talk(*program).says("yes").done(confirm="" if ask else "Really?")
    assert talker.phase == "confirming"


def test_a_yes_confirms_only_the_open_question() -> None:
    # Past bug: while a slot is asked for that the action needs, a yes confirms the action's own question.
    talker = (
        talk(PerformAction("pay", "pay"), slots=(number("pin"),))
        .done(needs=("pin",))
        .says("four")
        .done(confirm="Really?")
    )
    talker.says(OTHER).means(ClearSlot("pin")).says(OTHER).means(Affirm())
    assert talker.state.top is not None
    assert talker.state.top.confirmed == ()


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["I don't care", "whatever", "you decide"])
def test_i_dont_care_does_not_answer_a_confirmation(text: str) -> None:
    talker = talk(Collect("a", "size"), Confirm("sure", "{size}?"), PerformAction("go", "go"), slots=(SIZE,)).says(
        "large", text
    )
    assert (talker.phase, talker.asked_nlu) == ("confirming", False)
    assert talker.says("hm").means(Cancel()).phase == "idle"


PEOPLE = SlotSpec("people", SlotKind.NUMBER, "How many?", label="number of guests")
DAY = SlotSpec("visit_day", SlotKind.DATE, "Which day?", prefers="last")
TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(11, 23))
GUEST = SlotSpec("guest", SlotKind.NAME, "Which name?", label="name", ask_before_filling=True)


def table() -> Talker:
    return talk(
        Collect("a", "people"),
        Collect("b", "visit_day"),
        Collect("c", "time"),
        Collect("d", "guest"),
        Confirm("sure", "A table for {people} on {visit_day} at {time}, for {guest}?"),
        PerformAction("book", "book"),
        slots=(PEOPLE, DAY, TIME, GUEST),
    )


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    ("text", "changed"),
    {
        "can you change the time to eight": {"time": "20:00"},
        "yes but make the time eight": {"time": "20:00"},
        "yes but at nine pm": {"time": "21:00"},
        "change the guests to eight": {"people": 8},
        "change the date to next Friday": {"visit_day": "2025-12-12"},
        "no, the name should be Miller": {"guest": "Miller"},
        "make it five people": {"people": 5},
    }.items(),
)
def test_a_change_at_a_confirmation_is_that_of_the_slot_it_names(text: str, changed: dict[str, Json]) -> None:
    # Past bug: "change the time to eight" booked for eight people.
    talker = table().says("four", "tomorrow", "7 pm", "Smith")
    assert talker.phase == "confirming"
    before = dict(talker.slots)
    assert talker.says(text).slots == {**before, **changed}
    assert talker.phase == "confirming"


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize("text", ["no, six would be better", "make it six", "could we do six instead?"])
def test_a_change_that_two_slots_may_mean_changes_neither(text: str) -> None:
    # Past bug: "no, six" changed the number of people instead of the time.
    talker = table().says("four", "tomorrow", "7 pm", "Smith")
    before = dict(talker.slots)
    assert talker.says(text).slots == before
    assert talker.said.startswith("I can't tell whether you mean the number of guests or the time.")
    assert talker.phase == "confirming"


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("the people", "people", 6),
        ("I meant the number of people", "people", 6),
        ("the time", "time", "18:00"),
        ("the time should be eight pm", "time", "20:00"),
    ],
)
def test_naming_one_of_two_possible_slots_changes_it(text: str, slot: str, value: object) -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", "no, make it six", text)
    assert talker.slots[slot] == value
    assert talker.phase == "confirming"


def test_a_slot_that_is_named_for_no_reason_changes_nothing() -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", "hold on", "the time")
    assert talker.slots["time"] == "19:00"
    assert talker.means().phase == "confirming"


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["Yes, that's right. What is the address?", "yes, when will it arrive?"])
def test_a_whole_yes_with_a_question_behind_it_is_taken_and_the_question_is_answered(text: str) -> None:
    talker = at_confirmation().says(text)
    assert len(talker.runs) == 1
    assert "I can't answer that here." in talker.said


@pytest.mark.parametrize(
    "text", ["yes, but when will it arrive?", "yes, how much does it cost?", "yes, is that right?", "no, when is it?"]
)
def test_a_question_that_weighs_the_yes_runs_nothing(text: str) -> None:
    assert at_confirmation().says(text).runs == []


def test_a_yes_with_a_question_is_asked_again_before_a_final_action() -> None:
    talker = talk(
        Collect("amount", "amount"),
        Confirm("check", "Send {amount}?"),
        PerformAction("send", "send", ("amount",), is_final=True),
        slots=(number("amount"),),
    ).says("50", "Yes, that's right. When will it arrive?")
    assert (talker.said, talker.runs) == ("I can't answer that here. Send 50?", [])


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["nothing, just send it please", "nothing, ok"])
def test_nothing_and_the_wish_of_the_question_asks_for_the_confirmation_again(text: str) -> None:
    talker = at_confirmation().says("no", text)
    assert talker.phase == "confirming"
    assert "What should I change?" not in talker.said


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["nothing, forget it", "nothing, don't send it"])
def test_nothing_and_a_refusal_confirms_nothing(text: str) -> None:
    assert "executing_action" not in at_confirmation().says("no", text).phase


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text",
    [
        "oh never mind, yes, send it",
        "it's my last fifty so yes please",
        "I was going to ask my aunt, but she's out. Yes, go ahead",
    ],
)
def test_a_whole_yes_in_the_last_clause_counts(text: str) -> None:
    assert len(at_confirmation().says(text).runs) == 1


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    "text",
    [
        "the name isn't right, yes",
        "yes, I mean no",
        "if it's free, yes",
        "yes but will it arrive today because I have to be back at work",
        "you forgot the reason, but yes",
        "okay and it goes to my Anna right we do this every month",
        "okay, my aunt is waiting",
        "okay and my aunt can come along right",
        "yes it's the big one right",
        "ok thanks bye",
        "no don't send it yet",
        "I'll ask my aunt first, leave it for now",
        "no don't send it, I only wanted to look, forget it",
    ],
)
def test_a_yes_beside_a_doubt_or_a_change_runs_nothing(text: str) -> None:
    assert at_confirmation().says(text).runs == []
