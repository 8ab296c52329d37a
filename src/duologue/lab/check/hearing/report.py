"""What all explorations of hearing found, as one report.

Rule: an exploration that was too large is reported as incomplete. A row that never fired counts as a violation if all
scopes, or all scopes of the quick check, were explored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from duologue.core.settings import PROFILES
from duologue.hearing.machine import HEARING_ROWS

from ..core.check import Violation
from ..explore import without_garbage_collection
from ..summary import exploration_to_json, totals_to_json
from .check import HearingExplorer, HearingFindings
from .laws import LAWS
from .scopes import QUICK, QUICK_NAMES, SCOPES, SMALL

STATES_MAX = 50_000  # more than the scopes in LARGEST_FIRST have
QUICK_STATES_MAX = 1_000
LARGEST_FIRST = ("stray", "sent", "words", "over", "late")
EVERY_ROW_FIRES = "every row of hearing fires"


@dataclass(frozen=True, slots=True)
class HearingReport:
    """What all explorations of hearing found."""

    explorations: tuple[HearingFindings, ...]
    violations: tuple[Violation, ...]

    def to_json(self) -> dict[str, Any]:
        found = self.explorations
        return {
            **totals_to_json(found),
            "laws": len(LAWS),
            "rows": len(HEARING_ROWS),
            "rows_fired": len({row for one in found for row in one.fired}),
            "violations": len(self.violations),
            "explorations": [{"profile": one.profile, **exploration_to_json(one)} for one in found],
        }


def hearing_tasks(size: str) -> list[tuple[str, str, int]]:
    """The profile, the scope and the maximum number of states of each exploration. The explorations that take longest
    come first, so that no process waits for the last one. Two kinds of scopes are explored in one profile only: scopes
    in which the agent is silent, because the profiles differ only in how they treat a sound during the agent's speech;
    and scopes in which the agent asks a question, because what counts as an answer doesn't depend on the profile."""
    if size == "quick":
        return [("confirm", scope.name, QUICK_STATES_MAX) for scope in QUICK]
    names = [*LARGEST_FIRST, *(scope.name for scope in SMALL if scope.name not in LARGEST_FIRST)]
    return [
        (profile, name, STATES_MAX)
        for name in names
        for profile in (PROFILES if SCOPES[name].speaks and not SCOPES[name].asks else ("confirm",))
    ]


def explore_hearing(task: tuple[str, str, int]) -> HearingFindings:
    """Explore one scope in one profile."""
    profile, scope, states_max = task
    with without_garbage_collection():  # also while the whole graph is judged
        return HearingExplorer(profile, SCOPES[scope]).run(states_max)


def sum_up_hearing(found: Iterable[HearingFindings]) -> HearingReport:
    """One report about these explorations."""
    found = tuple(sorted(found, key=lambda one: (one.profile, one.scope)))
    violations = [one for findings in found for one in findings.violations]
    fired = {row for findings in found for row in findings.fired}
    if {findings.scope for findings in found} in (set(SCOPES), set(QUICK_NAMES)):
        unfired = [row.name for index, row in enumerate(HEARING_ROWS) if index not in fired]
        violations += [Violation(EVERY_ROW_FIRES, name, ()) for name in unfired]
    return HearingReport(found, tuple(violations))
