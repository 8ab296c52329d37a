"""The result of checking dialogues: what was found in all small domains, and which rows and moves were never used in
any of them.

Rule: a row that is never used, a move of the matrix (which phase may follow which) that is never made, and an
exploration that was cut off count as violations; only a quick check may cut explorations off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from duologue.dialogue.machine import ROWS
from duologue.dialogue.matrix import MATRIX

from ..core.check import Violation
from .check import IMPOSSIBLE, STATES_MAX, DialogueExplorer, DialogueFindings, unseen_moves, unseen_rows
from .domains import SCENES

LARGEST = ("final", "lists", "meanwhile", "doubts", "codes", "table")  # half of the time of all
LARGEST_FIRST = sorted(SCENES, key=lambda name: name not in LARGEST)
QUICK_STATES_MAX = 150  # for a quick check, of each domain: these still take every row and make every move


@dataclass(frozen=True, slots=True)
class DialogueReport:
    """The explorations of all small domains."""

    explorations: tuple[DialogueFindings, ...]
    violations: tuple[Violation, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "states": sum(found.states for found in self.explorations),
            "steps": sum(found.steps for found in self.explorations),
            "cpu_seconds": round(sum(found.seconds for found in self.explorations), 2),
            "domains": len(self.explorations),
            "rows": len(ROWS),
            "rows_fired": len(ROWS) - len(unseen_rows(list(self.explorations))),
            "moves": len(MATRIX) - len(IMPOSSIBLE.keys() & MATRIX),
            "moves_made": len({move for found in self.explorations for move in found.moves}),
            "explorations": [
                {
                    "domain": found.name,
                    "states": found.states,
                    "steps": found.steps,
                    "complete": found.complete,
                    "depth": found.depth,
                }
                for found in self.explorations
            ],
        }


def explore_dialogue(task: tuple[str, str]) -> DialogueFindings:
    """Explore one small domain. If the size is `quick`, only the states nearest to its start are explored."""
    name, size = task
    return DialogueExplorer(name, SCENES[name]).run(QUICK_STATES_MAX if size == "quick" else STATES_MAX)


def sum_up_dialogues(found: list[DialogueFindings], size: str = "small") -> DialogueReport:
    """Make one report about all domains. Only a quick check may leave states unexplored."""
    violations = [violation for one in found for violation in one.violations]
    if size != "quick":
        violations += [Violation("every state is explored", one.name, ()) for one in found if not one.complete]
    if {one.name for one in found} == set(SCENES):
        violations += [Violation("every row is taken", row, ()) for row in unseen_rows(found)]
        unmade = [move for move in unseen_moves(found) if move not in IMPOSSIBLE]
        violations += [Violation("every move is made", f"{before} -> {after}", ()) for before, after in unmade]
    made = {move for one in found for move in one.moves}
    strange = sorted((made - MATRIX) | (made & IMPOSSIBLE.keys()))
    violations += [
        Violation("every move that was made is in the matrix", f"{before} -> {after}", ()) for before, after in strange
    ]
    return DialogueReport(tuple(found), tuple(violations))
