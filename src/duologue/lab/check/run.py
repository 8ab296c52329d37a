"""A whole check, on all cores: explores the conversation machine (every profile in every scope), hearing, ownership and
dialogues.

Rule: the summary says what was explored and within which bounds. Three more things count as violations: a row that
never fired, a move that a view allows but that was never seen, and a promise that was never tested.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from duologue.core.machine import MACHINE
from duologue.core.settings import PROFILES
from duologue.core.views import VIEWS, View

from .core.check import Findings, Violation, explore_profiles
from .core.laws import VIEWS_ARE_HONEST
from .core.promises import PROMISES
from .core.scopes import SCOPES
from .dialogue.check import DialogueFindings
from .dialogue.report import LARGEST_FIRST, DialogueReport, explore_dialogue, sum_up_dialogues
from .hearing.check import HearingFindings
from .hearing.report import HearingReport, explore_hearing, hearing_tasks, sum_up_hearing
from .ownership.check import SCOPES as OWNERSHIP_SCOPES
from .ownership.check import OwnershipFindings, OwnershipReport, explore_scope, sum_up_ownership
from .summary import exploration_to_json, totals_to_json

Progress = Callable[[Findings], None]
Found = TypeVar("Found")
CORE, HEARING, OWNERSHIP, DIALOGUE = "core", "hearing", "ownership", "dialogue"
PARTS = (CORE, HEARING, OWNERSHIP, DIALOGUE)


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found in all its explorations."""

    explorations: tuple[Findings, ...]
    violations: tuple[Violation, ...]
    rows_fired: int
    rules_fired: int
    promises_tested: int
    unfired: tuple[str, ...]
    views: dict[str, dict[str, Any]]
    seconds: float
    ownership: OwnershipReport | None = None
    hearing: HearingReport | None = None
    dialogue: DialogueReport | None = None

    @property
    def holds(self) -> bool:
        """Was no violation found?"""
        return not self.violations

    def to_json(self) -> dict[str, Any]:
        return {
            **totals_to_json(self.explorations),
            "rows": len(MACHINE.rows),
            "rows_fired": self.rows_fired,
            "rules": len(MACHINE.rules),
            "rules_fired": self.rules_fired,
            "promises": len(PROMISES),
            "promises_tested": self.promises_tested,
            "unfired": list(self.unfired),
            "violations": len(self.violations),
            "counterexamples": [
                {"law": seen.law, "message": seen.message, "trace": list(seen.trace)} for seen in self.violations
            ],
            "views": self.views,
            "explorations": [
                {"profile": found.profile, "bounds": found.bounds, **exploration_to_json(found)}
                for found in self.explorations
            ],
            "seconds": round(self.seconds, 2),
            "ownership": self.ownership.to_json() if self.ownership is not None else None,
            "hearing": self.hearing.to_json() if self.hearing is not None else None,
            "dialogue": self.dialogue.to_json() if self.dialogue is not None else None,
        }


def run_check(
    profiles: Iterable[str] = tuple(PROFILES),
    size: str = "small",
    processes: int | None = None,
    progress: Progress | None = None,
    parts: Iterable[str] = PARTS,
) -> Report:
    """Explore the conversation machine (each of these profiles in every scope of this size), hearing, ownership and
    dialogues. `progress` is called with the findings of each exploration of the conversation machine."""
    began = time.monotonic()
    wanted = tuple(parts)
    found, others = _explore_all(tuple(profiles), size, processes or os.cpu_count() or 1, progress, wanted)
    # A quick check stops before rare rows fire, so what it has not seen doesn't count as a violation.
    whole = {findings.profile for findings in found} == set(PROFILES) and size != "quick"
    report = sum_up(found, whole, time.monotonic() - began)
    if HEARING in wanted:
        report = with_hearing(report, sum_up_hearing(others.hearing))
    if OWNERSHIP in wanted:
        report = with_ownership(report, sum_up_ownership(others.ownership))
    return with_dialogues(report, sum_up_dialogues(others.dialogues, size)) if DIALOGUE in wanted else report


def with_hearing(report: Report, hearing: HearingReport) -> Report:
    """Add what was found about hearing, and return the new report."""
    return replace(report, hearing=hearing, violations=(*report.violations, *hearing.violations))


