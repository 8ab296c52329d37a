"""Replies with a range and a wish in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.readings import Choice
from duologue.dialogue.preferred_values import cuts_of
from tests.dialogue.dialogue_flows import Talker, domain, flow, number, talk

DAY = SlotSpec("day", SlotKind.DATE, "Which day?", prefers="first")
TIME = SlotSpec("time", SlotKind.TIME, "What time?", hours=(8, 20))
SIZE = SlotSpec("size", SlotKind.CHOICE, "Which size?", choices=(Choice("small"), Choice("medium"), Choice("large")))


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "value"),
    {
        "sometime next week, ideally tuesday": "2025-12-09",
        "ideally tuesday, sometime next week": "2025-12-09",
        "this weekend preferably saturday": "2025-12-06",
        "the weekend, sunday if you can": "2025-12-07",
        "any day in june but the third would be best": "2026-06-03",
        "in june, ideally the third": "2026-06-03",
        "any day is fine but preferably friday": "2025-12-05",
        "thursday or friday, preferably friday": "2025-12-05",
        "the 5th or 6th, the 6th is better": "2025-12-06",
    }.items(),
)
def test_a_preferred_day_is_taken_and_said(text: str, value: str) -> None:
    talker = talk(Collect("day", "day"), Collect("time", "time"), slots=(DAY, TIME)).says(text)
    assert (talker.slots, talker.asked_nlu) == ({"day": value}, False)
    assert talker.said.startswith("So far I have day ")


@pytest.mark.parametrize(
    ("text", "value"),
    {
        "after three, ideally four": "16:00",
        "in the morning, ideally ten": "10:00",
        "between two and five, four would be best": "16:00",
        "any time, but four would be best": "16:00",
        "not before nine, ideally ten": "10:00",
        "three or four, preferably four": "16:00",
    }.items(),
)
def test_a_preferred_time_is_taken_and_said(text: str, value: str) -> None:
    talker = talk(Collect("time", "time"), Collect("day", "day"), slots=(TIME, DAY)).says(text)
    assert talker.slots == {"time": value}
    assert "So far I have time" in talker.said


def test_a_preferred_choice_or_number() -> None:
    steps = (Collect("size", "size"), Collect("day", "day"))
    assert talk(*steps, slots=(SIZE, DAY)).says("medium or large, large would be best").slots == {"size": "large"}
    counted = talk(Collect("count", "count"), Collect("day", "day"), slots=(number("count"), DAY))
    assert counted.says("two or three, preferably three").slots == {"count": 3}


def test_a_wish_that_contradicts_its_range_is_asked_about() -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says("friday, saturday would be better")
    assert (talker.said, talker.slots) == ("Did you mean December 5 or December 6?", {})
    assert talk(Collect("day", "day"), slots=(DAY,)).says("this weekend, ideally tuesday").slots == {}


@pytest.mark.parametrize("text", ["next week, but not monday", "next week except for monday"])
def test_an_excluded_day_leaves_the_others(text: str) -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says(text)
    assert talker.said == "Did you mean December 9, December 10, December 11 or December 12?"
    assert talker.says("the last one").slots == {"day": "2025-12-12"}


def test_any_value_but_one_asks_again() -> None:
    talker = talk(Collect("day", "day"), slots=(DAY,)).says("any day, just not monday")
    assert (talker.said, talker.slots) == ("All right, just not monday. Which day?", {})


@pytest.mark.parametrize(
    ("language", "text", "value"),
    [
        ("de", "nächste Woche, am liebsten Dienstag", "2025-12-09"),
        ("de", "im Juni, am liebsten am dritten", "2026-06-03"),
        ("de", "Donnerstag oder Freitag, lieber Freitag", "2025-12-05"),
        ("de", "am Wochenende, Sonntag wäre mir lieber", "2025-12-07"),
        ("es", "la semana que viene, mejor el martes", "2025-12-09"),
        ("es", "en junio, preferiblemente el 3", "2026-06-03"),
        ("es", "este fin de semana, el domingo sería lo mejor", "2025-12-07"),
    ],
)
def test_wishes_in_other_languages(language: str, text: str, value: str) -> None:
    flows = domain(flow("task", Collect("day", "day"), Collect("time", "time")), slots=(DAY, TIME))
    talker = Talker(replace(flows, language=language)).starts("task").says(text)
    assert talker.slots == {"day": value}


@pytest.mark.parametrize("text", ["seven would be best", "next week", "preferably", "say hello", "ideally tuesday"])
def test_without_a_range_there_is_nothing_to_divide(text: str) -> None:
    words = pack_of("en").words
    assert list(cuts_of(words, words.tokens_of(text))) == []
