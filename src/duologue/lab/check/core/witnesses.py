"""Witnesses: short traces of the real machine, in which each row and rule fires. They are enough to find out, for most
mutants, whether the laws and promises notice them.

A mutant is wrong in one place. Most mutants break a promise or a law in the very step in which this place is used, or
in the next step. So it is enough to follow the traces that lead to this place, which takes milliseconds. Rule: the
mutant itself makes every step of a trace, from the beginning on. Only complaints about these steps count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from duologue.core.events import Event
from duologue.core.leaves import JobKind
from duologue.core.machine import MACHINE, Machine
from duologue.core.rows import Row
from duologue.core.settings import PROFILES

from .check import CoreExplorer, Violation
from .promises import trigger_of
from .scopes import CheckScope

ALIKE_MAX = 2  # witnesses of steps that fire the same in the same leaves


class Witness(NamedTuple):
    """A trace, with the rows and rules that its last step fires and the leaves before that step."""

    profile: str
    trace: tuple[Event, ...]
    fired: tuple[int, ...]  # a row as its index, a rule as -1 minus its index
    leaves: tuple[Any, ...]  # of the regions and the jobs, before the last step


class _Collector(CoreExplorer):
    """An exploration that remembers a few steps for each combination of event, states and fired rows."""

    def __init__(self, profile: str, scope: CheckScope, machine: Machine) -> None:
        super().__init__(PROFILES[profile], scope, machine)
        self.steps: dict[Any, list[tuple[int, Event, tuple[int, ...], tuple[Any, ...]]]] = {}

    def _noted(self, number: int, before: Any, event: Event, fired: tuple[int, ...]) -> None:
        kinds = tuple(job.kind for job in before.jobs)
        leaves = (before.link, before.user, before.voice, before.reply, *kinds)
        alike = self.steps.setdefault((trigger_of(event), leaves, fired), [])
        if len(alike) < ALIKE_MAX:
            alike.append((number, event, fired, leaves))


def collect_witnesses(
    profile: str, scope: CheckScope, states_max: int, machine: Machine = MACHINE
) -> tuple[list[Witness], set[int]]:
    """Explore the real machine up to this many states. Returns the witnesses, and the rows and rules that fired."""
    explorer = _Collector(profile, scope, machine)
    found = explorer.run(states_max)
    witnesses = [
        Witness(profile, (*explorer.graph.trace(number), event), fired, leaves)
        for alike in explorer.steps.values()
        for number, event, fired, leaves in alike
    ]
    return witnesses, found.fired


def about_row(row: Row, witnesses: Iterable[Witness]) -> Iterator[Witness]:
    """The witnesses whose last step has an event of this row and begins in one of the row's sources. The row fires
    there, or would fire if it had no guard."""
    for one in witnesses:
        fits = any(leaf in row.sources for leaf in one.leaves)
        if trigger_of(one.trace[-1]) in row.on and (fits or row.sources == (JobKind.ABSENT,)):
            yield one


def about_rule(number: int, witnesses: Iterable[Witness]) -> Iterator[Witness]:
    """The witnesses whose last step fires the rule with this number."""
    return (one for one in witnesses if number in one.fired)


def first_complaint(
    machine: Machine, scopes: Mapping[int, CheckScope], witnesses: Iterable[tuple[int, Witness]]
) -> Violation | None:
    """Check each witness (a trace, with the number of the scope that it belongs to) against all laws and promises.
    Returns the first violation, or None if nothing is wrong. The last step of the trace, the state after it, and every
    step that may follow are checked."""
    explorers: dict[int, CoreExplorer] = {}
    for number, witness in witnesses:
        explorer = explorers.get(number)
        if explorer is None:
            explorer = CoreExplorer(PROFILES[witness.profile], scopes[number], machine, violations_max=1)
            explorers[number] = explorer
        if found := explorer.follow(witness.trace):
            return found[0]
    return None
