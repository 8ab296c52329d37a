"""A number and what it is held to.

Rule: budgets are reported, never asserted in a test: a busy machine is no defect.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Budget(NamedTuple):
    """A ratio must reach its limit, everything else must stay below it."""

    key: str
    what: str
    limit: float
    unit: str
    at_least: bool = False

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def row(self, result: dict[str, Any]) -> tuple[str, str, str]:
        """What was measured, for a table: what, measured, budget."""
        value = result[self.key]
        measured = f"{value} {self.unit}" if isinstance(value, int) else f"{value:.2f} {self.unit}"
        verdict = "" if result["within_budget"][self.key] else " (missed)"
        return self.what, measured, f"{'≥' if self.at_least else '≤'} {self.limit} {self.unit}{verdict}"
