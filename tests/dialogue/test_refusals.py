"""Values that are refused without a function."""

from __future__ import annotations

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import Talker


def asking(spec: SlotSpec) -> Talker:
    return Talker(domain(flow("ask", Collect(spec.name, spec.name)), slots=(spec,))).starts("ask")


def test_a_value_that_does_not_match_its_pattern_is_refused_and_asked_for_again() -> None:
    spec = SlotSpec(
        "policy", SlotKind.CODE, "Your policy?", pattern="[A-Z]{2}[0-9]{4}", help="Two letters, four digits."
    )
    talker = asking(spec).says("A B 1 2")
    assert talker.said == "Two letters, four digits. Your policy?"
    assert talker.says("a b one two three four").slots["policy"] == "AB1234"


def test_a_skipped_value_matches_any_pattern() -> None:
    spec = SlotSpec("policy", SlotKind.CODE, "Your policy?", pattern="[A-Z]{2}", is_optional=True)
    assert asking(spec).says("skip").slots["policy"] == "dontcare"


def test_a_day_that_has_passed_is_refused() -> None:
    spec = SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True)
    assert asking(spec).says("yesterday").said == "That day has passed. Which day?"
