"""The rows of the table that `duologue torture` prints."""

from __future__ import annotations

from collections import defaultdict

from duologue.lab.torture.report import rows
from duologue.lab.torture.verdict import CHECKS


def test_the_table_begins_with_the_counts_that_must_be_zero() -> None:
    made = rows(defaultdict(int))
    assert [row[2] for row in made[: len(CHECKS)]] == ["0"] * len(CHECKS)


def test_a_row_shows_what_was_found_and_what_is_allowed() -> None:
    found = defaultdict(int, {"stuck": 3, "recovery_ms_p50": 40, "recovery_ms_p95": 90, "recovery_ms_max": 250})
    shown = rows(found)
    assert ("stuck", "3", "0") in shown
    assert ("hello to open floor, ms: p50 / p95 / max", "40 / 90 / 250", "1000") in shown
