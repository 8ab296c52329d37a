"""English says values with months and clocks of twelve hours."""

from __future__ import annotations

from duologue.dialogue.english.value_forms import SPOKEN
from duologue.dialogue.templates import spoken


def test_values_are_said_in_english_by_default() -> None:
    assert spoken("15:30") == spoken("15:30", "", SPOKEN) == "3:30 pm"
    assert spoken("2026-03-06") == "March 6"
    assert len(SPOKEN.months) == 12
    assert len(SPOKEN.units) == 7
