"""English texts whose reading depends on what is around a number; the table of cases has the others."""

from __future__ import annotations

import pytest

from duologue.spoken.english import english_rules
from duologue.spoken.rules import RewriteRules

RULES = RewriteRules(english_rules(""))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("In 1500 ships sailed.", "In one thousand five hundred ships sailed."),
        ("By 2030, we win.", "By twenty thirty, we win."),
        ("On 13/2/2026 it was.", "On February thirteenth, twenty twenty-six it was."),
        ("At 25:99 or 99/99/2026.", "At 25:99 or 99/99/2026."),
        (
            "It is .5 of 1234567.",
            "It is point five of one two three four five six seven.",
        ),
    ],
)
def test_what_is_around_a_number_decides_how_it_is_read(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken
