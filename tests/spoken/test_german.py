"""German texts whose reading depends on what is around a number; the table of cases has the others."""

from __future__ import annotations

import pytest

from duologue.spoken.german import german_rules
from duologue.spoken.rules import RewriteRules

RULES = RewriteRules(german_rules(""))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Am 99.99.2026 nicht.", "Am 99.99.2026 nicht."),
        ("Ein 3. Versuch.", "Ein dritter Versuch."),
        ("Um 25:99 nie.", "Um 25:99 nie."),
        ("Im Jahr 1500 Menschen.", "Im Jahr fünfzehnhundert Menschen."),
        ("1 Zimmer, 1 Wohnung.", "ein Zimmer, eine Wohnung."),
    ],
)
def test_what_is_around_a_number_decides_how_it_is_read(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken
