"""Today as ISO text, days that don't exist, and steps of months."""

from __future__ import annotations

from datetime import date

import pytest

from duologue.dialogue.language.days import Today, day_of, last_day_of, later_month, today_of


def test_today_may_come_with_the_time_of_day() -> None:
    assert today_of("2026-03-04") == Today(date(2026, 3, 4), None)
    assert today_of("2026-03-04T17:20") == Today(date(2026, 3, 4), 17 * 60 + 20)
    assert today_of("2026-03-04T00:00").minute == 0


@pytest.mark.parametrize("text", ["", "2026-02-30", "2026-13-01", "yesterday", "2026-3-4", "20260304", "2026-W10-3"])
def test_today_has_to_be_a_day(text: str) -> None:
    with pytest.raises(ValueError, match="not a date: "):
        today_of(text)


@pytest.mark.parametrize("text", ["2026-03-04T24:00", "2026-03-04T7:20", "2026-03-04 07:20", "2026-02-30T07:20"])
def test_an_impossible_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        today_of(text)


def test_a_day_that_does_not_exist_is_none() -> None:
    assert day_of(2028, 2, 29) == date(2028, 2, 29)
    assert day_of(2027, 2, 29) is None
    assert day_of(2026, 13, 1) is None
    assert day_of(10_000, 1, 1) is None


def test_the_last_day_of_a_month_knows_leap_years() -> None:
    assert last_day_of(2028, 2) == date(2028, 2, 29)
    assert last_day_of(2100, 2) == date(2100, 2, 28)
    assert last_day_of(10_000, 1) is None


@pytest.mark.parametrize(
    ("by", "month"), [(0, (2026, 11)), (1, (2026, 12)), (2, (2027, 1)), (26, (2029, 1)), (-11, (2025, 12))]
)
def test_months_are_counted_across_years(by: int, month: tuple[int, int]) -> None:
    assert later_month(2026, 11, by) == month
