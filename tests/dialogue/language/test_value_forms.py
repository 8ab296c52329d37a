"""Values are said in the forms of a language."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.value_forms import ValueForms
from duologue.dialogue.templates import as_said, either, fill, spelled, spoken


def forms(code: str) -> ValueForms:
    return pack_of(code).spoken


@pytest.mark.parametrize(
    ("value", "german", "spanish"),
    [
        ("2026-03-06", "6. März", "6 de marzo"),
        ("2028-03-06", "6. März 2028", "6 de marzo de 2028"),
        ("15:30", "15:30 Uhr", "15:30"),
        ("15:00", "15 Uhr", "15:00"),
        ("PT1H30M", "1 Stunde und 30 Minuten", "1 hora y 30 minutos"),
        ("P3D", "3 Tage", "3 días"),
        (True, "ja", "sí"),
        (12.5, "12,5", "12,5"),
        (("a", "b"), "a oder b", "a o b"),
    ],
)
def test_values_are_said_in_german_and_spanish(value: object, german: str, spanish: str) -> None:
    assert spoken(value, "2026-03-04", forms("de")) == german
    assert spoken(value, "2026-03-04", forms("es")) == spanish


def test_nights_lists_and_spelled_addresses() -> None:
    assert as_said("P3D", "drei Nächte", forms("de")) == "3 Nächte"
    assert either(["a", "b", "c"], forms("es")) == "a, b o c"
    assert spelled("ana@web.es", forms("es")) == "a n a arroba web.es"
    assert fill("Am {day}.", {"day": "2026-03-06"}, "2026-03-04", forms("de")) == "Am 6. März."
