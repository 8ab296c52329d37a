"""A no and a choice, without a comma."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Choice, Collect, SlotSpec
from tests.dialogue.dialogue_flows import COLOUR, Talker, talk

FOOD = SlotSpec(
    "food", SlotKind.CHOICE, "Which cuisine?", choices=tuple(Choice(one) for one in ("Thai", "Greek", "Indian"))
)


def asked(*texts: str, **more: object) -> Talker:
    food = replace(FOOD, **more)  # type: ignore[arg-type]
    return talk(Collect("a", "food"), Collect("b", "colour"), slots=(food, COLOUR)).says(*texts)


@pytest.mark.parametrize("text", ["no greek please", "no Thai", "no indian thanks"])
@pytest.mark.parametrize("is_optional", [True, False])
def test_a_no_and_a_choice_without_a_comma_is_asked(text: str, is_optional: bool) -> None:
    talker = asked(text, is_optional=is_optional)
    assert talker.slots == {}
    assert talker.said.startswith("Did you mean ")


def test_a_yes_takes_the_choice_and_a_no_asks_again() -> None:
    assert asked("no greek please", "yes").slots == {"food": "Greek"}
    refused = asked("no greek please", "no")
    assert (refused.slots, refused.said.endswith("Which cuisine?")) == ({}, True)
    assert refused.says("thai").slots == {"food": "Thai"}


def test_a_comma_or_another_word_tells_what_is_meant() -> None:
    assert asked("no, greek please").slots == {"food": "Greek"}
    assert asked("not greek").said.startswith("All right, not greek.")
    assert asked("no preference", is_optional=True).said == "colour?"


def test_a_choice_whose_name_begins_with_no_is_a_choice() -> None:
    milk = (Choice("no milk"), Choice("milk"))
    assert asked("no milk please", choices=milk).slots == {"food": "no milk"}
