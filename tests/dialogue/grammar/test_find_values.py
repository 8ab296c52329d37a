"""Which grammar reads which kind of slot."""

from __future__ import annotations

import pytest

from duologue.dialogue.grammar.find_values import find_values
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.readings import Choice, Slot, SlotKind
from tests.dialogue.grammar.lexicons import GERMAN, tokens


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (SlotKind.DATE, "am Freitag", "2026-03-06"),
        (SlotKind.TIME, "um drei", "15:00"),
        (SlotKind.NUMBER, "vier", 4),
        (SlotKind.DURATION, "zwei Tage", "P2D"),
        (SlotKind.CHOICE, "rot", "rot"),
        (SlotKind.CODE, "X7", "X7"),
    ],
)
def test_each_kind_has_its_grammar(kind: SlotKind, text: str, value: object) -> None:
    slot = Slot("x", kind, (Choice("rot"), Choice("blau")))
    found = find_values(GERMAN, tokens(text), slot, today_of("2026-03-04"), is_asked=True)
    assert [match.candidates for match in found.matches] == [(value,)]


def test_a_time_that_has_passed_today_is_left_out() -> None:
    slot = Slot("x", SlotKind.TIME, since="2026-03-04")
    found = find_values(GERMAN, tokens("um acht"), slot, today_of("2026-03-04T10:00"), is_asked=True)
    assert found.matches[0].candidates == ("20:00",)


def test_a_bare_number_is_volunteered_only_with_what_it_counts() -> None:
    slot = Slot("x", SlotKind.NUMBER)
    assert find_values(GERMAN, tokens("vier"), slot, today_of("2026-03-04"), is_asked=False).matches == []
    assert find_values(GERMAN, tokens("vier Personen"), slot, today_of("2026-03-04"), is_asked=False).matches
