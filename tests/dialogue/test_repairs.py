"""Flows of the author for what every flow meets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.effects import HandOver
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, Domain, SayText, SlotSpec
from duologue.lab.check.dialogue.domains import SIZE, domain, flow
from tests.dialogue.dialogue_flows import Talker

CODE = SlotSpec("code", SlotKind.CODE, "Your code?", reads_back=True)
PERSON = SlotSpec("person", SlotKind.YES_NO, "Do you want a person?")


def shop(**repairs: str) -> Domain:
    return replace(
        domain(
            flow("buy", Collect("size", "size"), Collect("code", "code"), Confirm("sure", "{size}?")),
            flow("words", SayText("words", "It's about {size}."), hidden=True),
            flow("asks", Collect("person", "person"), SayText("then", "Fine."), hidden=True),
            flow("really", Confirm("really", "Really?"), hidden=True),
            flow("changed", SayText("changed", "{slot} is now {value}."), hidden=True),
            slots=(SIZE, CODE, PERSON),
        ),
        repairs=repairs,
        misses_max=2,
        tries_max=4,
    )


def buying(*texts: str, **repairs: str) -> Talker:
    return Talker(shop(**repairs)).starts("buy").says(*texts)


@pytest.mark.req("D-05")
def test_a_flow_of_the_author_replaces_the_apology_and_the_tries_stay_counted() -> None:
    talker = buying(no_match="words").says("").says("")
    assert talker.said == "It's about . Which size?"
    assert talker.state.misses == 2
    assert talker.says("").said == "I'm sorry, I could not get that. Let's leave it here."


def test_a_repair_may_ask_and_the_open_question_returns() -> None:
    talker = buying("", no_match="asks")
    assert talker.said == "Do you want a person?"
    assert talker.says("no").said == "Fine. Which size?"
    assert talker.state.tries == 1


def test_a_reply_to_the_question_before_is_taken_as_such() -> None:
    talker = buying("", "large", no_match="asks")
    assert talker.slots["size"] == "large"
    assert talker.said == "Your code?"


def test_what_a_repair_has_asked_is_kept_if_a_reply_leaves_the_repair() -> None:
    room = SlotSpec("room", SlotKind.TEXT, "Which room?")
    inquires = flow("inquires", Collect("person", "person"), Collect("room", "room"), hidden=True)
    desk = replace(
        domain(
            flow("buy", Collect("code", "code"), Collect("size", "size"), Confirm("sure", "{size}, {code}?")),
            inquires,
            slots=(SIZE, replace(CODE, reads_back=False), PERSON, replace(room, kind=SlotKind.NUMBER)),
        ),
        repairs={"no_match": "inquires"},
        misses_max=3,
        tries_max=6,
    )
    talker = Talker(desk).starts("buy").says("k 4 4 1 7").says("").says("no")
    assert talker.said == "Which room?"
    talker.says("large")
    assert talker.slots["size"] == "large"
    assert {name: filled.value for name, filled in talker.state.kept} == {"person": False, "code": "K4417"}


def test_silence_has_its_own_flow() -> None:
    assert buying(no_input="words").silence().said == "It's about . Which size?"


@pytest.mark.req("D-05")
def test_a_flow_before_a_cancellation_may_prevent_it() -> None:
    talker = buying("large", "cancel", cancel="really")
    assert talker.said == "Really?"
    assert talker.says("no").said == "Your code?"
    assert talker.says("cancel", "yes").said == "All right, let's leave it."
    assert talker.phase == "idle"
    assert buying("cancel", "cancel", cancel="really").phase == "idle"


def test_help_and_a_person() -> None:
    assert buying("large", "help", help="words").said == "It's about large. Your code?"
    talker = buying("a person please", handoff="really")
    assert talker.said == "Really?"
    assert HandOver() in talker.says("yes").effects


def test_a_correction_is_told_in_the_words_of_the_author() -> None:
    talker = buying("large", "change the size to small", correction="changed")
    assert talker.said == "size is now small. Your code?"


def test_a_code_that_is_read_back_is_never_interrupted() -> None:
    talker = buying("large", "A B 1 2", "help", help="words")
    assert "It's about" not in talker.said
    assert talker.state.reading_back
