"""Spanish number words."""

from __future__ import annotations

import pytest

from duologue.spoken.spanish_numbers import cardinal, decimal, digits, ordinal


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "uno"), (16, "dieciséis"), (21, "veintiuno"), (31, "treinta y uno"), (100, "cien"), (101, "ciento uno"),
        (1_000, "mil"), (21_000, "veintiún mil"), (1_000_000, "un millón"), (500, "quinientos"), (-2, "menos dos"),
    ],
)  # fmt: skip
def test_a_whole_number_has_words(number: int, words: str) -> None:
    assert cardinal(number) == words


def test_a_number_agrees_with_the_noun_after_it() -> None:
    assert [cardinal(21, "m"), cardinal(21, "f"), cardinal(200, "f")] == ["veintiún", "veintiuna", "doscientas"]


def test_a_place_has_words_up_to_twenty() -> None:
    assert [ordinal(1, "o"), ordinal(3, "er"), ordinal(2, "a"), ordinal(20, "o")] == [
        "primero", "tercer", "segunda", "vigésimo",
    ]  # fmt: skip
    assert ordinal(21, "o") is None


@pytest.mark.parametrize(
    ("text", "words"), [("3,5", "tres coma cinco"), ("3,05", "tres coma cero cinco"), ("7", "siete")]
)
def test_a_decimal_has_words(text: str, words: str) -> None:
    assert decimal(text, "coma") == words
    assert digits("407") == "cuatro cero siete"