def with_ownership(report: Report, ownership: OwnershipReport) -> Report:
    """Add what was found about ownership, and return the new report."""
    return replace(report, ownership=ownership, violations=(*report.violations, *ownership.violations))


def with_dialogues(report: Report, dialogues: DialogueReport) -> Report:
    """Add what was found about dialogues, and return the new report."""
    return replace(report, dialogue=dialogues, violations=(*report.violations, *dialogues.violations))


@dataclass(frozen=True, slots=True)
class _Others:
    """The findings about hearing, ownership and dialogues."""

    hearing: list[HearingFindings]
    ownership: list[OwnershipFindings]
    dialogues: list[DialogueFindings]


def _results(work: list[Future[Found]]) -> list[Found]:
    return [one.result() for one in work]


def _explore_one(task: tuple[tuple[str, ...], int, str]) -> list[Findings]:
    names, number, size = task
    return explore_profiles([PROFILES[name] for name in names], SCOPES[size][number])


def _explore_all(
    names: tuple[str, ...], size: str, processes: int, progress: Progress | None, parts: tuple[str, ...]
) -> tuple[list[Findings], _Others]:
    found = []
    # Spawned, not forked: forking is unsafe in a program with threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        numbers = range(len(SCOPES[size])) if CORE in parts else ()
        exploring = [pool.submit(_explore_one, (names, number, size)) for number in numbers]
        hearing = [pool.submit(explore_hearing, task) for task in (hearing_tasks(size) if HEARING in parts else ())]
        scopes = range(len(OWNERSHIP_SCOPES)) if OWNERSHIP in parts else ()
        owning = [pool.submit(explore_scope, (number, size)) for number in scopes]
        talking = [pool.submit(explore_dialogue, (name, size)) for name in (LARGEST_FIRST if DIALOGUE in parts else ())]
        for done in as_completed(exploring):
            for findings in done.result():
                found.append(findings)
                if progress:
                    progress(findings)
        others = _Others(_results(hearing), _results(owning), _results(talking))
    return sorted(found, key=lambda findings: (findings.profile, findings.scope)), others


def sum_up(found: list[Findings], whole: bool, seconds: float) -> Report:
    """Make one report about all explorations. `whole` says whether all profiles were explored. If so, these count as
    violations: each row, rule and promise that was never used, and each move that a view allows but that was never
    made."""
    fired = {number for findings in found for number in findings.fired}
    tested = {name for findings in found for name in findings.tested}
    unfired = [row.name for index, row in enumerate(MACHINE.rows) if index not in fired]
    unfired += [f"rule {rule.name}" for index, rule in enumerate(MACHINE.rules) if -1 - index not in fired]
    unfired += [f"promise: {promise.name}" for promise in PROMISES if promise.name not in tested]
    violations = [violation for findings in found for violation in findings.violations]
    views = {name: _sum_up_view(view, found, whole) for name, view in VIEWS.items()}
    if whole:
        violations += [Violation("every row fires", name, ()) for name in unfired]
        violations += [
            Violation(VIEWS_ARE_HONEST, f"{name}: {move}", ())
            for name, summary in views.items()
            for move in summary["unexplained"]
        ]
    return Report(
        explorations=tuple(found),
        violations=tuple(violations),
        rows_fired=sum(number >= 0 for number in fired),
        rules_fired=sum(number < 0 for number in fired),
        promises_tested=len(tested),
        unfired=tuple(unfired),
        views=views,
        seconds=seconds,
    )


def _sum_up_view(view: View, found: list[Findings], whole: bool) -> dict[str, Any]:
    """Compare the moves that were made with the view's table. An allowed move that was never made is a finding only if
    all profiles were explored (`whole`)."""
    moves = {move for findings in found for move in findings.moves[view.name]}
    impossible = {(move.source, move.target) for move in view.impossible}
    unexplained = []
    if whole:
        unexplained += [f"{a} -> {b} is allowed, but was never made" for a, b in view.allowed() - moves - impossible]
        unexplained += [f"{a} -> {b} is listed as impossible, but was made" for a, b in moves & impossible]
    dishonest = moves - view.allowed()
    return {
        "honest": not dishonest and not unexplained,
        "moves": len(moves),
        "allowed": len(view.allowed()),
        "amendments": len(view.amendments),
        "impossible": len(impossible),
        "unexplained": sorted(unexplained),
    }
