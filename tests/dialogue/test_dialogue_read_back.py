"""What people say while a code is read back, or while they are asked which of two they meant; and what they said
before the question was asked."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import Deny
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from tests.dialogue.dialogue_flows import OTHER, Talker, number, talk

CODE = SlotSpec("code", SlotKind.CODE, "Which code?", reads_back=True)
POSTCODE = SlotSpec("postcode", SlotKind.CODE, "Which postcode?")
PHONE = SlotSpec("phone", SlotKind.PHONE, "Which number?", label="phone number", reads_back=True)
NAME = SlotSpec("guest", SlotKind.NAME, "Which name?", label="name")
DAY = SlotSpec("day", SlotKind.DATE, "Which day?")


def parcel() -> Talker:
    """Asks for a code, a postcode and a phone number."""
    return talk(Collect("a", "postcode"), Collect("b", "code"), Collect("c", "phone"), slots=(POSTCODE, CODE, PHONE))


@pytest.mark.parametrize("texts", [(), ("AB12", "no")])
def test_going_back_from_a_code_that_is_read_back_asks_for_the_code(texts: tuple[str, ...]) -> None:
    # Once: it went back to the question before, and the first code of a task was read back again.
    talker = parcel().says("LS1", *texts, "AB12", "go back")
    assert talker.said == "Which code?"
    assert talker.slots == {"postcode": "LS1"}
    assert talker.says("go back").said == "Which postcode?"


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    "text", ["no it's 900124", "no, it ends in seven", "um no, that was somebody else's", "the phone number is wrong"]
)
def test_a_no_to_a_number_that_is_read_back_changes_no_other(text: str) -> None:
    # Once: "no it's 900124" made that the postcode, and the wrong number was read back again.
    talker = parcel().says("LS1", "AB12", "yes", "07700 900123", text)
    assert talker.said == "Which number?"
    assert talker.slots == {"postcode": "LS1", "code": "AB12"}


@pytest.mark.req("D-07")
def test_another_slot_can_be_named_while_a_code_is_read_back() -> None:
    talker = parcel().says("LS1", "AB12", "the postcode is M1")
    assert talker.slots == {"postcode": "M1"}
    assert talker.said.endswith("I have A B 1, 2. Is that right?")


@pytest.mark.req("D-07")
@pytest.mark.parametrize("text", ["no, three nights", "make it three nights", "actually, three nights please"])
def test_another_answer_is_put_right_while_a_code_is_read_back(text: str) -> None:
    # Once: "no, three nights" was a no to the code, and the nights were lost.
    stay = SlotSpec("stay", SlotKind.DURATION, "How long?")
    talker = talk(Collect("a", "code"), Collect("b", "stay"), slots=(CODE, stay))
    talker = talker.says("AB12", "two nights", text)
    assert talker.slots == {"stay": "P3D"}
    assert talker.said == "Got it, I've updated your stay to 3 nights. I have A B 1, 2. Is that right?"


def test_what_was_not_asked_for_yet_can_be_put_right_too() -> None:
    guests = SlotSpec("guests", SlotKind.NUMBER, "How many?")
    talker = talk(Collect("a", "day"), Collect("b", "guests"), slots=(DAY, guests))
    talker = talker.says("actually, make it three guests")
    assert talker.slots == {"guests": 3}
    assert talker.said == "Which day?"


@pytest.mark.req("D-09")
def test_a_new_number_in_place_of_a_yes_is_read_back() -> None:
    talker = talk(Collect("a", "phone"), Confirm("b", "We call {phone:spelled}?"), slots=(PHONE,))
    talker = talker.says("07700 900123", "yes", "07700 900124")
    assert talker.said == "I have 0 7 7, 0 0 9, 0 0 1, 2 4. Is that right?"
    assert talker.says("yes").said.endswith("We call 0 7 7, 0 0 9, 0 0 1, 2 4?")


def test_a_new_code_is_read_back_in_its_place() -> None:
    assert parcel().says("LS1", "AB12", "sorry, AB13").said == "I have A B 1, 3. Is that right?"


def test_a_reply_that_is_neither_yes_nor_no_is_told_so() -> None:
    # Once: the code was read back again as if nothing had been said.
    talker = parcel().says("LS1", "AB12", OTHER).means()
    assert talker.said == "Please say yes or no. I have A B 1, 2. Is that right?"
    assert talker.silence().said == "Are you still there? I have A B 1, 2. Is that right?"


@pytest.mark.parametrize("text", ["no", "neither", "none of them", "no, neither"])
def test_neither_of_two_asks_the_question_again(text: str) -> None:
    # Once: "no" to "did you mean this or that?" asked for this or that again.
    talker = talk(Collect("a", "day"), slots=(DAY,)).says("next friday")
    assert talker.said.startswith("Did you mean")
    assert talker.says(text).said == "Which day?"
    assert talker.state.tries == 1


def test_a_model_may_hear_the_no_to_both() -> None:
    talker = talk(Collect("a", "day"), slots=(DAY,)).says("next friday", OTHER).means(Deny())
    assert talker.said == "Which day?"


def test_which_of_two_is_asked_again_with_an_apology() -> None:
    talker = talk(Collect("a", "day"), slots=(DAY,)).says("next friday", OTHER).means()
    assert talker.said.startswith("Sorry, I didn't get that. Did you mean")


# -- That something is wrong


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize(
    "text", ["the name is wrong", "that's the wrong name", "no, you got my name wrong", "the name isn't right"]
)
def test_what_is_said_to_be_wrong_is_asked_for_again(text: str) -> None:
    # Once: the guest was called Wrong.
    confirm = Confirm("sure", "{amount} for {guest}?")
    talker = talk(Collect("a", "guest"), Collect("b", "amount"), confirm, slots=(NAME, number("amount")))
    assert talker.says("Anna", "five", text).said == "Which name?"
    assert talker.slots == {"amount": 5}
    assert talker.says("Hanna").said == "5 for Hanna?"


def test_what_was_never_given_can_not_be_wrong() -> None:
    talker = talk(Collect("a", "amount"), Collect("b", "guest"), slots=(NAME, number("amount")))
    assert talker.says("the name is wrong").asked_nlu


# -- Said before it was asked


def acting() -> Talker:
    wish = SlotSpec("wish", SlotKind.TEXT, "Any wishes?")
    talker = talk(
        Collect("a", "amount"), PerformAction("look", "look"), Collect("b", "wish"), slots=(number("amount"), wish)
    )
    return talker.says("five")


def test_what_was_said_before_the_question_is_no_miss_of_it() -> None:
    talker = acting().says(OTHER).done().means()
    assert (talker.state.misses, talker.state.tries) == (0, 0)
    assert talker.said == "Sorry, I didn't get that. Any wishes?"


def test_what_was_said_before_the_question_is_not_its_answer() -> None:
    # Once: "are you still there" was the wish.
    talker = acting().says("it is so quiet here").done().means()
    assert "wish" not in talker.slots
    assert talker.says("a quiet room, with a view of the sea").means().slots["wish"].startswith("a quiet room")  # type: ignore[union-attr]


def test_what_was_said_in_two_breaths_is_still_an_answer() -> None:
    # Once: the second half waited for the first to be understood, and was then nobody's answer.
    talker = talk(Collect("a", "amount"), Collect("b", "guest"), slots=(NAME, number("amount")))
    talker.says(OTHER, "five").means()
    assert talker.slots == {"amount": 5}
    assert talker.said.endswith("Which name?")


def test_a_yes_in_the_second_breath_confirms_nothing() -> None:
    talker = talk(
        Collect("a", "amount"), Confirm("sure", "{amount}?"), PerformAction("send", "send"), slots=(number("amount"),)
    )
    talker.says("five", OTHER, "yes").means()
    assert (talker.phase, talker.runs) == ("confirming", [])
