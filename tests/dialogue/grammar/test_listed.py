"""Choices and names from a list."""

from __future__ import annotations

from duologue.dialogue.english.names import NameList
from duologue.dialogue.grammar.listed import find_choices, find_names, find_pointed, folded_names, names_of_choices
from duologue.dialogue.language.match import Span
from duologue.dialogue.language.readings import Choice
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens

SIZES = (Choice("klein"), Choice("groß"))


def test_a_choice_is_found_in_another_form() -> None:
    assert find_choices(GERMAN, tokens("die kleine bitte"), SIZES)[0].candidates == ("klein",)
    assert find_choices(GERMAN, tokens("gross"), SIZES)[0].candidates == ("groß",)


def test_a_choice_by_its_position() -> None:
    assert find_pointed(GERMAN, tokens("den zweiten"), 2) == (1, Span(0, 2))
    assert find_pointed(SPANISH, tokens("la última", SPANISH), 3) == (2, Span(0, 2))
    assert find_pointed(GERMAN, tokens("am dritten Mai"), 2) is None


def test_names_are_compared_as_the_language_writes_them() -> None:
    cities = NameList.of(["München", "Köln"])
    assert find_names(GERMAN, tokens("nach Muenchen"), cities)[0].candidates == ("München",)
    assert ("koeln",) in folded_names(GERMAN, cities).values
    assert len(names_of_choices(GERMAN, SIZES)) == 2
