"""Answers as people give them: free text, no thanks, I don't care, and the task once more (D-04, D-05)."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import Cancel, Deny, Help, SetSlot, StartFlow
from duologue.dialogue.effects import Understand
from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.events import UserSaid
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from duologue.dialogue.state import DialogueState, Instance
from duologue.dialogue.templates import spelled, spoken
from duologue.flows import parse_flows
from duologue.flows.nlu_commands import commands_of
from duologue.nlu.understanding import Guess, Understanding
from tests.dialogue.dialogue_flows import COLOUR, OTHER, SIZE, TRANSFER, Talker, at_amount, choice, talk

FAULT = SlotSpec("fault", SlotKind.TEXT, "What is wrong?", reprompts=("In a few words?",))
PHONE = SlotSpec("phone", SlotKind.PHONE, "And a phone number?", is_optional=True)


# -- Free text


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "text", ["it does not turn on", "the connection drops every evening around eight", "yes but it makes a noise"]
)
def test_whatever_nobody_knows_better_is_free_text(text: str) -> None:
    # Once: a text of more than six words, or with a "not" in it, was never an answer, and the flow was given up.
    talker = talk(Collect("a", "fault"), Collect("b", "size"), slots=(FAULT, SIZE)).says(text).means()
    assert (talker.slots, talker.said) == ({"fault": text}, "size?")


@pytest.mark.parametrize("text", ["what do I have to say now", "hmm well", "is it the cable"])
def test_a_question_and_a_hesitation_are_no_free_text(text: str) -> None:
    talker = talk(Collect("a", "fault"), slots=(FAULT,)).says(text).means()
    assert (talker.slots, talker.said) == ({}, "In a few words?")


def test_a_command_that_nlu_is_sure_of_is_no_free_text() -> None:
    talker = talk(Collect("a", "fault"), slots=(FAULT,)).says("I am lost in here").means(Help())
    assert talker.slots == {}


def test_nlu_has_to_be_sure_of_a_command_where_anything_is_an_answer() -> None:
    flows = parse_flows("""
version: 1
slots:
  fault: {type: text, prompt: "What is wrong?"}
flows:
  report: {description: report, steps: [collect: fault]}
""")
    asked = Understand(1, "it doesn't work", (), ("fault",), "fault", "What is wrong?")
    for confidence, meant in ((0.7, ()), (0.97, (Help(),))):
        found = Understanding((Guess("help", confidence),), True, 0.99, by="minilm")
        assert commands_of(flows, DialogueState(), asked, found, "2026-03-04") == meant


def test_free_text_about_the_open_task_does_not_ask_for_it_again() -> None:
    flows = parse_flows("""
version: 1
slots:
  fault: {type: text, prompt: "What is wrong?"}
flows:
  report: {description: report, steps: [collect: fault]}
