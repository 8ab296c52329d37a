"""Days in German and Spanish."""

from __future__ import annotations

from datetime import date

import pytest

from duologue.dialogue.grammar.dates import SPAN_OF_DAYS, DayContext, find_dates
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens

WEDNESDAY = DayContext(date(2026, 3, 4))


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("am Freitag", ("2026-03-06",)),
        ("nächsten Freitag", ("2026-03-06", "2026-03-13")),
        ("3.5.", ("2026-05-03",)),
        ("am 31. April", ()),
    ],
)
def test_a_day_is_the_next_such_day(text: str, days: tuple[str, ...]) -> None:
    found = find_dates(GERMAN, tokens(text), WEDNESDAY)
    assert tuple(day for match in found for day in match.candidates) == days


def test_a_weekday_and_a_date_are_one_day_only_if_they_agree() -> None:
    assert len(find_dates(SPANISH, tokens("el viernes 6 de marzo", SPANISH), WEDNESDAY)) == 1
    assert len(find_dates(SPANISH, tokens("el viernes 7 de marzo", SPANISH), WEDNESDAY)) == 2


def test_a_weekend_is_a_span_of_days() -> None:
    assert find_dates(GERMAN, tokens("am Wochenende"), WEDNESDAY)[0].unit == SPAN_OF_DAYS


def test_a_date_of_birth_needs_its_year() -> None:
    birth = DayContext(date(2026, 3, 4), is_past=True, needs_year=True)
    assert find_dates(GERMAN, tokens("am dritten Mai"), birth) == []
    assert find_dates(GERMAN, tokens("dritter fünfter achtzig"), birth)[0].candidates == ("1980-05-03",)


def test_tomorrow_isnt_the_morning() -> None:
    assert find_dates(SPANISH, tokens("por la mañana", SPANISH), WEDNESDAY) == []
    assert find_dates(GERMAN, tokens("am Morgen"), WEDNESDAY) == []
