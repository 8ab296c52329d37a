"""A limit for a measured number, and whether the number is within the limit.

Rule: a budget that is missed is reported, but never makes a test fail. On a busy computer, a number may miss its budget
without any defect.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Budget(NamedTuple):
    """The limit for one key of a result: a minimum if `at_least` is true, otherwise a maximum."""

    key: str
    what: str
    limit: float
    unit: str
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Is the value within the limit?"""
        return value >= self.limit if self.at_least else value <= self.limit

    def row(self, result: dict[str, Any]) -> tuple[str, str, str]:
        """The row of a report for this budget and its value in `result`: (what, measured, budget)."""
        value = result[self.key]
        measured = f"{value} {self.unit}" if isinstance(value, int) else f"{value:.2f} {self.unit}"
        verdict = "" if result["within_budget"][self.key] else " (missed)"
        return self.what, measured, f"{'≥' if self.at_least else '≤'} {self.limit} {self.unit}{verdict}"
