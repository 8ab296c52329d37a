"""An exploration of hearing checks every state and step, and reports what is wrong with a shortest trace."""

from __future__ import annotations

from duologue.hearing.machine import HEARING_ROWS
from duologue.lab.check.hearing.check import HearingExplorer
from duologue.lab.check.hearing.scopes import QUICK
from tests.lab.check.hearing.broken_hearing import SENT, TINY, changed


def test_the_quick_scopes_break_no_law_and_fire_nearly_every_row() -> None:
    found = [HearingExplorer("confirm", scope).run(states_max=1_000) for scope in QUICK]
    assert [violation for findings in found for violation in findings.violations] == []
    fired = {index for findings in found for index in findings.fired}
    unfired = {row.name for index, row in enumerate(HEARING_ROWS) if index not in fired}
    assert unfired <= {"HeardLate -> note_heard_late", "CoreStepped [answer_came_early] -> take_answer"}


def test_a_violation_has_a_shortest_trace() -> None:
    rows = changed("[due_endpoint]", lambda _: None)
    (violation,) = HearingExplorer("confirm", TINY, rows, violations_max=1).run().violations
    assert [line.split()[1].partition("(")[0] for line in violation.trace] == ["SpeechBegan", "Final", "TimePassed"]
    assert "up/settling/silent/none" in violation.trace[1]


def test_an_exploration_that_is_too_large_is_not_complete() -> None:
    found = HearingExplorer("confirm", SENT).run(states_max=20)
    assert not found.complete
    assert HearingExplorer("confirm", TINY).run().complete
