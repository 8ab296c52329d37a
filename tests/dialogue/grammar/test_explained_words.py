"""Every word of a plain answer is accounted for."""

from __future__ import annotations

from duologue.dialogue.grammar.explained_words import (
    covered_by,
    is_carrier,
    leftover,
    objection,
    polite_places,
    unclear,
    unread,
)
from duologue.dialogue.language.match import Match
from duologue.dialogue.language.readings import Why
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


def test_a_word_that_is_neither_value_nor_carrier_is_left_over() -> None:
    said = tokens("ich hätte gerne Freitag Pizza")
    assert leftover(GERMAN, said, covered_by([Match(3, 4, ("x",))]), frozenset()) == [4]
    assert leftover(GERMAN, said, covered_by([Match(3, 4, ("x",))]), frozenset((GERMAN.stem("pizza"),))) == []


def test_denials_and_changes_are_objections() -> None:
    assert objection(GERMAN, tokens("nicht Freitag"), frozenset((1,))) is Why.NEGATED
    assert objection(GERMAN, tokens("statt Freitag"), frozenset((1,))) is Why.MARKER
    assert objection(GERMAN, tokens("nein, Freitag"), frozenset((1,))) is None
    assert objection(SPANISH, tokens("no el viernes", SPANISH), frozenset((2,))) is Why.NEGATED


def test_polite_phrases_are_accounted_for() -> None:
    assert polite_places(SPANISH, tokens("el viernes, por favor", SPANISH)) == {2, 3}


def test_carriers_and_empty_replies() -> None:
    assert is_carrier(GERMAN, "moechte")
    assert not is_carrier(GERMAN, "pizza")
    assert (unread("").why, unread("x").why) == (Why.EMPTY, Why.LONG)
    assert unclear(Why.LEFTOVER, tokens("a b"), [1]).leftover == ("b",)
