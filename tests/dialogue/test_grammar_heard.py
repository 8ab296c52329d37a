"""What callers said of cars, cards, meters and courses, and what it was once taken for."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.dialogue.english import (
    ANY,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Question,
    Slot,
    SlotKind,
    SpokenCommand,
    read,
    read_parts,
)
from duologue.dialogue.english.commands import repeats
from duologue.dialogue.english.embedded_values import is_all_values, read_first
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.english.yes_no import opening_answer
from tests.dialogue.grammar_replies import WEDNESDAY, ask, named, one_of, said

DAY, TIME, PHONE = Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("phone", SlotKind.PHONE)


def values(asked: Slot, reply: str, *others: Slot) -> dict[str, Any]:
    reading = read(Question(asked, others=others), reply, WEDNESDAY)
    return {value.slot: value.value for value in reading.values} if isinstance(reading, Direct) else {}


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "on Sunday": "2026-03-01",  # once: the one to come
        "this Monday": "2026-03-02",
        "Monday last week": "2026-02-23",
        "last week Monday": "2026-02-23",  # once: the Monday to come
        "last night": "2026-03-03",
        "this morning": "2026-03-04",
        "on Wednesday": ["2026-03-04", "2026-02-25"],
    }.items(),
)
def test_a_day_on_which_something_happened_lies_behind(reply: str, day: str | list[str]) -> None:
    assert said(ask(SlotKind.DATE, "When did it happen?", is_past=True), reply) == day


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day", "time"),
    [
        ("tonight at eight", "2026-03-04", "20:00"),
        ("this evening at 8", "2026-03-04", "20:00"),
        ("tomorrow evening at 8", "2026-03-05", "20:00"),
        ("at eight tonight", "2026-03-04", "20:00"),
    ],
)
def test_a_day_and_an_hour_that_share_a_word_are_both_taken(reply: str, day: str, time: str) -> None:
    # Once: whichever was asked for, the other one was lost.
    assert values(DAY, reply, TIME) == {"day": day, "time": time}
    assert values(TIME, reply, DAY) == {"day": day, "time": time}
    assert said(ask(SlotKind.TIME), reply) == time


@pytest.mark.req("D-04")
@pytest.mark.parametrize(("reply", "time"), {"9ish": "09:00", "about nineish": "09:00", "ten-ish": "10:00"}.items())
def test_an_hour_may_be_told_roughly(reply: str, time: str) -> None:
    assert said(ask(SlotKind.TIME, hours=(7, 19)), reply) == time


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        (SlotKind.MONEY, "two months"),  # once: an amount of two
        (SlotKind.MONEY, "three people"),
        (SlotKind.DURATION, "in twenty minutes"),  # once: twenty minutes long
        (SlotKind.DURATION, "two days ago"),
        (SlotKind.NAME, "anna@example.com"),  # once: a name
        (SlotKind.NAME, "0171 5551234"),
    ],
)
def test_what_is_of_another_kind_is_no_answer(kind: SlotKind, reply: str) -> None:
    assert said(ask(kind, "What is your name?"), reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["from the airport", "at the airport please", "the airport", "uh, the airport then"])
def test_a_listed_name_may_be_an_ordinary_word(reply: str) -> None:
    assert said(named("Airport", "Harbour Street", is_open=False), reply) == "Airport"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "address"),
    {
        "no, it's sven dot o at gym dot se": "sven.o@gym.se",  # once: noitssven.0@gym.se
        "anna oh seven at example dot com": "anna07@example.com",
        "will dot smith at example dot com": "will.smith@example.com",
        "you can send it to anna at example dot com": None,  # once: youcansendittoanna@example.com
        "it should be anna at example dot com": None,
    }.items(),
)
def test_no_word_of_a_sentence_is_part_of_an_address(reply: str, address: str | None) -> None:
    assert said(ask(SlotKind.EMAIL, "What is your email address?"), reply) == address


@pytest.mark.parametrize(
    ("text", "are"),
    {
        "Friday at 7": True,
        "tomorrow till Friday": True,
        "on the weekend": True,
        "I'd say about 90 a month": True,
        "I need a car for the weekend": False,  # once: nothing but a day
        "are you open on Saturdays": False,
        "anything": False,
    }.items(),
)
def test_days_and_amounts_alone_ask_for_no_task(text: str, are: bool) -> None:
    assert is_all_values(text, WEDNESDAY) is are


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "count"),
    {"none": 0, "no kids": 0, "no children, thanks": 0, "no, two": 2, "no idea": None, "one two": None}.items(),
)
def test_of_what_is_counted_there_may_be_none(reply: str, count: int | None) -> None:
    assert said(ask(SlotKind.NUMBER, "And how many children?", "children"), reply) == count
    assert said(ask(SlotKind.NUMBER, "How many suitcases?", "luggage", may_be_any=True), "no bags") == 0


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "number"),
    {
        "two three four one one": 23411,
        "it's 2 3 4, 1 1": 23411,
        "23411 point 5": 23411.5,
        "two point five": 2.5,
        "two, three, four, five": None,
        "twenty three something": None,  # once: 23
    }.items(),
)
def test_a_meter_is_read_out_as_people_do(reply: str, number: float | None) -> None:
    assert said(ask(SlotKind.NUMBER, "What does the meter say?", "reading"), reply) == number


@pytest.mark.req("D-04")
def test_another_day_is_a_length_only_where_more_is_asked_for() -> None:
    longer = ask(SlotKind.DURATION, "How much longer do you need the car?")
    assert said(longer, "another two days") == "P2D"
    assert said(longer, "just another week") == "P1W"
    assert said(ask(SlotKind.DURATION, "For how long?"), "another week") is None


@pytest.mark.req("D-05")
def test_whoever_does_not_mind_has_no_need() -> None:
    # Once: "I don't mind", after "do you need an automatic?", was a yes.
    assert said(ask(SlotKind.YES_NO, "Do you need an automatic?"), "I don't mind") is None
    assert said(ask(SlotKind.YES_NO, "Is a shared ride all right?"), "I don't mind") is True


@pytest.mark.req("D-05")
def test_tickets_are_not_adults_where_children_count_apart() -> None:
    adults, children = Slot("adults", SlotKind.NUMBER), Slot("children", SlotKind.NUMBER)
    assert values(DAY, "two tickets for Friday", adults, children) == {}
    assert values(DAY, "two adults on Friday", adults, children) == {"adults": 2, "day": "2026-03-06"}


@pytest.mark.req("D-04")
def test_child_seats_are_no_children() -> None:
    drivers, seats = Slot("drivers", SlotKind.NUMBER), Slot("child_seats", SlotKind.NUMBER)
    asked = Question(drivers, "How many people will drive?", others=(seats,))
    assert said(asked, "just me and my husband") == 2


@pytest.mark.req("D-05")
def test_a_second_number_makes_the_first_one_doubtful() -> None:
    # Once: "two months, maybe three" were two.
    slots = (Slot("length", SlotKind.DURATION),)
    assert read_parts(slots, "two months, maybe three", WEDNESDAY) == ()
    assert read_parts(slots, "two months because I am away", WEDNESDAY)[0].value == "P2M"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "answer"),
    {
        "no, it's short": False,
        "no it's rather short": False,
        "yes, they came": True,
        "yes please, as soon as possible": True,
        "no idea": None,
        "no, I don't know": None,
        "yes, but only on Mondays": None,
        "yes, maybe": None,
        "no, what is that": None,
        "they came": None,
    }.items(),
)
def test_a_yes_or_no_that_is_explained_is_said_first(reply: str, answer: bool | None) -> None:
    assert opening_answer(tokens_of(reply)) is answer


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("reply", "count"),
    {
        "one, for the baby": 1,
        "two, our neighbour comes along": 2,
        "one, maybe two": None,
        "one, no, two": None,
        "two, is that possible": None,
        "for the baby": None,
    }.items(),
)
def test_a_bare_number_may_be_explained_behind_a_pause(reply: str, count: int | None) -> None:
    asked = ask(SlotKind.NUMBER, "How many child seats do you need?", "child_seats")
    value = read_first(asked, reply, WEDNESDAY)
    assert (value.value if value is not None else None) == count


@pytest.mark.req("D-04")
def test_a_listed_place_is_heard_beside_other_values() -> None:
    places = named("Airport", "Harbour Street", is_open=False).slot
    assert values(places, "airport tomorrow at ten", DAY, TIME) == {
        "place": "Airport",
        "day": "2026-03-05",
        "time": "10:00",
    }
    assert values(TIME, "ten at the airport hotel", places) == {"time": "10:00"}


@pytest.mark.req("D-04")
def test_the_number_of_people_may_be_told_with_who_they_are() -> None:
    asked = ask(SlotKind.NUMBER, "How many people will drive?", "drivers")
    assert said(asked, "two, my wife and me") == 2
    assert said(asked, "three, my wife and me") is None


@pytest.mark.req("D-05")
def test_getting_fit_is_no_yes() -> None:
    # Once: what somebody wanted to achieve ordered a trainer.
    trainer = ask(SlotKind.YES_NO, "Would you like a personal trainer?")
    assert said(trainer, "get fit") is None
    assert said(trainer, "that would be great") is True


@pytest.mark.req("D-04")
def test_a_name_that_is_said_twice_is_taken_once() -> None:
    asked = ask(SlotKind.NAME, "What is your full name?", "member")
    assert said(asked, "it's Lisa, Lisa Marie Brown") == "Lisa Marie Brown"
    assert said(asked, "Bond, James Bond") == "James Bond"


@pytest.mark.req("D-04")
def test_the_day_before_yesterday_is_a_day() -> None:
    assert said(ask(SlotKind.DATE, is_past=True), "the day before yesterday") == "2026-03-02"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "ends"),
    {
        "from Monday to Friday": ("2026-03-09", "2026-03-13"),  # once: the Friday before that Monday
        "from Monday to Wednesday": ("2026-03-09", "2026-03-11"),  # once: it was asked which, today or in a week
        "from the 28th until the 2nd": ("2026-03-28", "2026-04-02"),
    }.items(),
)
@pytest.mark.parametrize("names", [("first_day", "last_day"), ("pickup_date", "return_date"), ("arrival", "departure")])
def test_the_end_of_a_time_is_not_before_its_beginning(
    reply: str, ends: tuple[str, str], names: tuple[str, str]
) -> None:
    first, last = (Slot(name, SlotKind.DATE) for name in names)
    assert values(first, reply, last) == dict(zip(names, ends, strict=True))
    told = read_parts((first, last), f"she has a bad cold {reply}", WEDNESDAY)
    assert told[0].value == ends[0]
    assert told[1:] == () or told[1].value == ends[1]


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "day"),
    {
        "on Monday": "2026-03-23",  # once: March 9, before the car was there
        "the 5th": "2026-04-05",
        "Friday": ["2026-03-20", "2026-03-27"],
        "March 24": "2026-03-24",
    }.items(),
)
def test_a_day_of_return_comes_after_the_day_that_was_given_before(reply: str, day: str | list[str]) -> None:
    assert (
        said(ask(SlotKind.DATE, "When will you bring it back?", "return_date", since="2026-03-20", stays=True), reply)
        == day
    )


@pytest.mark.req("D-04")
def test_a_choice_may_be_called_like_a_command() -> None:
    # Once: "back, please", after "front, middle or back?", took an answer back.
    rows = one_of("front", "middle", "back")
    assert said(rows, "back, please") == "back"
    assert said(rows, "the back") == "back"
    assert read(rows, "go back", WEDNESDAY) == SpokenCommand("back")
    assert read(one_of("front", "middle"), "back", WEDNESDAY) == SpokenCommand("back")


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["no we don't need any", "no, I don't want any", "no, sorry", "sorry, no"])
def test_a_no_may_apologise_and_refuse_any(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Do you need 3D glasses?", "glasses"), reply) is False


@pytest.mark.req("D-05")
def test_what_looks_like_a_class_is_no_name() -> None:
    assert said(ask(SlotKind.NAME, "What is your child's name?", "child"), "2b") is None


@pytest.mark.req("D-04")
def test_am_is_a_half_of_the_day_and_no_question() -> None:
    asked = Question(TIME, among=("05:30", "17:30"))
    assert said(asked, "am") == "05:30"
    assert said(asked, "pm please") == "17:30"


@pytest.mark.req("D-04")
def test_thousands_may_be_set_apart() -> None:
    meter = ask(SlotKind.NUMBER, "What does the meter say?", "reading")
    assert said(meter, "12 345") == 12345
    assert said(meter, "12 34") is None


@pytest.mark.parametrize("reply", ["whoever is free", "whoever", "oh, whoever's available"])
def test_whoever_is_anybody(reply: str) -> None:
    assert said(ask(SlotKind.NAME, "With whom?", may_be_any=True), reply) == (ANY if "'s" not in reply else None)


NOTE = Slot("note", SlotKind.TEXT, may_be_any=True)


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["no that's all", "nothing else", "no, that's it, thanks"])
def test_who_has_nothing_to_add_leaves_it_open(reply: str) -> None:
    asked = Question(NOTE, "Anything the teacher should know?")
    assert read(asked, reply, WEDNESDAY) == Confirmation(ConfirmationAnswer.NO)


@pytest.mark.req("D-05")
def test_a_number_to_call_at_is_no_free_text_where_one_is_asked_for() -> None:
    assert values(NOTE, "0171 332211", PHONE) == {"phone": "0171332211"}
    assert values(NOTE, "0171 332211") == {"note": "0171 332211"}


@pytest.mark.req("D-04")
def test_the_same_day_is_the_one_that_was_given_before() -> None:
    back = ask(SlotKind.DATE, "When will you bring it back?", "return_date", since="2026-03-20", stays=True)
    assert said(back, "the same day") == "2026-03-20"
    assert said(ask(SlotKind.DATE), "the same day") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["thankfully no", "luckily not", "unfortunately not"])
def test_a_no_may_be_a_relief(reply: str) -> None:
    assert said(ask(SlotKind.YES_NO, "Was anybody hurt?", "injured"), reply) is False


@pytest.mark.req("D-04")
def test_just_for_me_is_one() -> None:
    assert said(ask(SlotKind.NUMBER, "For how many people?", "people"), "just for me") == 1
    assert said(ask(SlotKind.NUMBER, "For how many people?", "people"), "just for me and some friends") is None


@pytest.mark.req("D-05")
def test_people_are_no_child_seats() -> None:
    # Once: "two people" wanted two of them.
    seats = Slot("child_seats", SlotKind.NUMBER)
    assert values(DAY, "2 people on Friday", seats) == {}
    assert values(DAY, "2 people on Friday", Slot("people", SlotKind.NUMBER)) == {"day": "2026-03-06", "people": 2}


def test_a_preposition_takes_up_no_word_of_a_question() -> None:
    # Once: "hold on", after "shall I end it on March 31?", was no "hold on".
    assert not repeats("Shall I end it on March 31?", tokens_of("hold on"))
    assert repeats("Shall I cancel it?", tokens_of("cancel it"))
