"""Hearing machines that are broken on purpose, and what an exploration finds in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from duologue.core.machine import MACHINE, Machine
from duologue.hearing.machine import HEARING_ROWS, HearingRow
from duologue.lab.check.core.check import ViolationsMaxReached
from duologue.lab.check.hearing.check import HearingExplorer
from duologue.lab.check.hearing.ledger import LedgerChoice
from duologue.lab.check.hearing.scopes import EMPTY, LONG, LONGER, SHORT, HearingScope

TINY = HearingScope("tiny", 1, (SHORT,), (LONG,))
SENT = HearingScope("sent", 1, (SHORT,), (LONGER,), sends=1)
ASKED = HearingScope("asked", 0, typed=1, replies=True, speaks=True, asks=1, wait_ms=600)
JOB_ASKS = HearingScope("job asks", 0, typed=1, replies=True, speaks=True, asks=1, job=True, wait_ms=600)
FIRM = HearingScope("firm", 1, (), (LONG,), firm=True, speaks=True, begins_speaking=True)
NOISE = HearingScope("noise", 1, (), (EMPTY,), frames=1, check_in_ms=3_000)

Rows = tuple[HearingRow, ...]
STATES_MAX = 4_000


def changed(match: str, change: Callable[[HearingRow], HearingRow | None]) -> Rows:
    """The rows, of which those whose name contains `match` are changed or dropped."""
    found = [(row, change(row)) if match in row.name else (row, row) for row in HEARING_ROWS]
    assert any(old is not new for old, new in found), f"no row has a name with {match!r}"
    return tuple(new for _, new in found if new is not None)


def doing(match: str, do: Callable[[Any, Any], None]) -> Rows:
    """The rows, of which those whose name contains `match` do something else."""
    return changed(match, lambda row: replace(row, do=do))


def broken_laws(
    rows: Rows, scope: HearingScope = TINY, machine: Machine = MACHINE, states_max: int = STATES_MAX
) -> set[str]:
    """The laws that these rows break in this scope."""
    explorer = HearingExplorer("confirm", scope, rows, machine, violations_max=30)
    return {violation.law for violation in explorer.run(states_max).violations}


class _Until(HearingExplorer):
    """An exploration that ends when a violation has this law or this message."""

    wanted = ""

    def report_violation(self, law: str, message: str, number: int, choice: LedgerChoice | None = None) -> None:
        super().report_violation(law, message, number, choice)
        if self.wanted in (law, message):
            raise ViolationsMaxReached


def finds(wanted: str, rows: Rows, scope: HearingScope = TINY, machine: Machine = MACHINE) -> bool:
    """Is this law broken, or is this message a violation? The exploration ends as soon as it is."""
    explorer = _Until("confirm", scope, rows, machine, violations_max=30)
    explorer.wanted = wanted
    return any(wanted in (one.law, one.message) for one in explorer.run(STATES_MAX).violations)
