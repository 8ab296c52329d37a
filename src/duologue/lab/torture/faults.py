"""Makes the schedule of the faults of a torture run from a seed.

Rule: a schedule is data. The same seed, length of the run, number of nodes and duration of a lease give the same
schedule.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

CALM_S = 2.0  # seconds before the first fault
KINDS: Sequence[tuple[str, int]] = (  # the kinds of faults, with their relative frequency
    ("kill", 6),
    ("freeze", 4),
    ("drain", 2),
    ("cut", 3),
    ("hang_up_lines", 4),
    ("stall", 3),
    ("swallow", 3),
    ("store_slow", 3),
    ("store_cut", 3),
    ("store_away", 3),
    ("clock", 2),
)


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """One fault of a schedule. The meaning of `amount` depends on the kind: the share of people to cut off, the delay
    of the store in milliseconds, or the jump of the clock in seconds."""

    at_s: float
    kind: str
    node: int = 0
    lasts_s: float = 0.0
    amount: float = 0.0

    def __str__(self) -> str:
        more = f" for {self.lasts_s:.1f} s" if self.lasts_s else ""
        return f"{self.at_s:6.1f} s  {self.kind} of {'abcdefghijkl'[self.node]}{more}" + (
            f" ({self.amount:g})" if self.amount else ""
        )


def schedule(seed: int, nodes: int, seconds: float, lease_s: float) -> list[PlannedFault]:
    """The faults of a run of this many seconds, in order of time. `lease_s` is the duration of a lease in seconds."""
    dice = random.Random(f"{seed} faults")
    faults: list[PlannedFault] = []
    names = [name for name, _ in KINDS]
    weights = [often for _, often in KINDS]
    at_s = CALM_S
    first = ["kill", "freeze"]  # even a short run has these
    while at_s < seconds:
        kind = first.pop(0) if first else dice.choices(names, weights)[0]
        faults.append(_fault(dice, round(at_s, 2), kind, dice.randrange(nodes), lease_s))
        at_s += dice.uniform(0.8, 3.2)
    return faults


def _fault(dice: random.Random, at_s: float, kind: str, node: int, lease_s: float) -> PlannedFault:
    lasts_s = amount = 0.0
    match kind:
        case "kill" | "drain":
            lasts_s = dice.uniform(0.0, 2.0)  # then the node is started again
        case "freeze":  # shorter or longer than a lease
            is_long = dice.random() < 0.5
            lasts_s = lease_s + dice.uniform(1.0, 2.5) if is_long else dice.uniform(0.2, lease_s * 0.8)
        case "hang_up_lines":
            amount = round(dice.uniform(0.05, 0.4), 2)
        case "stall" | "swallow":
            lasts_s = dice.uniform(0.5, 5.0)
        case "store_slow":
            lasts_s, amount = dice.uniform(1.0, 4.0), dice.choice((20, 100, 400))
        case "store_away":
            lasts_s = dice.uniform(0.3, 6.0)
        case "clock":
            amount = dice.choice((-86_400, -3_600, -30, 30, 3_600, 86_400 * 40))
    return PlannedFault(at_s, kind, node, round(lasts_s, 2), amount)
