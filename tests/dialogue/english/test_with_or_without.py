"""Yes or no by the name of what is wanted."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Direct, Json, Question, Slot, SlotKind, read, read_parts, read_volunteered
from tests.dialogue.english.grammar_replies import WEDNESDAY

ROOM = Slot("room", SlotKind.CHOICE, (Choice("single"), Choice("double")))

BREAKFAST = Slot("breakfast", SlotKind.YES_NO)

LIVE_MUSIC = Slot("has_live_music", SlotKind.YES_NO)


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "values"),
    {
        "a double with breakfast": {"room": "double", "breakfast": True},
        "double without breakfast please": {"room": "double", "breakfast": False},
        "a single, no breakfast": {"room": "single", "breakfast": False},
        "a single, with no live music": {"room": "single", "has_live_music": False},
        "with live music": {"has_live_music": True},
    }.items(),
)
def test_a_wish_is_taken_by_its_name(reply: str, values: dict[str, Json]) -> None:
    question = Question(ROOM, "A single or a double?", others=(BREAKFAST, LIVE_MUSIC))
    reading = read(question, reply, WEDNESDAY)
    assert isinstance(reading, Direct)
    assert {value.slot: value.value for value in reading.values} == values


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "music",
        "no music",
        "breakfast",
        "with a live band",
        "no, breakfast",
        "not with breakfast",
        "is it with breakfast",
    ],
)
def test_an_incomplete_name_or_wish_is_not_taken(reply: str) -> None:
    assert read_volunteered((BREAKFAST, LIVE_MUSIC), reply, "", WEDNESDAY) is None


def test_a_denied_wish_is_not_taken() -> None:
    assert read_parts((BREAKFAST,), "it's not as if I wanted one with breakfast", WEDNESDAY) == ()
