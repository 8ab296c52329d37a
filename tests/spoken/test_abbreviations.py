"""Which abbreviations a language has, and what is said for them."""

from __future__ import annotations

import pytest

from duologue.spoken.abbreviations import ENGLISH, GERMAN, SPANISH, Abbreviations, abbreviations, folded
from duologue.spoken.rules import RewriteRules


def test_a_language_without_a_list_gets_the_english_one() -> None:
    assert abbreviations("fr") is abbreviations("en-GB") is ENGLISH
    assert abbreviations("de-AT") is GERMAN
    assert abbreviations("es_MX") is SPANISH


@pytest.mark.parametrize("known", [ENGLISH, GERMAN, SPANISH])
def test_no_abbreviation_is_in_two_lists_and_each_has_its_stop(known: Abbreviations) -> None:
    assert not known.inner_keys & known.either_keys
    assert all(key[-1] in ".ºª°" for key in known.all_keys)


def test_spaces_within_an_abbreviation_do_not_count() -> None:
    rules = RewriteRules(GERMAN.rules())
    assert rules.apply("Obst, z.B. Äpfel").text == rules.apply("Obst, z. B. Äpfel").text == "Obst, zum Beispiel Äpfel"
    assert folded("z. B.") == "z.B."


def test_an_abbreviation_within_a_word_is_none() -> None:
    rules = RewriteRules(ENGLISH.rules())
    assert rules.apply("The Addr. and 5 Nos.").text == "The Addr. and 5 Nos."
