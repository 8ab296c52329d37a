"""Times of day in German and Spanish."""

from __future__ import annotations

import pytest

from duologue.dialogue.grammar.times import find_day_parts, find_times, is_in_part
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("halb drei", ("14:30",)),
        ("fünf vor halb vier", ("15:25",)),
        ("um acht", ("08:00", "20:00")),
        ("um acht abends", ("20:00",)),
        ("15 Uhr 30", ("15:30",)),
    ],
)
def test_german_times(text: str, times: tuple[str, ...]) -> None:
    assert find_times(GERMAN, tokens(text), (6, 22), is_asked=True)[0][0].candidates == times


def test_spanish_minutes_follow_the_hour() -> None:
    found, also = find_times(SPANISH, tokens("las cinco menos cuarto de la tarde", SPANISH), (6, 22), is_asked=True)
    assert found[0].candidates == ("16:45",)
    assert also == {4, 5, 6}


def test_a_duration_is_no_time() -> None:
    assert find_times(SPANISH, tokens("en dos horas", SPANISH), (6, 22), is_asked=True)[0] == []


def test_parts_of_the_day() -> None:
    assert [match.candidates for match in find_day_parts(GERMAN, tokens("am Nachmittag"))] == [("afternoon",)]
    assert is_in_part("02:00", "night")
    assert not is_in_part("12:00", "morning")
