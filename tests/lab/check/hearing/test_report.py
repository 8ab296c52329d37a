"""The report about all explorations of hearing."""

from __future__ import annotations

import json

import pytest

from duologue.hearing.machine import HEARING_ROWS
from duologue.lab.check.core.check import Violation
from duologue.lab.check.hearing.check import HearingFindings
from duologue.lab.check.hearing.report import (
    EVERY_ROW_FIRES,
    LARGEST_FIRST,
    explore_hearing,
    hearing_tasks,
    sum_up_hearing,
)
from duologue.lab.check.hearing.scopes import QUICK, QUICK_NAMES, SCOPES, SMALL

EVERY_ROW = set(range(len(HEARING_ROWS)))


def test_it_sums_up_states_steps_and_rows() -> None:
    found = [HearingFindings("confirm", name, 5, 9, 0.5, fired=EVERY_ROW) for name in SCOPES]
    report = sum_up_hearing(found)
    data = json.loads(json.dumps(report.to_json()))
    assert (data["states"], data["steps"], data["violations"]) == (5 * len(SMALL), 9 * len(SMALL), 0)
    assert data["rows_fired"] == data["rows"]


@pytest.mark.parametrize("names", [tuple(SCOPES), QUICK_NAMES], ids=["all", "quick"])
def test_a_row_that_never_fired_is_a_violation_if_all_scopes_were_explored(names: tuple[str, ...]) -> None:
    found = [HearingFindings("confirm", name, fired=EVERY_ROW - {3}) for name in names]
    assert [one.message for one in sum_up_hearing(found).violations] == [HEARING_ROWS[3].name]
    assert sum_up_hearing(found).violations[0].law == EVERY_ROW_FIRES
    assert sum_up_hearing(found[:-1]).violations == ()


def test_violations_of_explorations_are_in_the_report() -> None:
    seen = Violation("a law", "is broken", ("first",))
    assert sum_up_hearing([HearingFindings("confirm", "words", violations=[seen])]).violations == (seen,)


def test_scopes_in_which_the_agent_speaks_are_explored_in_every_profile() -> None:
    tasks = hearing_tasks("small")
    assert {profile for profile, scope, _ in tasks if scope == "over"} == {"immediate", "confirm", "words"}
    assert {profile for profile, scope, _ in tasks if scope == "words"} == {"confirm"}
    assert {profile for profile, scope, _ in tasks if scope == "asked"} == {"confirm"}
    assert [scope for _, scope, _ in hearing_tasks("quick")] == [scope.name for scope in QUICK]


def test_every_scope_is_explored_and_the_largest_first() -> None:
    names = [scope for _, scope, _ in hearing_tasks("small")]
    assert tuple(dict.fromkeys(names))[: len(LARGEST_FIRST)] == LARGEST_FIRST
    assert set(names) == set(SCOPES)


def test_a_task_explores_its_scope() -> None:
    found = explore_hearing(("words", "fillers", 50))
    assert (found.profile, found.scope, found.complete) == ("words", "fillers", False)


def test_a_bounded_exploration_has_the_length_of_the_traces_that_it_covers() -> None:
    found = explore_hearing(("confirm", "fillers", 50))
    (explored,) = sum_up_hearing([found]).to_json()["explorations"]
    assert not explored["complete"]
    assert explored["depth"] == found.depth > 1