""")
    asked = Understand(1, "my phone is broken", ("report",), ("fault",), "fault", "What is wrong?")
    found = Understanding((Guess("flow report", 0.97),), True, 0.99, by="minilm")
    assert commands_of(flows, DialogueState(stack=(Instance(0, "report"),)), asked, found, "2026-03-04") == ()


# -- No thanks, I don't care


@pytest.mark.parametrize("text", ["no", "no thanks", "nope, no phone number", "I'd rather not"])
def test_a_no_leaves_an_optional_question_open(text: str) -> None:
    # Once: it was not understood, until a person had to take over.
    talker = talk(Collect("a", "phone"), Collect("b", "size"), slots=(PHONE, SIZE)).says(text)
    assert (talker.slots, talker.asked_nlu) == ({"phone": ANY}, False)
    assert talker.said == "All right, we leave that out. size?"


def test_what_is_wrong_is_not_left_open() -> None:
    # "That's wrong" is about what was said before.
    talker = talk(Collect("a", "phone"), slots=(PHONE,)).says("no that's wrong").means(Deny())
    assert (talker.slots, talker.phase) == ({}, "waiting_for_slot")


def test_a_no_to_a_question_that_needs_an_answer_is_none() -> None:
    assert talk(Collect("a", "size"), slots=(SIZE,)).says("no").asked_nlu


def test_a_no_to_a_proposed_value_still_asks_for_another() -> None:
    size = choice("size", "small", "large", is_optional=True)
    talker = talk(Collect("a", "size", proposed="usual"), slots=(size,), usual="large").says("no")
    assert (talker.slots, talker.said) == ({"usual": "large"}, "size?")


@pytest.mark.parametrize("text", ["I don't care", "I don't mind", "whatever", "anything will do"])
def test_i_dont_care_never_drops_the_task(text: str) -> None:
    # Once: NLU was asked, and took it for a cancel.
    talker = talk(Collect("a", "size"), Collect("b", "colour"), slots=(SIZE, COLOUR)).says("large", text)
    assert (talker.slots, talker.asked_nlu) == ({"size": "large"}, False)
    assert talker.said.endswith("colour?")


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["I don't care", "whatever", "you decide"])
def test_i_dont_care_is_no_answer_to_a_confirmation(text: str) -> None:
    talker = talk(Collect("a", "size"), Confirm("sure", "{size}?"), PerformAction("go", "go"), slots=(SIZE,)).says(
        "large", text
    )
    assert (talker.phase, talker.asked_nlu) == ("confirming", False)
    assert talker.says("hm").means(Cancel()).phase == "idle"


# -- The same task once more


@pytest.mark.req("D-05")
def test_the_open_task_may_be_asked_for_again_and_the_question_stays() -> None:
    # Once: NLU was not told of the open task, and took its name for the nearest other one.
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


def test_who_only_names_the_open_task_comes_to_an_end_too() -> None:
    talker = Talker(TRANSFER).starts("transfer")
    for _ in range(TRANSFER.tries_max + 1):
        talker.says(OTHER).means(StartFlow("transfer"))
    assert talker.phase == "idle"


# -- Today, with the time of day


@pytest.mark.req("D-04", "D-06")
def test_a_time_of_today_is_still_to_come_and_in_an_hour_is_both() -> None:
    asked = (SlotSpec("day", SlotKind.DATE, "Which day?"), SlotSpec("time", SlotKind.TIME, "What time?"))
    program = (Collect("day", "day"), Collect("time", "time"), PerformAction("book", "book"))
    now = "2026-03-04T17:20"

    def hear(talker: Talker, text: str) -> Talker:
        return talker.happen(UserSaid(text, 0, now))

    talker = hear(hear(talk(*program, slots=asked), "today"), "at seven")
    assert talker.runs
    assert talker.slots == {"day": "2026-03-04", "time": "19:00"}
    talker = hear(hear(talk(*program, slots=asked), "tomorrow"), "at seven")
    assert talker.state.among == ("07:00", "19:00")
    talker = hear(talk(*program, slots=asked), "in an hour")
    assert talker.slots == {"day": "2026-03-04", "time": "18:20"}


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("texts", "slots"),
    [
        (("today", "at three pm"), {"day": "2026-03-04"}),
        (("today at three pm",), {"day": "2026-03-04"}),
        (("at three pm today",), {"day": "2026-03-04"}),
        (("tomorrow at three pm",), {"day": "2026-03-05", "time": "15:00"}),
        (("today at six pm",), {"day": "2026-03-04", "time": "18:00"}),
        (("yesterday",), {}),
    ],
)
def test_what_has_passed_is_refused_to_the_minute(texts: tuple[str, ...], slots: dict[str, str]) -> None:
    asked = (
        SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True),
        SlotSpec("time", SlotKind.TIME, "What time?", is_future=True),
    )
    talker = talk(Collect("day", "day"), Collect("time", "time"), PerformAction("book", "book"), slots=asked)
    for text in texts:
        talker.happen(UserSaid(text, 0, "2026-03-04T17:20"))
    assert talker.slots == slots
    assert bool(talker.runs) is (len(slots) == 2)


@pytest.mark.req("D-06")
def test_a_day_on_which_the_time_has_passed_is_refused() -> None:
    asked = (
        SlotSpec("time", SlotKind.TIME, "What time?", is_future=True),
        SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True),
    )
    talker = talk(Collect("time", "time"), Collect("day", "day"), PerformAction("book", "book"), slots=asked)
    for text in ("three pm", "today"):
        talker.happen(UserSaid(text, 0, "2026-03-04T17:20"))
    assert talker.said == "It is later than that already. Which day?"
    assert talker.happen(UserSaid("tomorrow", 0, "2026-03-04T17:20")).runs


@pytest.mark.req("D-07")
@pytest.mark.parametrize("text", ["tomorrow", "tomorrow then", "okay, tomorrow"])
def test_another_day_in_place_of_a_time_puts_the_day_right(text: str) -> None:
    asked = (
        SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True),
        SlotSpec("time", SlotKind.TIME, "What time?", is_future=True),
    )
    talker = talk(Collect("day", "day"), Collect("time", "time"), PerformAction("book", "book"), slots=asked)
    for said in ("today at three pm", text):
        talker.happen(UserSaid(said, 0, "2026-03-04T17:20"))
    assert talker.said == "Got it, I've updated your day to March 5. What time?"
    assert talker.happen(UserSaid("three pm", 0, "2026-03-04T17:20")).runs


# -- Values as people say them


@pytest.mark.parametrize(
    ("value", "words"),
    {"PT30M": "30 minutes", "PT1H30M": "1 hour and 30 minutes", "P2D": "2 days", "P1W": "1 week", "PT": "PT"}.items(),
)
def test_a_duration_is_said_in_words(value: str, words: str) -> None:
    assert spoken(value) == words


def test_an_address_is_spelled_up_to_its_at() -> None:
    assert spelled("anna.k@example.com") == "a n n a . k at example.com"
