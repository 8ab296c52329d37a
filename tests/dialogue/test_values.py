"""Values are validated before they are written; the program's too. 'Any' is never validated."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import Collect, SayText, SlotSpec
from tests.dialogue.dialogue_flows import (
    COLOUR,
    SIZE,
    at_amount,
    at_confirmation,
    choice,
    number,
    talk,
)


@pytest.mark.req("D-06")
@pytest.mark.graveyard(24)
def test_a_value_is_written_only_after_it_was_validated() -> None:
    talker = at_amount().says("fifty")
    assert talker.phase == "validating_slot"
    assert "amount" not in talker.slots
    talker.invalid("You have only forty.")
    assert talker.said == "You have only forty. How much?"
    assert "amount" not in talker.slots
    assert talker.says("thirty").valid(30).slots["amount"] == 30


@pytest.mark.req("D-06")
def test_a_refusal_without_a_reason_has_a_default_text() -> None:
    assert at_amount().says("fifty").invalid().said == "That amount doesn't work. How much?"


@pytest.mark.req("D-06")
def test_the_normalised_value_is_stored() -> None:
    talker = talk(
        Collect("day", "day"), slots=(SlotSpec("day", SlotKind.DATE, "When?", prefers="last", normaliser="n"),)
    )
    talker.says("next Friday")
    assert talker.checks.value == "2025-12-12"
    assert talker.valid("2025-12-12T00:00").slots["day"] == "2025-12-12T00:00"


@pytest.mark.req("D-06", "D-07")
def test_a_refused_correction_leaves_the_old_value() -> None:
    talker = at_confirmation().says("change the amount to five hundred").invalid("Too much.")
    assert talker.slots["amount"] == 50
    assert talker.said == "Too much. Send 50 to Anna?"


TIDIED = number("amount", validator="enough", normaliser="tidy")
TASK_CODE = SlotSpec("code", SlotKind.CODE, "Code?", reads_back=True)


@pytest.mark.req("D-06")
def test_the_programs_values_are_normalised_and_validated_first() -> None:
    # Past bug: it was written as it came.
    talker = talk(Collect("amount", "amount"), SayText("told", "{amount}."), slots=(TIDIED,), amount="5")
    assert (talker.phase, talker.slots) == ("validating_slot", {})
    assert (talker.checks.value, talker.checks.normaliser, talker.checks.validator) == ("5", "tidy", "enough")
    assert talker.valid(5).said == "5."


@pytest.mark.req("D-06")
def test_a_refused_value_of_the_program_is_asked_for() -> None:
    talker = talk(Collect("amount", "amount"), Collect("size", "size"), slots=(TIDIED, SIZE), amount=900, size="small")
    talker.invalid("Too much.")
    assert (talker.said, talker.slots) == ("Too much. amount?", {"size": "small"})


def test_the_program_may_fill_any_slot() -> None:
    spec = replace(SIZE, ask_before_filling=True)
    talker = talk(Collect("size", "size"), SayText("told", "{size} {who}."), slots=(spec,), size="small", who="Ann")
    assert talker.said == "small Ann."


def test_the_programs_values_are_not_read_back() -> None:
    talker = talk(Collect("code", "code"), SayText("told", "Good."), slots=(TASK_CODE,), code="AB12")
    assert talker.said == "Good."


@pytest.mark.req("D-11")
def test_a_failed_validation_of_the_programs_value_can_be_retried() -> None:
    talker = talk(Collect("amount", "amount"), SayText("told", "{amount}."), slots=(TIDIED,), amount=5)
    assert talker.fails().phase == "error"
    assert talker.says("retry").checks.value == 5
    assert talker.valid(5).said == "5."


@pytest.mark.parametrize("text", ["skip", "I don't mind"])
@pytest.mark.req("D-06")
def test_a_skipped_question_is_not_validated(text: str) -> None:
    # Past bug: "I don't mind" went to the normaliser and the validator as the text `dontcare`, "skip" did not.
    spec = replace(SIZE, is_optional=True, validator="v", normaliser="n")
    talker = talk(Collect("size", "size"), Collect("colour", "colour"), slots=(spec, COLOUR)).says(text)
    assert talker.slots == {"size": ANY}
    assert talker.said.endswith("colour?")


def test_any_is_never_read_back() -> None:
    spec = replace(choice("size", "small", "large"), is_optional=True, reads_back=True)
    talker = talk(Collect("size", "size"), SayText("told", "Good."), slots=(spec,)).says("I don't mind")
    assert talker.said == "Good."


def test_skipping_a_correction_during_a_read_back_keeps_the_old_value() -> None:
    talker = talk(Collect("code", "code"), Collect("size", "size"), slots=(TASK_CODE, SIZE)).says("A B 1 2", "yes")
    talker.says("change the code to X Y 3 4")
    assert talker.state.reading_back
    talker.says("skip")
    assert (talker.slots, talker.said) == ({"code": "AB12"}, "All right, we'll leave that out. size?")
