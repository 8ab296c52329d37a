"""Spanish texts whose reading depends on what is around a number; the table of cases has the others."""

from __future__ import annotations

import pytest

from duologue.spoken.rules import RewriteRules
from duologue.spoken.spanish import spanish_rules

RULES = RewriteRules(spanish_rules(""))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("El 99/99/2026 no.", "El 99/99/2026 no."),
        ("A las 25:99 no.", "A las 25:99 no."),
        ("A las 9:00 p. m. cierra.", "A las nueve de la noche cierra."),
        ("Es el 21.º.", "Es el 21.º."),
        ("Son 101 casas.", "Son ciento una casas."),
    ],
)
def test_what_is_around_a_number_decides_how_it_is_read(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken
