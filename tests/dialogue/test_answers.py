"""Replies to a question: plain answers, free text, no thanks, I don't care, ambiguous values."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import (
    ClearSlot,
    Deny,
    Help,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from tests.dialogue.dialogue_flows import (
    COLOUR,
    OTHER,
    SIZE,
    at_amount,
    choice,
    talk,
)


@pytest.mark.req("D-04")
@pytest.mark.parametrize("text", ["fifty", "50", "I'd say fifty, please", "uh, fifty"])
def test_a_plain_answer_needs_no_nlu(text: str) -> None:
    talker = at_amount().says(text)
    assert not talker.asked_nlu
    assert talker.checks.value == 50


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["what are your opening hours?", "first tell me my balance", "Bob is my brother"])
def test_a_message_that_is_not_an_answer_goes_to_nlu(text: str) -> None:
    talker = at_amount().says(text)
    assert talker.phase == "understanding"
    wanted = talker.effects[-1]
    assert isinstance(wanted, Understand)
    assert (wanted.text, wanted.flows, wanted.waiting_for) == (text, ("transfer", "balance", "hours"), "amount")
    assert wanted.question == "How much?"


@pytest.mark.req("D-05")
def test_cancel_at_a_question_goes_through_understanding() -> None:
    talker = at_amount().says("cancel")
    moves = [dict(line.data)["after"] for line in talker.state.trace if line.event == "transition"]
    assert moves[-3:] == ["understanding", "completed", "idle"]


def test_candidates_are_dropped_with_their_question() -> None:
    # Past bug: "Did you mean 6:30 am or 6:30 pm?" is asked for the size: clearing a slot leads back and keeps them.
    hour = SlotSpec("hour", SlotKind.TIME, "When?")
    talker = talk(Collect("size", "size"), Collect("hour", "hour"), slots=(SIZE, hour)).says("small", "half past six")
    assert talker.says(OTHER).means(ClearSlot("size")).said == "size?"


FAULT = SlotSpec("fault", SlotKind.TEXT, "What is wrong?", reprompts=("In a few words?",))
OPTIONAL_PHONE = SlotSpec("phone", SlotKind.PHONE, "And a phone number?", is_optional=True)


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "text", ["it does not turn on", "the connection drops every evening around eight", "yes but it makes a noise"]
)
def test_a_message_that_nlu_does_not_understand_is_free_text(text: str) -> None:
    # Past bug: a text of more than six words, or with a "not" in it, was never an answer, and the flow was given up.
    talker = talk(Collect("a", "fault"), Collect("b", "size"), slots=(FAULT, SIZE)).says(text).means()
    assert (talker.slots, talker.said) == ({"fault": text}, "size?")


@pytest.mark.parametrize("text", ["what do I have to say now", "hmm well", "is it the cable"])
def test_a_question_or_a_hesitation_is_not_free_text(text: str) -> None:
    talker = talk(Collect("a", "fault"), slots=(FAULT,)).says(text).means()
    assert (talker.slots, talker.said) == ({}, "In a few words?")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "text",
    ["no no, I want to return it, not repair it", "No, that's the wrong one", "hang on, it's forty euros in total"],
)
def test_an_objection_is_not_free_text(text: str) -> None:
    talker = talk(Collect("a", "fault"), slots=(FAULT,)).says(text).means()
    assert (talker.slots, talker.said) == ({}, "In a few words?")


@pytest.mark.req("D-04")
@pytest.mark.parametrize("text", ["no internet since the storm", "hang on, the lid is stuck again"])
def test_a_text_that_begins_like_an_objection_is_free_text(text: str) -> None:
    assert talk(Collect("a", "fault"), slots=(FAULT,)).says(text).means().slots == {"fault": text}


def test_a_command_that_nlu_is_sure_of_is_not_free_text() -> None:
    talker = talk(Collect("a", "fault"), slots=(FAULT,)).says("I am lost in here").means(Help())
    assert talker.slots == {}


@pytest.mark.parametrize("text", ["no", "no thanks", "nope, no phone number", "I'd rather not"])
def test_a_no_skips_an_optional_question(text: str) -> None:
    # Past bug: it was not understood, until a person had to take over.
    talker = talk(Collect("a", "phone"), Collect("b", "size"), slots=(OPTIONAL_PHONE, SIZE)).says(text)
    assert (talker.slots, talker.asked_nlu) == ({"phone": ANY}, False)
    assert talker.said == "All right, we'll leave that out. size?"


def test_that_is_wrong_does_not_skip_an_optional_question() -> None:
    # "That's wrong" is about what was said before.
    talker = talk(Collect("a", "phone"), slots=(OPTIONAL_PHONE,)).says("no that's wrong").means(Deny())
    assert (talker.slots, talker.phase) == ({}, "waiting_for_slot")


def test_a_no_does_not_answer_a_required_question() -> None:
    assert talk(Collect("a", "size"), slots=(SIZE,)).says("no").asked_nlu


def test_a_no_to_a_proposed_value_still_asks_for_another() -> None:
    size = choice("size", "small", "large", is_optional=True)
    talker = talk(Collect("a", "size", proposed="usual"), slots=(size,), usual="large").says("no")
    assert (talker.slots, talker.said) == ({"usual": "large"}, "size?")


@pytest.mark.parametrize("text", ["I don't care", "I don't mind", "whatever", "anything will do"])
def test_i_dont_care_never_cancels_the_task(text: str) -> None:
    # Past bug: NLU was asked, and took it for a cancel.
    talker = talk(Collect("a", "size"), Collect("b", "colour"), slots=(SIZE, COLOUR)).says("large", text)
    assert (talker.slots, talker.asked_nlu) == ({"size": "large"}, False)
    assert talker.said.endswith("colour?")


ANY_DAY = SlotSpec("day", SlotKind.DATE, "Which day?")


@pytest.mark.parametrize("text", ["no", "neither", "none of them", "no, neither"])
def test_neither_of_two_asks_the_question_again(text: str) -> None:
    # Past bug: "no" to "did you mean this or that?" asked for this or that again.
    talker = talk(Collect("a", "day"), slots=(ANY_DAY,)).says("next friday")
    assert talker.said.startswith("Did you mean")
    assert talker.says(text).said == "Which day?"
    assert talker.state.tries == 1


def test_a_no_from_nlu_rejects_both_candidates() -> None:
    talker = talk(Collect("a", "day"), slots=(ANY_DAY,)).says("next friday", OTHER).means(Deny())
    assert talker.said == "Which day?"


def test_which_of_two_is_asked_again_with_an_apology() -> None:
    talker = talk(Collect("a", "day"), slots=(ANY_DAY,)).says("next friday", OTHER).means()
    assert talker.said.startswith("Sorry, I didn't get that. Did you mean")


PEOPLE = SlotSpec("people", SlotKind.NUMBER, "How many?", label="number of guests")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("text", "place"),
    {
        "um, from the station please": "the station",
        "at the corner of Park Street and 5th.": "at the corner of Park Street and 5th.",
        "please ring twice": "please ring twice",
    }.items(),
)
def test_free_text_is_stored_without_carrier_words(text: str, place: str) -> None:
    # Past bug: the text was stored with "from" and "please".
    start = SlotSpec("from_where", SlotKind.TEXT, "Where shall we pick you up?")
    talker = talk(Collect("a", "from_where"), Collect("b", "people"), slots=(start, PEOPLE)).says(text)
    assert (talker.means() if talker.asked_nlu else talker).slots == {"from_where": place}


@pytest.mark.req("D-05")
def test_thanks_are_not_free_text() -> None:
    note = SlotSpec("note", SlotKind.TEXT, "Anything else?", is_optional=True)
    talker = talk(Collect("a", "note"), Collect("b", "people"), slots=(note, PEOPLE)).says("thank you").means()
    assert talker.slots == {}


@pytest.mark.req("D-05")
def test_the_name_of_a_slot_is_not_free_text() -> None:
    # Past bug: "the size", said to change it, became the description.
    about = SlotSpec("about", SlotKind.TEXT, "What is it about?")
    talker = talk(Collect("size", "size"), Collect("about", "about"), slots=(SIZE, about)).says("small", "the size")
    assert talker.asked_nlu
    assert "about" not in talker.means().slots


@pytest.mark.req("D-04")
def test_free_text_with_a_question_behind_it_is_the_text_alone() -> None:
    about = SlotSpec("about", SlotKind.TEXT, "What is it about?")
    talker = talk(Collect("about", "about"), Collect("size", "size"), slots=(SIZE, about))
    talker.says("my tooth hurts a lot, and how long will it take?").means()
    assert talker.slots == {"about": "my tooth hurts a lot"}
    assert talker.said == "So far I have about my tooth hurts a lot. size?"


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "text",
    ["how about something funny what do other people put", "anything nice really what would you take"],
)
def test_a_text_that_is_left_to_the_agent_before_a_question_is_no_answer(text: str) -> None:
    words = SlotSpec("words", SlotKind.TEXT, "What shall we print on it?")
    talker = talk(Collect("w", "words"), slots=(words,)).says(text).means()
    assert (talker.slots, talker.state.waiting_for) == ({}, "words")
