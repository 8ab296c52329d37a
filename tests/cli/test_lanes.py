"""Bars of the regions: what each column shows."""

from __future__ import annotations

from duologue.cli.lanes import columns
from duologue.replay.timeline import Visit

# -- What a column shows


def rank(state: str) -> int:
    return {"rest": 0, "busy": 1, "alarm": 2}[state]


def test_a_short_alarm_is_visible_however_long_the_call_is() -> None:
    visits = (Visit("rest", 0, 50_000, ""), Visit("alarm", 50_000, 20, ""), Visit("rest", 50_020, 49_980, ""))
    assert columns(visits, 100_000, 10, rank) == ["rest"] * 5 + ["alarm"] + ["rest"] * 4


def test_among_equals_the_longest_is_shown() -> None:
    visits = (Visit("rest", 0, 10, ""), Visit("busy", 10, 30, ""), Visit("busy2", 40, 60, ""))
    assert columns(visits, 100, 1, lambda state: state != "rest") == ["busy2"]


def test_every_column_is_filled_even_if_the_call_is_shorter_than_the_bar() -> None:
    visits = (Visit("busy", 0, 1, ""), Visit("rest", 1, 1, ""))
    assert columns(visits, 2, 8, rank) == ["busy"] * 4 + ["rest"] * 4
