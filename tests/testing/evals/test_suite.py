"""Suites are read with all their problems at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.testing.evals.suite import ExpectedCall, InvalidSuite, load_suite
from tests.testing.evals.scripted_models import SUITE, suite_of

FULL = """
name: Desk
runs: 2
turns_max: 7
rubric: The agent is polite.
cases:
  - name: one
    goal: Book a table.
    mood: angry
    facts: {name: Anna}
    interrupts: 0.5
    pass_share: 0.5
    rubric: [It confirmed.]
    expect:
      called: [look, {tool: book, with: {people: 2}}]
      not_called: cancel
      heard: [yes, "no+"]
      never_said: password
      data: {people: "2"}
      promises: [{said: text you, then_called: send}]
      ended: true
      nothing_lost: false
"""


def test_everything_that_a_suite_may_say_is_read(tmp_path: Path) -> None:
    (case,) = suite_of(tmp_path, FULL).cases
    assert (case.runs, case.turns_max, case.pass_share, case.interrupts) == (2, 7, 0.5, 0.5)
    assert case.rubric == ("The agent is polite.", "It confirmed.")
    assert case.facts == (("name", "Anna"),)
    assert case.expect.called == (ExpectedCall("look", {}), ExpectedCall("book", {"people": 2}))
    assert case.expect.not_called == ("cancel",)
    assert [pattern.pattern for pattern in case.expect.heard] == ["yes", "no+"]
    assert case.expect.data == {"people": "2"}
    assert case.expect.promises[0].then_called == "send"
    assert case.expect.ended is True
    assert case.expect.nothing_lost is False


def test_a_case_without_a_name_is_called_by_its_number(tmp_path: Path) -> None:
    assert suite_of(tmp_path, "cases: [{goal: x}]").cases[0].name == "case 1"


def test_all_problems_are_listed_with_their_lines(tmp_path: Path) -> None:
    wrong = """
runs: none
case: 1
cases:
  - goal: x
    mod: angry
    expect:
      caled: [x]
      called: [{with: {a: 1}}]
      heard: "("
      promises: [{said: x}]
  - name: two
    interrupts: 2
  - text
"""
    with pytest.raises(InvalidSuite) as refused:
        suite_of(tmp_path, wrong)
    found = [f"{problem.line}: {problem.text}" for problem in refused.value.problems]
    assert found == [
        "2: runs must be a whole number from 1 to 1000, not 'none'",
        "3: a suite: unknown key 'case'; did you mean cases?",
        "6: a case: unknown key 'mod'; did you mean mood?",
        "8: expect: unknown key 'caled'; did you mean called?",
        "9: called needs `tool`: the tool's name",
        "10: heard: '(' is no valid regular expression: missing ), unterminated subpattern",
        "11: a promise needs `said`, a regular expression, and `then_called`, a tool's name",
        "12: a case needs `goal`: what the caller wants",
        "13: interrupts must be a number from 0 to 1, not '2'",
        "14: a case is a mapping of goal, expect and so on, not 'text'",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty: a suite needs `cases`"),
        ("[1]", "a suite is a mapping of name, cases and so on, not a list"),
        ("name: x", "a suite needs `cases`: a list of at least one case"),
        ("cases: [{name: a, goal: x}, {name: a, goal: y}]", "two cases have the name 'a'"),
    ],
)
def test_a_file_that_is_no_suite_says_why(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidSuite, match=problem):
        suite_of(tmp_path, text)


def test_a_missing_file_is_a_problem_of_one_line(tmp_path: Path) -> None:
    with pytest.raises(InvalidSuite, match="No such file"):
        load_suite(tmp_path / "none.yaml")
    assert suite_of(tmp_path, SUITE).name == "Front desk"
