"""Replies that give values for several slots."""

from __future__ import annotations

from duologue.dialogue.english.replies_for_several import gives_date_and_time, read_several
from duologue.dialogue.english.reply_context import ReplyContext
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.readings import Question, Slot, SlotKind

DAY, TIME, PEOPLE = Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER)


def values(asked: Slot, others: tuple[Slot, ...], reply: str) -> dict[str, object] | None:
    found = read_several(context(asked, others, reply))
    return None if found is None else {value.slot: value.value for value in found.values}


def context(asked: Slot, others: tuple[Slot, ...], reply: str) -> ReplyContext:
    return ReplyContext(Question(asked, others=others), reply, tokens_of(reply), today_of("2026-03-04T10:00"))


def test_each_value_goes_to_its_slot() -> None:
    said = "two people on friday at eight pm"
    assert values(PEOPLE, (DAY, TIME), said) == {"people": 2, "day": "2026-03-06", "time": "20:00"}


def test_a_preferred_day_of_a_week_is_one_value() -> None:
    assert values(DAY, (TIME,), "sometime next week, ideally tuesday, at 8 pm") == {
        "day": "2026-03-10",
        "time": "20:00",
    }


def test_words_that_arent_understood_and_ambiguous_values_give_none() -> None:
    assert values(PEOPLE, (DAY, TIME), "two people on friday with umbrellas") is None
    assert values(TIME, (DAY,), "next friday at 8 pm") is None


def test_a_day_with_the_time() -> None:
    assert gives_date_and_time(context(TIME, (DAY,), "tomorrow at eight"))
    assert gives_date_and_time(context(TIME, (DAY,), "in an hour"))
    assert not gives_date_and_time(context(TIME, (DAY,), "at eight"))
    assert not gives_date_and_time(context(TIME, (), "tomorrow at eight"))
