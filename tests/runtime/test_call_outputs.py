"""The text that a brain gets for each way a tool call can end."""

from __future__ import annotations

import json

import pytest

from duologue.core.leaves import Outcome
from duologue.runtime.call_outputs import RESULT_CHARS_MAX, cut, output_of


def output(outcome: Outcome, **given: str) -> str:
    fields = {"result": "", "partial": "", "error": "", "question": "", **given}
    return output_of(outcome, 7, fields["result"], fields["partial"], fields["error"], fields["question"])


def test_a_result_is_passed_on_as_it_is() -> None:
    assert output(Outcome.DONE, result="09:00") == "09:00"


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.TIMED_OUT, Outcome.REFUSED])
def test_a_call_that_did_not_work_has_an_error(outcome: Outcome) -> None:
    assert json.loads(output(outcome))["error"]


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CANCELLED])
def test_what_was_done_so_far_is_passed_on(outcome: Outcome) -> None:
    assert json.loads(output(outcome, partial="two of three"))["partial_result"] == "two of three"


def test_a_job_that_goes_on_names_its_number_and_its_question() -> None:
    assert json.loads(output(Outcome.STARTED))["job"] == 7
    asked = json.loads(output(Outcome.NEEDS_INPUT, question="Which one?"))
    assert (asked["job"], asked["question"]) == (7, "Which one?")


def test_every_outcome_has_an_output() -> None:
    assert all(isinstance(output(outcome), str) for outcome in Outcome)


def test_a_long_result_is_cut_and_says_so() -> None:
    long = "word " * RESULT_CHARS_MAX
    assert len(cut(long)) <= RESULT_CHARS_MAX
    assert str(len(long)) in cut(long)
    assert cut("short") == "short"
