"""Several slots in one reply."""

from __future__ import annotations

from duologue.dialogue.grammar.several_slots import assign, contradicts_role, role_places, values_of
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.match import Match
from duologue.dialogue.language.readings import Slot, SlotKind
from tests.dialogue.grammar.lexicons import GERMAN, tokens

DAY, TIME, PEOPLE = Slot("day", SlotKind.DATE), Slot("time", SlotKind.TIME), Slot("people", SlotKind.NUMBER)
TODAY = today_of("2026-03-04")


def test_each_value_goes_to_the_slot_of_its_kind() -> None:
    text = "am Freitag um drei für vier Personen"
    found = assign(GERMAN, tokens(text), (DAY, TIME, PEOPLE), TODAY)
    assert found is not None
    said = {value.slot: value.value for value in values_of(text, tokens(text), found[0])}
    assert said == {"day": "2026-03-06", "time": "15:00", "people": 4}


def test_a_value_that_fits_two_slots_fills_none() -> None:
    assert assign(GERMAN, tokens("am Freitag"), (DAY, Slot("other", SlotKind.DATE)), TODAY) is None


def test_from_and_to_tell_two_slots_apart() -> None:
    slots = (Slot("departure", SlotKind.DATE), Slot("arrival", SlotKind.DATE))
    found = assign(GERMAN, tokens("von Freitag bis Sonntag"), slots, TODAY)
    assert found is not None
    assert {name: match.candidates for name, (_, match) in found[0].items()} == {
        "departure": ("2026-03-06",),
        "arrival": ("2026-03-08",),
    }


def test_a_role_that_contradicts_the_slot() -> None:
    said, match = tokens("nach Wien"), Match(1, 2, ("Wien",))
    assert contradicts_role(GERMAN, said, match, Slot("origin", SlotKind.NAME))
    assert not contradicts_role(GERMAN, said, match, Slot("destination", SlotKind.NAME))
    assert role_places(GERMAN, said, [match], Slot("destination", SlotKind.NAME)) == {0}
    assert role_places(GERMAN, tokens("bis Freitag"), [match], DAY) == frozenset()
