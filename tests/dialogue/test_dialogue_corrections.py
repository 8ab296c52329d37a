"""Changes of mind as people say them: what they change is what was meant, and never another slot (D-07)."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Json, NameList, SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import Talker, talk

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
def test_no_and_a_name_right_after_another_name_puts_that_one_right(text: str) -> None:
    # Once: "no, New York" after Boston was the destination, and the wrong origin stayed.
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
def test_what_is_to_be_changed_is_asked_for_again(text: str) -> None:
    # Once: "change the origin" was not understood, and the next city went to the open question.
    talker = trip().says("boston", "chicago", text)
    assert talker.said == "From where?"
    assert talker.says("denver").slots == {"origin": "Denver", "destination": "Chicago"}
    assert talker.said == "Which day?"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "text", ["Boston, no, New York", "boston no wait new york", "boston i mean new york", "actually New York"]
)
def test_an_answer_may_have_a_turn_in_it(text: str) -> None:
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
    # Once: "the time is eight" was eight people, because time is a word that carries nothing.
    assert table().says(text).slots == slots


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["my name is five", "the time is late", "at eight sharp or so"])
def test_what_is_said_of_another_slot_never_answers_this_one(text: str) -> None:
    assert table().says(text).slots == {}


def test_at_eight_counts_nobody_even_when_the_time_is_known() -> None:
    talker = table().says("the time is nine", "at eight")
    assert talker.slots == {"time": "21:00"}


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
    # Once: "change the time to eight" booked for eight people.
    talker = table().says("four", "tomorrow", "7 pm", "Smith")
    assert talker.phase == "confirming"
    before = dict(talker.slots)
    assert talker.says(text).slots == {**before, **changed}
    assert talker.phase == "confirming"


def test_a_name_that_two_slots_share_is_the_name_of_neither() -> None:
    leave = SlotSpec("leave_date", SlotKind.DATE, "When?")
    back = SlotSpec("return_date", SlotKind.DATE, "And back?")
    asked = Collect("a", "leave_date"), Collect("b", "return_date"), Collect("c", "people")
    talker = talk(*asked, slots=(leave, back, PEOPLE))
    talker.says("tomorrow", "december 9", "change the date to december 20")
    assert talker.asked_nlu
    assert talker.means().says("change the return date to december 20").slots["return_date"] == "2025-12-20"


@pytest.mark.req("D-04")
def test_a_choice_of_another_slot_is_no_name() -> None:
    # Once: "in the garden", after the place was settled, was the name of the guest.
    place = SlotSpec(
        "place", SlotKind.CHOICE, "Where?", choices=(Choice("inside"), Choice("garden", ("in the garden",)))
    )
    talker = talk(Collect("a", "place"), Collect("b", "guest"), slots=(place, GUEST)).says("inside", "in the garden")
    assert (talker.slots, talker.asked_nlu) == ({"place": "inside"}, True)


@pytest.mark.req("D-07")
def test_what_was_given_unasked_is_put_right_like_an_answer() -> None:
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
    # Once: it was a new customer number, because that is what had been answered last.
    assert meter().says(text).slots == {"customer": "100455", "reading": 24311}


@pytest.mark.req("D-07")
def test_a_turn_after_a_miss_is_about_the_question_that_was_missed() -> None:
    talker = meter().says("it says two or so").means().says("I mean 23412")
    assert talker.slots == {"customer": "100455", "reading": 23412}


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize("text", ["no, six would be better", "make it six", "could we do six instead?"])
def test_a_change_that_two_slots_may_mean_changes_neither(text: str) -> None:
    # Once: six people came, and not at six.
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
def test_whoever_says_which_of_the_two_was_meant_has_it_changed(text: str, slot: str, value: object) -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", "no, make it six", text)
    assert talker.slots[slot] == value
    assert talker.phase == "confirming"


def test_a_slot_that_is_named_for_no_reason_changes_nothing() -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", "hold on", "the time")
    assert talker.slots["time"] == "19:00"
    assert talker.means().phase == "confirming"


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    "text", ["could we do nine pm instead?", "can I come at nine pm instead, please", "9 pm instead"]
)
def test_whoever_asks_for_something_instead_gets_it(text: str) -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", text)
    assert talker.slots["time"] == "21:00"
    assert talker.phase == "confirming"


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("text", "length"), {"make that four": "P4D", "no, a week": "P1W", "no, 4 people": "P3D"}.items()
)
def test_a_length_is_put_right_in_its_own_unit(text: str, length: str) -> None:
    longer = SlotSpec("longer", SlotKind.DURATION, "How much longer?")
    talker = talk(Collect("a", "longer"), Confirm("sure", "{longer} longer?"), slots=(longer,)).says("three days", text)
    assert talker.slots == {"longer": length}


@pytest.mark.req("D-07")
def test_an_amount_is_put_right_in_its_own_currency() -> None:
    cost = SlotSpec("cost", SlotKind.MONEY, "How much?")
    talker = talk(Collect("a", "cost"), Confirm("sure", "{cost}?"), slots=(cost,)).says("90 euros", "no, make it 95")
    assert talker.slots == {"cost": {"amount": 95, "currency": "EUR"}}


@pytest.mark.req("D-07")
def test_a_change_of_mind_may_be_announced() -> None:
    talker = trip().says("boston", "chicago", "I changed my mind, Denver")
    assert talker.slots == {"origin": "Boston", "destination": "Denver"}


@pytest.mark.req("D-04")
def test_a_yes_counts_beside_another_value_that_is_named() -> None:
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
        ("12 am", "no, at 6 o'clock", "00:00"),  # neither is near: it stays
    ],
)
def test_a_time_is_put_right_in_its_half_of_the_day(first: str, text: str, time: str) -> None:
    whenever = SlotSpec("time", SlotKind.TIME, "What time?", hours=(0, 24))
    talker = talk(Collect("a", "time"), Confirm("sure", "At {time}?"), slots=(whenever,)).says(first, text)
    assert talker.slots == {"time": time}


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("text", "place"),
    {
        "um, from the station please": "the station",
        "at the corner of Park Street and 5th.": "at the corner of Park Street and 5th.",
        "please ring twice": "please ring twice",
    }.items(),
)
def test_free_text_is_kept_without_its_frame(text: str, place: str) -> None:
    # Once: "From from the station please to …".
    start = SlotSpec("from_where", SlotKind.TEXT, "Where shall we pick you up?")
    talker = talk(Collect("a", "from_where"), Collect("b", "people"), slots=(start, PEOPLE)).says(text)
    assert (talker.means() if talker.asked_nlu else talker).slots == {"from_where": place}


@pytest.mark.req("D-07")
def test_two_changes_by_name_are_both_made() -> None:
    talker = table().says("four", "tomorrow", "7 pm", "Smith", "change the guests to five and the time to 8 pm")
    assert (talker.slots["people"], talker.slots["time"]) == (5, "20:00")
    talker.says("no, the name should be Smith and Sons")
    assert talker.slots["guest"] == "Smith and Sons"


@pytest.mark.req("D-05")
def test_thanks_are_no_free_text() -> None:
    note = SlotSpec("note", SlotKind.TEXT, "Anything else?", is_optional=True)
    talker = talk(Collect("a", "note"), Collect("b", "people"), slots=(note, PEOPLE)).says("thank you").means()
    assert talker.slots == {}


@pytest.mark.req("D-07")
@pytest.mark.parametrize(("text", "answer"), {"no I haven't": False, "no, I did not": False}.items())
def test_a_no_to_the_second_of_two_questions_is_not_about_the_first(text: str, answer: bool) -> None:
    # Once: "no I haven't" was taken for the answer of before, put right.
    hurt = SlotSpec("hurt", SlotKind.YES_NO, "Was anybody hurt?")
    called = SlotSpec("called", SlotKind.YES_NO, "Have you called the police?")
    asked = Collect("a", "hurt"), Collect("b", "called"), Collect("c", "people")
    talker = talk(*asked, slots=(hurt, called, PEOPLE)).says("yes", text)
    assert talker.slots == {"hurt": True, "called": answer}
