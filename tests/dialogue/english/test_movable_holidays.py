"""Days that differ from year to year."""

from __future__ import annotations

from datetime import date, timedelta

from duologue.dialogue.english.movable_holidays import easter, nth_weekday


def test_easter_agrees_with_the_tables_of_the_golden_number() -> None:
    for year in range(1900, 2200):  # the paschal full moon by epact, as in the tables of the calendar's reform
        golden, century = year % 19 + 1, year // 100 + 1
        epact = (11 * golden + 20 + ((8 * century + 5) // 25 - 5) - (3 * century // 4 - 12)) % 30
        epact += epact == 24 or (epact == 25 and golden > 11)
        moon = 44 - epact if epact < 24 else 74 - epact  # of March
        sunday = (5 * year // 4) - (3 * century // 4 - 12) - 10
        assert easter(year) == date(year, 3, 1) + timedelta(moon + 7 - (sunday + moon) % 7 - 1), year


def test_a_weekday_of_a_month_is_counted_from_its_beginning_or_its_end() -> None:
    monday, friday = 0, 4
    assert nth_weekday(2026, 3, 1, monday) == date(2026, 3, 2)
    assert nth_weekday(2026, 3, 5, monday) == date(2026, 3, 30)
    assert nth_weekday(2026, 3, 5, friday) is None
    assert nth_weekday(2026, 2, -1, friday) == date(2026, 2, 27)
    assert nth_weekday(10_000, 1, 1, monday) is None
