"""Corrections as people say them: they change the slot that was meant, and never another one."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Json, NameList, SlotKind
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    SIZE,
    Talker,
    at_amount,
    at_confirmation,
    choice,
    number,
    talk,
)


@pytest.mark.req("D-07")
def test_a_correction_says_so_and_goes_on_with_the_open_question() -> None:
    talker = at_amount().says("change the to to Bob")
    assert talker.said.startswith("Got it, I've updated your to to Bob.")
    assert talker.slots["to"] == "Bob"


@pytest.mark.req("D-07")
def test_what_depends_on_a_corrected_slot_is_asked_again_and_nothing_else() -> None:
    talker = at_confirmation().says("change the to to Bob")
    assert talker.said == "Got it, I've updated your to to Bob. Which account?"
    assert talker.slots == {"to": "Bob", "amount": 50}
    assert talker.says("X Y 3 4").said == "Send 50 to Bob?"


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize("text", ["no, make it sixty", "sixty", "actually sixty", "change the amount to sixty"])
def test_no_make_it_five_works_in_one_turn(text: str) -> None:
    talker = at_confirmation().says(text)
    assert (talker.checks.slot, talker.checks.value) == ("amount", 60)
    assert talker.valid(60).said == "Got it, I've updated your amount to 60. Send 60 to Anna?"


@pytest.mark.req("D-07")
def test_no_make_it_five_works_at_the_next_question() -> None:
    talker = talk(Collect("amount", "amount"), Collect("size", "size"), slots=(AMOUNT, SIZE))
    talker.says("four", "no, make it five")
    assert talker.slots == {"amount": 5}
    assert talker.said == "Got it, I've updated your amount to 5. size?"


@pytest.mark.req("D-07")
def test_a_correction_may_change_the_branch_that_was_taken() -> None:
    talker = at_confirmation().says("make it five hundred").valid(500)
    assert talker.said == "Got it, I've updated your amount to 500. What for?"


@pytest.mark.req("D-05", "D-07")
@pytest.mark.parametrize("text", ["well that is a pity", "it is urgent", "make it quick", "it's for my mother"])
def test_a_remark_does_not_correct_a_name(text: str) -> None:
    # Past bug: "make it quick" sends the money to "quick": an open name reads anything, as free text does.
    assert at_amount().says(text).slots["to"] == "Anna"


@pytest.mark.req("D-07")
@pytest.mark.parametrize("text", ["tomorrow", "tomorrow then", "okay, tomorrow"])
def test_a_new_day_in_answer_to_a_time_question_corrects_the_day(text: str) -> None:
    asked = (
        SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True),
        SlotSpec("time", SlotKind.TIME, "What time?", is_future=True),
    )
    talker = talk(Collect("day", "day"), Collect("time", "time"), PerformAction("book", "book"), slots=asked)
    for said in ("today at three pm", text):
        talker.happen(UserMessage(said, 0, "2026-03-04T17:20"))
    assert talker.said == "Got it, I've updated your day to March 5. What time?"
    assert talker.happen(UserMessage("three pm", 0, "2026-03-04T17:20")).runs


NAME = SlotSpec("guest", SlotKind.NAME, "Which name?", label="name")


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    "text", ["the name is wrong", "that's the wrong name", "no, you got my name wrong", "the name isn't right"]
)
def test_what_is_said_to_be_wrong_is_asked_for_again(text: str) -> None:
    # Past bug: the guest was called Wrong.
    confirm = Confirm("sure", "{amount} for {guest}?")
    talker = talk(Collect("a", "guest"), Collect("b", "amount"), confirm, slots=(NAME, number("amount")))
    assert talker.says("Anna", "five", text).said == "Which name?"
    assert talker.slots == {"amount": 5}
    assert talker.says("Hanna").said == "5 for Hanna?"


def test_an_unfilled_slot_cannot_be_called_wrong() -> None:
    talker = talk(Collect("a", "amount"), Collect("b", "guest"), slots=(NAME, number("amount")))
    assert talker.says("the name is wrong").asked_nlu


CITIES = NameList.of(("Boston", "Chicago", "Denver", "New York"))
FROM = SlotSpec("origin", SlotKind.NAME, "From where?", names=CITIES)
TO = SlotSpec("destination", SlotKind.NAME, "Where to?", names=CITIES)
PEOPLE = SlotSpec("people", SlotKind.NUMBER, "How many?", label="number of guests")
DAY = SlotSpec("visit_day", SlotKind.DATE, "Which day?", prefers="last")
TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(11, 23))
GUEST = SlotSpec("guest", SlotKind.NAME, "Which name?", label="name", ask_before_filling=True)


def trip() -> Talker:
    return talk(Collect("a", "origin"), Collect("b", "destination"), Collect("c", "visit_day"), slots=(FROM, TO, DAY))


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


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("text", "changed"),
    {
        "no wait, make it Denver": {"destination": "Denver"},
        "no, Denver": {"destination": "Denver"},
        "no from Denver": {"origin": "Denver"},
        "actually from New York": {"origin": "New York"},
        "no I want to go to New York": {"destination": "New York"},
        "change the origin to Denver please": {"origin": "Denver"},
        "the destination should be New York": {"destination": "New York"},
        "actually New York not Boston": {"origin": "New York"},
    }.items(),
)
def test_a_change_of_mind_reaches_the_city_that_was_meant(text: str, changed: dict[str, Json]) -> None:
    talker = trip().says("boston", "chicago", text)
    assert talker.slots == {"origin": "Boston", "destination": "Chicago", **changed}
    assert talker.said.endswith("Which day?")


@pytest.mark.req("D-07")
@pytest.mark.parametrize("text", ["no, New York", "no New York", "sorry, New York", "no i mean new york"])
def test_no_and_a_name_right_after_another_name_corrects_it(text: str) -> None:
    # Past bug: "no, New York" after Boston was the destination, and the wrong origin stayed.
    talker = trip().says("boston", text)
    assert talker.slots == {"origin": "New York"}
    assert talker.said.endswith("Where to?")


def test_no_and_a_name_is_the_answer_where_the_question_was_asked_again() -> None:
    talker = trip().says("boston", "hmm").means().says("no, New York")
    assert talker.slots == {"origin": "Boston", "destination": "New York"}


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    "text", ["change the origin", "can I change the origin please", "no, not Boston", "not Boston"]
)
def test_a_change_without_a_value_asks_for_it_again(text: str) -> None:
    # Past bug: "change the origin" was not understood, and the next city went to the open question.
    talker = trip().says("boston", "chicago", text)
    assert talker.said == "From where?"
    assert talker.says("denver").slots == {"origin": "Denver", "destination": "Chicago"}
    assert talker.said == "Which day?"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "text", ["Boston, no, New York", "boston no wait new york", "boston i mean new york", "actually New York"]
)
def test_an_answer_may_correct_itself(text: str) -> None:
    talker = trip().says(text)
    assert (talker.slots, talker.asked_nlu) == ({"origin": "New York"}, False)


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("text", "slots"),
    {
        "the time is eight": {"time": "20:00"},
        "the time should be 8": {"time": "20:00"},
        "the number of guests is eight": {"people": 8},
        "the day is tomorrow": {"visit_day": "2025-12-03"},
    }.items(),
)
def test_a_value_with_a_name_goes_to_the_slot_of_that_name(text: str, slots: dict[str, Json]) -> None:
    # Past bug: "the time is eight" was eight people, because time is a word that carries nothing.
    assert table().says(text).slots == slots


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["my name is five", "the time is late", "at eight sharp or so"])
def test_what_is_said_of_another_slot_never_answers_this_one(text: str) -> None:
    assert table().says(text).slots == {}


def test_at_eight_is_not_a_number_of_people() -> None:
    talker = table().says("the time is nine", "at eight")
    assert talker.slots == {"time": "21:00"}


@pytest.mark.req("D-04")
def test_a_choice_of_another_slot_is_not_a_name() -> None:
    # Past bug: "in the garden", after the place was settled, was the name of the guest.
    place = SlotSpec(
        "place", SlotKind.CHOICE, "Where?", choices=(Choice("inside"), Choice("garden", ("in the garden",)))
    )
    talker = talk(Collect("a", "place"), Collect("b", "guest"), slots=(place, GUEST)).says("inside", "in the garden")
    assert (talker.slots, talker.asked_nlu) == ({"place": "inside"}, True)


@pytest.mark.req("D-07")
def test_a_value_given_unasked_can_be_corrected() -> None:
    talker = table().says("the time is nine", "four", "no wait, make it ten o'clock")
    assert talker.slots == {"time": "22:00", "people": 4}


def test_the_open_question_may_be_answered_as_if_it_were_a_change() -> None:
    assert table().says("change the number of guests to five").slots == {"people": 5}


CUSTOMER = SlotSpec("customer", SlotKind.CODE, "Which number do you have?", label="customer number")
READING = SlotSpec("reading", SlotKind.NUMBER, "What does the meter say?", label="meter reading")


def meter() -> Talker:
    return talk(Collect("a", "customer"), Collect("b", "reading"), slots=(CUSTOMER, READING)).says("100455")


@pytest.mark.req("D-07")
@pytest.mark.parametrize("text", ["wait, the reading is 24311", "no, the meter reading is 24311"])
def test_the_open_question_is_answered_by_its_name(text: str) -> None:
    # Past bug: it was a new customer number, because that is what had been answered last.
    assert meter().says(text).slots == {"customer": "100455", "reading": 24311}


@pytest.mark.req("D-07")
def test_a_correction_after_a_miss_is_about_the_missed_question() -> None:
    talker = meter().says("it is hard to read").means().says("I mean 23412")
    assert talker.slots == {"customer": "100455", "reading": 23412}


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    "text", ["could we do nine pm instead?", "can I come at nine pm instead, please", "9 pm instead"]
)
def test_a_value_with_instead_is_a_correction(text: str) -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", text)
    assert talker.slots["time"] == "21:00"
    assert talker.phase == "confirming"


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("text", "length"), {"make that four": "P4D", "no, a week": "P1W", "no, 4 people": "P3D"}.items()
)
def test_a_duration_is_corrected_in_its_own_unit(text: str, length: str) -> None:
    longer = SlotSpec("longer", SlotKind.DURATION, "How much longer?")
    talker = talk(Collect("a", "longer"), Confirm("sure", "{longer} longer?"), slots=(longer,)).says("three days", text)
    assert talker.slots == {"longer": length}


@pytest.mark.req("D-07")
def test_an_amount_is_corrected_in_its_own_currency() -> None:
    cost = SlotSpec("cost", SlotKind.MONEY, "How much?")
    talker = talk(Collect("a", "cost"), Confirm("sure", "{cost}?"), slots=(cost,)).says("90 euros", "no, make it 95")
    assert talker.slots == {"cost": {"amount": 95, "currency": "EUR"}}


@pytest.mark.req("D-07")
def test_a_change_of_mind_may_be_announced() -> None:
    talker = trip().says("boston", "chicago", "I changed my mind, Denver")
    assert talker.slots == {"origin": "Boston", "destination": "Denver"}


@pytest.mark.req("D-04")
def test_a_yes_counts_next_to_a_named_value() -> None:
    called = SlotSpec("called", SlotKind.YES_NO, "Have you called the police?")
    asked = Collect("a", "called"), Collect("b", "reference"), Collect("c", "people")
    reference = SlotSpec("reference", SlotKind.CODE, "Which reference?")
    talker = talk(*asked, slots=(called, reference, PEOPLE)).says("yes, the reference is 55 A 1")
    assert talker.slots == {"called": True, "reference": "55A1"}


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("first", "text", "time"),
    [
        ("half past four am", "no, at 4 o'clock", "04:00"),
        ("11 am", "make it one o'clock", "13:00"),
    ],
)
def test_a_time_is_corrected_in_its_half_of_the_day(first: str, text: str, time: str) -> None:
    whenever = SlotSpec("time", SlotKind.TIME, "What time?", hours=(0, 24))
    talker = talk(Collect("a", "time"), Confirm("sure", "At {time}?"), slots=(whenever,)).says(first, text)
    assert talker.slots == {"time": time}


@pytest.mark.req("D-07")
def test_two_changes_by_name_are_both_made() -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", "change the guests to five and the time to 8 pm")
    assert (talker.slots["people"], talker.slots["time"]) == (5, "20:00")
    talker.says("no, the name should be Smith and Sons")
    assert talker.slots["guest"] == "Smith and Sons"


@pytest.mark.req("D-07")
@pytest.mark.parametrize(("text", "answer"), {"no I haven't": False, "no, I did not": False}.items())
def test_a_no_to_the_second_of_two_questions_is_not_about_the_first(text: str, answer: bool) -> None:
    # Past bug: "no I haven't" was taken as a correction of the previous answer.
    hurt = SlotSpec("hurt", SlotKind.YES_NO, "Was anybody hurt?")
    called = SlotSpec("called", SlotKind.YES_NO, "Have you called the police?")
    asked = Collect("a", "hurt"), Collect("b", "called"), Collect("c", "people")
    talker = talk(*asked, slots=(hurt, called, PEOPLE)).says("yes", text)
    assert talker.slots == {"hurt": True, "called": answer}


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (SlotKind.DATE, "yesterday, no sorry, the day before", "2025-11-30"),
        (SlotKind.DATE, "on Monday, or no, the day before", "2025-11-30"),
        (SlotKind.MONEY, "forty quid I think, or no, let's make it sixty", {"amount": 60, "currency": "GBP"}),
        (SlotKind.NUMBER, "four, wait, make that six", 6),
    ],
)
def test_an_answer_that_corrects_itself_gives_the_last_value(kind: SlotKind, text: str, value: Json) -> None:
    spec = SlotSpec("it", kind, "What is it?", is_past=kind is SlotKind.DATE)
    assert talk(Collect("a", "it"), Collect("b", "people"), slots=(spec, PEOPLE)).says(text).slots["it"] == value


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("text", "changed"),
    {"make it four days": {"days": 4}, "no, five helmets": {"helmets": 5}, "make it two weeks": {"days": 14}}.items(),
)
def test_what_is_counted_chooses_the_slot_that_changes(text: str, changed: dict[str, int]) -> None:
    slots = number("bikes"), number("days"), number("helmets")
    asked = [Collect(name, name) for name in ("bikes", "days", "helmets")]
    talker = talk(*asked, Confirm("sure", "{bikes}, {days}, {helmets}?"), slots=slots).says("1", "3", "2", text)
    assert talker.slots == {"bikes": 1, "days": 3, "helmets": 2} | changed


def test_an_ordinal_that_may_be_a_day_is_no_position_in_a_list() -> None:
    kind = choice("kind", "tent", "caravan", "van")
    day = SlotSpec("day", SlotKind.DATE, "Which day?", prefers="first")
    steps = (Collect("kind", "kind"), Collect("day", "day"), Confirm("ok", "{kind}, {day}?"))
    talker = talk(*steps, slots=(kind, day)).says("caravan", "the 4th of December")
    assert talker.says("sorry, I meant the third, not the fourth").slots == {"kind": "caravan", "day": "2025-12-03"}
    talker.says("no, the second, not the third")
    assert talker.slots["kind"] == "caravan"


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("about nine, no, I tell a lie, it was nearer ten", "10:00"),
        ("eleven, no, it's more like twelve", "12:00"),
        ("perhaps nine, strike that, eleven", "11:00"),
    ],
)
def test_an_answer_may_be_corrected_in_the_same_breath(text: str, hour: str) -> None:
    time = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
    assert talk(Collect("t", "time"), slots=(time,)).says(text).slots == {"time": hour}


@pytest.mark.req("D-07")
def test_the_digits_of_a_phone_number_correct_no_count() -> None:
    phone = SlotSpec("phone", SlotKind.PHONE, "Your number?")
    talker = talk(Collect("n", "amount"), Collect("p", "phone"), slots=(AMOUNT, phone)).says("four")
    talker.says("it's my aunt's phone oh double two one three four five six")
    assert talker.slots["amount"] == 4


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    "text", ["could your colleague pass by at eight pm instead", "can they bring it at eight pm instead of seven"]
)
def test_a_request_with_an_instead_changes_a_value(text: str) -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", text)
    assert talker.slots["time"] == "20:00"
    assert talker.phase == "confirming"
