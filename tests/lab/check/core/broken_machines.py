"""Machines that are broken on purpose, and what an exploration finds in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from duologue.core import events as ev
from duologue.core.draft import Draft
from duologue.core.machine import ROWS, Machine
from duologue.core.rows import Row, Rule
from duologue.core.rules import RULES
from duologue.core.settings import PROFILES
from duologue.lab.check.core.check import CoreExplorer, Findings, ViolationsMaxReached
from duologue.lab.check.core.scopes import QUICK

_SCOPES = {scope.name: scope for scope in QUICK}
WORK, TALK, LINK, OVER = (_SCOPES[name] for name in ("work", "talk", "link", "over"))
AUDIBLE, ENDING = _SCOPES["audible"], _SCOPES["ending"]


STATES_MAX = 2_000  # `duologue check` explores all


def explore(machine: Machine, scope: Any = TALK, violations_max: int = 30, states_max: int = 6_000) -> Findings:
    """Explore a broken machine, with the laws but without the promises, until this many violations are found."""
    explorer = CoreExplorer(PROFILES["confirm"], scope, machine, violations_max=violations_max, promised=())
    return explorer.run(states_max=states_max)


def breaks(law: str, machine: Machine, scope: Any = TALK) -> bool:
    """Is this law broken? The exploration ends as soon as it is."""
    explorer = _UntilBroken(PROFILES["confirm"], scope, machine, violations_max=30, promised=())
    explorer.law = law
    return any(violation.law == law for violation in explorer.run(states_max=6_000).violations)


class _UntilBroken(CoreExplorer):
    """An exploration that ends when one law is broken."""

    law = ""

    def report_violation(self, law: str, message: str, number: int, event: ev.Event | None = None) -> None:
        super().report_violation(law, message, number, event)
        if law == self.law:
            raise ViolationsMaxReached


def changed(match: str, change: Callable[[Row], Row | None], rows: tuple[Row, ...] = ROWS) -> tuple[Row, ...]:
    """The rows, of which those whose name contains `match` are changed or dropped."""
    found = [(row, change(row)) if match in row.name else (row, row) for row in rows]
    assert any(old is not new for old, new in found), f"no row has a name with {match!r}"
    return tuple(new for _, new in found if new is not None)


def drop(_: Row) -> None:
    return None


def with_rule(name: str, do: Callable[[Draft, Any], None]) -> tuple[Rule, ...]:
    return tuple(replace(rule, do=do) if rule.name == name else rule for rule in RULES)


def forgetful(machine: Machine, kind: type[ev.Event]) -> Machine:
    """The same machine, but it accepts stale events of this kind."""
    machine.accept_stale(kind)
    return machine
