"""After an error: retry, cancel, or an answer; nothing is done twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import (
    ChitChat,
    Help,
    Repeat,
    SetSlot,
    StartFlow,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Collect, Confirm, Jump, PerformAction, SayText
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    OTHER,
    SIZE,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
    talk,
)


def test_cancelling_an_error_without_an_open_flow_gets_an_answer() -> None:
    # Past bug: no response.
    talker = Talker(TRANSFER).says("colourless green ideas").fails().says("cancel")
    assert talker.phase == "idle"
    assert talker.said


def test_a_yes_said_before_an_error_does_not_retry() -> None:
    # Past bug: "okay", said while the action ran, runs it again when it fails.
    assert talk(PerformAction("pay", "pay")).says("okay").fails().phase == "error"


@pytest.mark.req("D-11")
def test_an_error_records_what_failed_and_says_what_to_do() -> None:
    talker = at_confirmation().says("yes").fails("ConnectionError", "no line")
    trouble = talker.state.trouble
    assert trouble is not None
    assert (trouble.type, trouble.message, trouble.recovery.value) == ("ConnectionError", "no line", "executing_action")
    assert trouble.at == talker.now
    assert talker.said == "I encountered an error. Say retry to try again, or cancel."
    assert talker.says("help").said == "I encountered an error. Say retry to try again, or cancel."


@pytest.mark.req("D-11", "D-14")
def test_a_retry_runs_the_action_again_with_the_same_key() -> None:
    talker = at_confirmation().says("yes")
    key = talker.runs[0].key
    assert talker.fails().says("retry").runs[0].key == key
    assert talker.done(ref="R1").phase == "idle"


@pytest.mark.req("D-11")
def test_a_retry_repeats_understanding_and_validation() -> None:
    talker = Talker(TRANSFER).says("send money").fails().says("try again")
    assert isinstance(talker.effects[-1], Understand)
    assert talker.effects[-1].text == "send money"
    assert at_amount().says("fifty").fails().says("retry").checks.value == 50


@pytest.mark.req("D-11")
def test_an_error_may_be_cancelled() -> None:
    assert at_confirmation().says("yes").fails().says("cancel").phase == "idle"


@pytest.mark.graveyard(24)
def test_a_failed_action_never_falls_through() -> None:
    talker = at_confirmation().says("yes").fails()
    assert (talker.phase, talker.step) == ("error", "send")
    assert "Done" not in talker.said
    led = talk(
        PerformAction("a", "a", on_failure=2), Jump("j", 3), SayText("sorry", "It failed."), SayText("bye", "Bye.")
    ).fails()
    assert led.said == "It failed. Bye."


@pytest.mark.parametrize("commands", [(), (ChitChat("Fine."),), (Help(),)])
def test_a_failed_action_is_retried_only_on_request(commands: tuple[ChitChat | Help, ...]) -> None:
    # Past bug: whatever is said after an error runs the action again, even what was not understood.
    talker = at_confirmation().says("yes").fails().says(OTHER).means(*commands)
    assert not talker.runs


def test_repeating_after_an_error_does_not_ask_for_a_confirmation() -> None:
    # Past bug: it rests in confirming with nothing to confirm; the next yes runs the action twice in one step.
    talker = at_confirmation().says("yes").fails().says("repeat")
    talker = talker.means(Repeat()) if talker.phase == "understanding" else talker
    assert (talker.phase, talker.runs) == ("error", [])


@pytest.mark.req("D-04", "D-11")
@pytest.mark.parametrize("text", ["fifty", "a person please"])
def test_a_plain_answer_or_command_after_an_error_of_nlu_needs_no_nlu(text: str) -> None:
    # Past bug: with NLU down nothing but retry and cancel works any more: answers and commands go to NLU, too.
    assert not at_amount().says("colourless green ideas").fails().says(text).asked_nlu


def test_a_correction_after_a_failure_is_another_run() -> None:
    # Past bug: the same key for other values: an idempotent service answers with what it did for the first ones.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT,)).says("two")
    key = talker.runs[0].key
    talker.fails().says("change the amount to five")
    assert talker.runs[0].slots == (("amount", 5),)
    assert talker.runs[0].key != key


@pytest.mark.req("D-11")
@pytest.mark.parametrize("text", ["go back", "change the amount to sixty"])
def test_an_error_is_cleared_when_the_dialogue_continues(text: str) -> None:
    # Past bug: `trouble` stays after going back, a correction, or a flow that NLU started or cancelled, even at rest.
    talker = talk(
        Collect("amount", "amount"), Confirm("sure", "{amount}?"), PerformAction("pay", "pay"), slots=(AMOUNT,)
    )
    talker.says("fifty", "yes").fails().says(text)
    assert talker.phase in ("waiting_for_slot", "confirming")
    assert talker.state.trouble is None


@pytest.mark.req("D-11")
@pytest.mark.parametrize("is_check", [True, False])
def test_repeating_after_a_failed_validation_or_nlu_does_not_ask_for_a_confirmation(is_check: bool) -> None:
    # Past bug: only a failed action was looked at: after a check that failed before anything was asked, and after a
    # flow that goes round, "repeat" rested in confirming with nothing to confirm; a yes then asked twice.
    if is_check:
        checked = replace(AMOUNT, validator="enough")
        talker = Talker(domain(flow("task", Collect("amount", "amount")), slots=(checked,))).says(OTHER)
        talker.means(StartFlow("task"), SetSlot("amount", 5)).fails()
    else:
        talker = talk(Jump("round", 0))
    assert talker.says("repeat").phase != "confirming"


def test_a_miss_in_an_error_is_not_mentioned_at_the_next_question() -> None:
    # Past bug: "Sorry, I didn't get that. size?" after a retry that went well.
    talker = (
        talk(PerformAction("pay", "pay"), Collect("size", "size"), slots=(SIZE,))
        .fails()
        .says(OTHER)
        .means()
        .says("retry")
    )
    assert talker.done().said == "size?"
