"""Witnesses of hearing: for each row, short traces of the real machine in which the row fires. For most mutants, the
witnesses are enough to find out whether the laws notice the mutant.

A mutant is the machine with one wrong row. Most mutants break a law in the very step in which this row fires, or a few
steps later. So it is enough to follow the traces that lead to this row, and to explore a few states from the end of
each trace. Rule: the mutant itself makes every step of a trace, from the beginning on. Only violations in the mutant's
own steps count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from duologue.hearing.machine import HEARING_ROWS, HearingRow

from ..core.check import Violation
from .check import HearingExplorer, HearingNode
from .ledger import LedgerChoice
from .product import ProductStep
from .scopes import SCOPES, HearingScope

PROFILE = "confirm"
ALIKE_MAX = 2  # witnesses whose last steps have the same kind of stimulus, the same leaves and the same fired rows
STATES_MAX = 40  # states that are explored from the end of one witness


class HearingWitness(NamedTuple):
    """A trace, and the rows that its last step fires."""

    scope: str
    trace: tuple[LedgerChoice, ...]
    fired: frozenset[int]


class _Collector(HearingExplorer):
    """An exploration that remembers a few steps for each combination of stimulus, leaves and fired rows."""

    def __init__(self, scope: HearingScope) -> None:
        super().__init__(PROFILE, scope)
        self.fired_now: frozenset[int] = frozenset()
        self.steps: dict[Any, list[tuple[int, LedgerChoice]]] = {}

    def take(self, node: HearingNode, choice: LedgerChoice) -> tuple[HearingNode, ProductStep]:
        before = set(self.found.fired)
        self.found.fired.clear()
        taken = super().take(node, choice)
        self.fired_now = frozenset(self.found.fired)
        self.found.fired |= before
        return taken

    def _take(self, number: int, node: HearingNode, choice: LedgerChoice) -> HearingNode | None:
        target = super()._take(number, node, choice)
        core = node.state.core
        leaves = (core.link, core.user, core.voice, core.reply)
        alike = self.steps.setdefault((type(choice.stimulus), leaves, self.fired_now), [])
        if len(alike) < ALIKE_MAX:
            alike.append((number, choice))
        return target


def collect_hearing_witnesses(scope: str, states_max: int) -> list[HearingWitness]:
    """Explore the real machine in this scope up to this many states, and return the witnesses."""
    explorer = _Collector(SCOPES[scope])
    explorer.run(states_max)
    return [
        HearingWitness(scope, (*explorer.graph.trace(number), choice), fired)
        for (_, _, fired), alike in explorer.steps.items()
        for number, choice in alike
    ]


def witnesses_of(row: HearingRow, witnesses: Iterable[HearingWitness], witnesses_max: int) -> list[HearingWitness]:
    """The witnesses that may notice a mutant of this row: first those in which the row fires, then those in which
    another row for the same kind of input fires, because this row might fire there if it had no guard. Each of the two
    groups begins with the shortest trace."""
    number = HEARING_ROWS.index(row)
    alike = {index for index, one in enumerate(HEARING_ROWS) if set(one.on) & set(row.on)}
    found = sorted((one for one in witnesses if alike & one.fired), key=lambda one: len(one.trace))
    fires = [one for one in found if number in one.fired]
    others = [one for one in found if number not in one.fired]
    return fires[:witnesses_max] + others[: witnesses_max // 2]


def first_complaint(rows: tuple[HearingRow, ...], witnesses: Iterable[HearingWitness]) -> Violation | None:
    """The first violation of a law by a machine with these rows, for example a mutant; None if it breaks no law. For
    each witness, the machine takes the steps of the witness's trace, and then up to STATES_MAX states are explored from
    the end of the trace. All laws check each of these steps."""
    for one in witnesses:
        explorer = HearingExplorer(PROFILE, SCOPES[one.scope], rows, violations_max=1)
        if found := explorer.follow(one.trace, STATES_MAX):
            return found[0]
    return None
