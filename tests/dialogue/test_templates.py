"""Texts with gaps, and values as people say them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import Collect, Confirm, SlotSpec
from duologue.dialogue.templates import spelled, spoken
from tests.dialogue.dialogue_flows import (
    talk,
)


def test_a_skipped_value_is_never_said_as_its_code() -> None:
    # Once: it asks for a table "at dontcare".
    hour = SlotSpec("hour", SlotKind.TIME, "When?", is_optional=True)
    talker = talk(Collect("hour", "hour"), Confirm("sure", "A table at {hour}?"), slots=(hour,)).says("skip")
    assert ANY not in talker.said


@pytest.mark.parametrize(
    ("value", "words"),
    {"PT30M": "30 minutes", "PT1H30M": "1 hour and 30 minutes", "P2D": "2 days", "P1W": "1 week", "PT": "PT"}.items(),
)
def test_a_duration_is_said_in_words(value: str, words: str) -> None:
    assert spoken(value) == words


def test_an_address_is_spelled_up_to_its_at_sign() -> None:
    assert spelled("anna.k@example.com") == "a n n a . k at example.com"
