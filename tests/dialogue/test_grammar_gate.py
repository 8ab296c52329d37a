"""The gate: what is taken from a reply, and what goes on to NLU (D-04, D-05)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import (
    Choice,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    NameList,
    Question,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Why,
    read,
)
from duologue.dialogue.english.commands import COMMANDS
from tests.dialogue.grammar_replies import WEDNESDAY, ask, named, said

TIME = ask(SlotKind.TIME, "What time shall I book the court for?", "court_time")


def why(question: Question, reply: str) -> Why:
    reading = read(question, reply, WEDNESDAY)
    assert isinstance(reading, Unclear), reading
    return reading.why


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "reply",
    [
        "8 pm",
        "please book it for 8 pm",
        "I was thinking about 8 pm maybe",
        "could you reserve the court for 8 pm?",
        "How about 8 pm?",
        "8 pm would be wonderful, thanks",
        "yes, 8 pm works best for me",
        "I'd like to practise at 8 pm",
        "We're exercising at 8 pm",
    ],
)
def test_carriers_the_question_and_verbs_are_explained(reply: str) -> None:
    assert said(TIME, reply) == "20:00"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "reason"),
    {
        "actually, 8 pm": Why.MARKER,
        "change it to 8 pm": Why.MARKER,
        "8 pm and also a racket": Why.MARKER,
        "not 8 pm": Why.NEGATED,
        "I can't do 8 pm": Why.NEGATED,
        "is 8 pm the last one": Why.QUESTION,
        "do you have rackets at 8 pm": Why.QUESTION,
        "8 pm. what does it cost?": Why.QUESTION,
        "8 pm with a trainer": Why.LEFTOVER,
        "8 pm tomorrow": Why.LEFTOVER,
        "8 pm for two people": Why.LEFTOVER,
        "8 pm or 9 pm": Why.SEVERAL,
        "I don't know yet": Why.NEGATED,
        "my racket is broken": Why.LEFTOVER,
        "well, let me see": Why.NO_VALUE,
        "yes, that's right": Why.NOTHING_PROPOSED,
        "": Why.EMPTY,
        "…": Why.EMPTY,
        "8 pm " * 200: Why.LONG,
    }.items(),
)
def test_what_isnt_plain_says_why(reply: str, reason: Why) -> None:
    assert why(TIME, reply) is reason


def test_leftover_words_are_told() -> None:
    reading = read(TIME, "8 pm with a trainer", WEDNESDAY)
    assert reading == Unclear(Why.LEFTOVER, ("trainer",))


@pytest.mark.req("D-05")
def test_a_word_of_another_slot_is_never_a_carrier() -> None:
    area = Slot("area", SlotKind.NAME, names=NameList.of(["Paris", "Lyon"]))
    intent = Slot("intent", SlotKind.CHOICE, choices=(Choice("rent"), Choice("buy")))
    assert said(Question(area, "Which area?"), "I want to rent a place in Lyon") == "Lyon"
    reading = read(Question(area, "Which area?", others=(intent,)), "I want to rent a place in Lyon", WEDNESDAY)
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == {"intent": "rent", "area": "Lyon"}


def test_yes_and_then_something_else_is_two_answers() -> None:
    question = named("Paris", "Lyon")
    assert said(question, "Yes. Lyon please.") == "Lyon"
    assert said(question, "Yes, that works. I'd like the one in Lyon.") is None


def test_one_may_be_a_thing_or_a_count() -> None:
    court = named("Lyon", "Paris")
    assert said(court, "find a good one in Lyon") == "Lyon"
    assert said(court, "a table for one in Lyon") is None


@pytest.mark.req("D-04")
def test_a_plain_no_to_a_proposed_value() -> None:
    question = Question(Slot("day", SlotKind.DATE), "Shall I take Friday?", proposed="2026-03-06")
    assert read(question, "no, thank you", WEDNESDAY) == Confirmation(ConfirmationAnswer.NO)
    assert said(question, "not before Easter") is None


# -- Several slots in one reply

PARTY = Slot("people", SlotKind.NUMBER)
DAY = Slot("day", SlotKind.DATE)
AT = Slot("time", SlotKind.TIME)
STAY = (Slot("check_in_date", SlotKind.DATE), Slot("check_out_date", SlotKind.DATE))
TRIP = (
    Slot("from_city", SlotKind.NAME, names=NameList.of(["Paris", "Lyon", "Nice"])),
    Slot("to_city", SlotKind.NAME, names=NameList.of(["Paris", "Lyon", "Nice"])),
)


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("asked", "others", "reply", "values"),
    [
        (PARTY, (DAY, AT), "two people on Friday at eight pm", {"people": 2, "day": "2026-03-06", "time": "20:00"}),
        (DAY, (PARTY, AT), "tomorrow for 4, please", {"day": "2026-03-05", "people": 4}),
        (AT, (PARTY, DAY), "a table for two at 8 pm", {"people": 2, "time": "20:00"}),
        (TRIP[0], TRIP[1:], "from Paris to Nice", {"from_city": "Paris", "to_city": "Nice"}),
        (TRIP[1], TRIP[:1], "I'm leaving from Lyon", {"from_city": "Lyon"}),
        (
            Slot("rooms", SlotKind.NUMBER),
            (Slot("nights", SlotKind.NUMBER),),
            "two rooms for three nights",
            {"rooms": 2, "nights": 3},
        ),
    ],
)
def test_several_slots_are_taken_if_all_is_understood(
    asked: Slot, others: tuple[Slot, ...], reply: str, values: dict[str, object]
) -> None:
    reading = read(Question(asked, others=others), reply, WEDNESDAY)
    assert isinstance(reading, Direct), reading
    assert {value.slot: value.value for value in reading.values} == values
    assert all(reply[slice(*value.span)] == value.raw for value in reading.values)


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("asked", "others", "reply"),
    [
        (PARTY, (DAY, AT), "two people on Friday near the window"),
        (PARTY, (DAY, AT), "two people on Friday at half past six"),
        (PARTY, (DAY, AT), "two people, not on Friday"),
        (TRIP[0], TRIP[1:], "Paris and Nice"),
        (STAY[0], STAY[1:], "Friday and Saturday"),
        (Slot("adults", SlotKind.NUMBER), (Slot("children", SlotKind.NUMBER),), "two and three"),
    ],
)
def test_several_slots_are_handed_on_if_anything_isnt_sure(asked: Slot, others: tuple[Slot, ...], reply: str) -> None:
    assert isinstance(read(Question(asked, others=others), reply, WEDNESDAY), Unclear)


# -- Commands


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "cancel": "cancel",
        "Never mind.": "cancel",
        "uh, go back please": "back",
        "repeat that": "repeat",
        "Sorry, what?": "repeat",
        "Could you say that again, please?": "repeat",
        "skip this one": "skip",
        "help": "help",
        "what can I say?": "help",
        "I'd like to talk to a person": "person",
        "agent!": "person",
        "start over": "restart",
    }.items(),
)
@pytest.mark.parametrize("kind", [SlotKind.TIME, SlotKind.NAME, SlotKind.TEXT, SlotKind.YES_NO, SlotKind.CODE])
def test_a_command_as_the_whole_reply_is_no_value(reply: str, name: str, kind: SlotKind) -> None:
    assert read(ask(kind, "And then?"), reply, WEDNESDAY) == SpokenCommand(name)


@pytest.mark.parametrize("reply", ["cancel the 8 pm one", "go back to the blue one", "help my brother"])
def test_a_command_with_more_to_it_is_for_nlu(reply: str) -> None:
    assert isinstance(read(TIME, reply, WEDNESDAY), Unclear)


def test_commands_are_written_as_they_are_compared() -> None:
    assert all(word == word.casefold() and word for words in COMMANDS for word in words)
