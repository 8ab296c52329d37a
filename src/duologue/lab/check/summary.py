"""What explorations found, as JSON: one entry for each exploration, and the totals.

Rule: CPU seconds are rounded here and nowhere else, so that reports of all machines look alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Explored(Protocol):
    """The fields that the findings of every machine have."""

    scope: str
    states: int
    steps: int
    seconds: float
    complete: bool
    depth: int


def exploration_to_json(found: Explored) -> dict[str, Any]:
    """One exploration as JSON: its scope, how much was explored, and whether all reachable states were explored. If
    they were not, all traces of up to `depth` inputs were explored."""
    return {
        "scope": found.scope,
        "states": found.states,
        "steps": found.steps,
        "cpu_seconds": round(found.seconds, 2),
        "complete": found.complete,
        "depth": found.depth,
    }


def totals_to_json(found: Sequence[Explored]) -> dict[str, Any]:
    """The states, steps and CPU seconds of all explorations together."""
    return {
        "states": sum(one.states for one in found),
        "steps": sum(one.steps for one in found),
        "cpu_seconds": round(sum(one.seconds for one in found), 2),
    }
