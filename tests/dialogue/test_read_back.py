"""Codes and numbers are read back and confirmed before they are written."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import Affirm, Repeat, SetSlot
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, PerformAction, SlotSpec
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    OTHER,
    SIZE,
    Talker,
    talk,
)

CODE = SlotSpec("code", SlotKind.CODE, "Code?", reads_back=True)


def test_a_code_is_read_back_before_it_is_written() -> None:
    talker = talk(Collect("code", "code"), slots=(CODE,)).says("A B 1 2")
    assert talker.said == "I have A B 1, 2. Is that right?"
    assert "code" not in talker.slots
    assert Talker(talker.domain, talker.state).says("no").said == "Code?"
    assert talker.says("yes").slots["code"] == "AB12"


def test_a_code_is_repeated_and_still_waits_for_its_yes() -> None:
    # Past bug: "repeat" forgets the code; the yes that follows is not understood.
    talker = talk(Collect("code", "code"), slots=(CODE,)).says("A B 1 2", "repeat", "yes")
    assert talker.slots.get("code") == "AB12"


@pytest.mark.parametrize("then", ["no", "", "cancel"])
def test_a_corrected_code_at_a_confirmation_is_read_back_safely(then: str) -> None:
    # Past bug: AssertionError for a move; with "" the confirmation was asked during the read-back.
    talker = talk(Collect("code", "code"), Confirm("sure", "Open {code}?"), slots=(CODE,)).says("A B 1 2", "yes")
    talker.says("change the code to X Y 3 4").says(then)
    assert not (talker.phase == "confirming" and talker.state.reading_back)


def corrected_code() -> Talker:
    talker = talk(
        Collect("code", "code"), Confirm("sure", "Open {code}?"), PerformAction("open", "open"), slots=(CODE,)
    )
    return talker.says("A B 1 2", "yes", "change the code to X Y 3 4")


def test_a_yes_from_nlu_during_a_read_back_confirms_the_code() -> None:
    # Past bug: it confirms the step behind it, with the old code: A B 1 2 is opened.
    assert not corrected_code().says(OTHER).means(Affirm()).runs


def test_a_code_that_is_read_back_survives_what_nlu_says() -> None:
    # Past bug: anything but yes and no drops the code; after Repeat the question fits no step, and silence breaks it.
    talker = corrected_code().says(OTHER).means(Repeat())
    assert talker.silence().phase in ("waiting_for_slot", "confirming")


def test_a_code_that_is_read_back_survives_a_failure_of_nlu() -> None:
    # Past bug: after the error, Repeat waits for the code at a step that doesn't ask for it, and silence breaks it:
    # AssertionError: waiting_for_slot -> confirming.
    talker = corrected_code().says(OTHER).fails().says(OTHER).means(Repeat())
    assert talker.silence().phase in ("waiting_for_slot", "confirming", "error")


def test_a_code_that_is_corrected_after_a_failure_is_read_back_again() -> None:
    # Past bug: "repeat" led to an error without a reason, because the open question was the code's.
    talker = talk(Collect("code", "code"), PerformAction("open", "open"), slots=(CODE,)).says("A B 1 2", "yes").fails()
    talker.says("change the code to X Y 3 4", "repeat")
    assert (talker.phase, talker.state.reading_back) == ("waiting_for_slot", True)
    assert talker.says("yes").runs[0].slots == (("code", "XY34"),)


def test_a_correction_in_between_keeps_the_code_that_is_read_back() -> None:
    # Past bug: the code that was being read back and all that waited behind it were forgotten.
    code = SlotSpec("code", SlotKind.CODE, "code?", reads_back=True)
    about = domain(
        flow("task", Collect("amount", "amount"), Collect("code", "code"), Collect("size", "size")),
        slots=(AMOUNT, code, SIZE),
    )
    talker = Talker(about).starts("task").says("five").says(OTHER)
    talker.means(SetSlot("code", "AB12"), SetSlot("size", "large"))
    assert "Is that right?" in talker.said
    talker.says("change the amount to six")
    assert talker.slots["amount"] == 6
    assert talker.said == "Got it, I've updated your amount to 6. I have A B 1, 2. Is that right?"
    talker.says("yes")
    assert (talker.slots["code"], talker.slots["size"], talker.phase) == ("AB12", "large", "idle")


PARCEL_CODE = SlotSpec("code", SlotKind.CODE, "Which code?", reads_back=True)
POSTCODE = SlotSpec("postcode", SlotKind.CODE, "Which postcode?")
PHONE = SlotSpec("phone", SlotKind.PHONE, "Which number?", label="phone number", reads_back=True)
ANY_DAY = SlotSpec("day", SlotKind.DATE, "Which day?")


def parcel() -> Talker:
    """Asks for a code, a postcode and a phone number."""
    return talk(
        Collect("a", "postcode"), Collect("b", "code"), Collect("c", "phone"), slots=(POSTCODE, PARCEL_CODE, PHONE)
    )


@pytest.mark.parametrize("texts", [(), ("AB12", "no")])
def test_going_back_from_a_code_that_is_read_back_asks_for_the_code(texts: tuple[str, ...]) -> None:
    # Past bug: it went back to the question before, and the first code of a task was read back again.
    talker = parcel().says("LS1", *texts, "AB12", "go back")
    assert talker.said == "Which code?"
    assert talker.slots == {"postcode": "LS1"}
    assert talker.says("go back").said == "Which postcode?"


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    "text", ["no it's 900124", "no, it ends in seven", "um no, that was somebody else's", "the phone number is wrong"]
)
def test_a_no_to_a_number_that_is_read_back_changes_no_other(text: str) -> None:
    # Past bug: "no it's 900124" made that the postcode, and the wrong number was read back again.
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
def test_another_answer_can_be_corrected_while_a_code_is_read_back(text: str) -> None:
    # Past bug: "no, three nights" was a no to the code, and the nights were lost.
    stay = SlotSpec("stay", SlotKind.DURATION, "How long?")
    talker = talk(Collect("a", "code"), Collect("b", "stay"), slots=(PARCEL_CODE, stay))
    talker = talker.says("AB12", "two nights", text)
    assert talker.slots == {"stay": "P3D"}
    assert talker.said == "Got it, I've updated your stay to 3 nights. I have A B 1, 2. Is that right?"


def test_a_slot_not_asked_for_yet_can_be_filled_while_a_code_is_read_back() -> None:
    guests = SlotSpec("guests", SlotKind.NUMBER, "How many?")
    talker = talk(Collect("a", "day"), Collect("b", "guests"), slots=(ANY_DAY, guests))
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


def test_a_reply_that_is_neither_yes_nor_no_is_asked_for_one() -> None:
    # Past bug: the code was read back again as if nothing had been said.
    talker = parcel().says("LS1", "AB12", OTHER).means()
    assert talker.said == "Please say yes or no. I have A B 1, 2. Is that right?"
    assert talker.silence().said == "Are you still there? I have A B 1, 2. Is that right?"


@pytest.mark.parametrize(("said", "asked"), [("AB12", False), ("AB13", True)])
def test_a_yes_with_the_same_code_is_a_yes_and_with_another_code_is_not(said: str, asked: bool) -> None:
    code = SlotSpec("code", SlotKind.CODE, "code?", reads_back=True)
    talker = talk(Collect("code", "code"), slots=(code,)).says("A B 1 2", OTHER).means(Affirm(), SetSlot("code", said))
    assert talker.state.reading_back is asked
    assert talker.state.slots.get("code") == (None if asked else "AB12")
