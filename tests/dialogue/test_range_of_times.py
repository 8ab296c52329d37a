"""Two times with a "till" between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import number, talk

BEGIN = SlotSpec("begin", SlotKind.TIME, "When did it begin?")
END = SlotSpec("end_time", SlotKind.TIME, "And until when?")


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "they drilled from 9 pm till half past one in the morning"),
        ("en", "9 pm until 2 am or thereabouts"),
        ("de", "die haben von 21 Uhr bis 2 Uhr gebohrt"),
        ("es", "estuvieron de las 21:00 hasta las dos de la mañana"),
    ],
)
def test_only_the_beginning_of_a_range_is_the_answer_and_it_is_repeated(language: str, text: str) -> None:
    talker = talk(Collect("b", "begin"), Collect("n", "note"), slots=(BEGIN, SlotSpec("note", SlotKind.TEXT, "Note?")))
    talker.domain = replace(talker.domain, language=language)
    talker.says(text)
    assert talker.slots == {"begin": "21:00"}
    assert "begin" in talker.said


@pytest.mark.parametrize("text", ["not until four", "until four", "any time till noon", "is it nine till two?"])
def test_an_end_alone_is_no_beginning(text: str) -> None:
    assert talk(Collect("b", "begin"), slots=(BEGIN,)).says(text).slots == {}


def test_the_end_is_the_answer_if_it_was_asked_for() -> None:
    talker = talk(Collect("e", "end_time"), slots=(END,)).says("from nine till 2 pm I think")
    assert talker.slots.get("end_time") != "09:00"


def test_a_number_after_till_is_no_number_of_people() -> None:
    people = number("people")
    talker = talk(Collect("b", "begin"), Collect("p", "people"), slots=(BEGIN, people)).says("from 9 pm until two")
    assert talker.slots == {"begin": "21:00"}


def test_an_unclear_beginning_is_asked() -> None:
    begin = replace(BEGIN, hours=(0, 24))
    talker = talk(Collect("b", "begin"), slots=(begin,)).says("it was loud from about eleven till four in the morning")
    assert (talker.said, talker.slots) == ("Did you mean 11 am or 11 pm?", {})
