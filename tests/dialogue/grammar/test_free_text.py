"""Names that are on no list, and free text."""

from __future__ import annotations

from duologue.dialogue.grammar import free_text
from duologue.dialogue.language.match import Span
from duologue.dialogue.language.readings import Slot, SlotKind
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


def test_a_name_is_introduced_or_the_whole_reply() -> None:
    assert free_text.open_name(GERMAN, tokens("ich heiße Anna Meier"), is_person=True) == Span(2, 4)
    assert free_text.open_name(GERMAN, tokens("ich bin müde"), is_person=True) is None
    assert free_text.open_name(SPANISH, tokens("mi mujer se llama Ana", SPANISH), is_person=True) is None


def test_a_spelled_name_has_to_agree_with_the_name() -> None:
    assert free_text.spelled_name(GERMAN, tokens("Meier, M E I E R")) == ("Meier", Span(0, 6))
    assert free_text.spelled_name(GERMAN, tokens("Meier, M A I E R")) is None


def test_a_name_in_a_sentence_that_goes_on() -> None:
    said = tokens("mein Name ist Anna Meier und ich brauche einen Termin")
    assert free_text.name_in_sentence(GERMAN, said) == Span(3, 5)


def test_free_text_loses_politeness_and_questions_at_its_end() -> None:
    said = tokens("also meine Krone ist raus, und wie lange dauert das?")
    whole = free_text.trimmed_text(GERMAN, said, Slot("x", SlotKind.TEXT))
    assert whole == Span(1, 10)
    assert free_text.answering_part(GERMAN, said, whole) == Span(1, 5)
    assert free_text.has_sentences(tokens("Krone. Es tut weh"), Span(0, 4))
    assert free_text.bare_text(GERMAN, tokens("starke Zahnschmerzen bitte")) == Span(0, 2)
    assert free_text.without_filler(GERMAN, tokens("ja bitte")) == Span(2, 2)


def test_a_comment_after_a_name_is_no_part_of_it() -> None:
    assert free_text.name_in_sentence(GERMAN, tokens("Sabine Hoffmann, mit zwei f")) == Span(0, 2)
    assert free_text.name_in_sentence(GERMAN, tokens("Sabine Hoffmann, mit zwei k")) is None
    assert free_text.name_in_sentence(GERMAN, tokens("Sabine Hoffmann, nein, Hofmann")) is None
    assert free_text.name_in_sentence(SPANISH, tokens("Ana Ruiz, con zeta", SPANISH)) == Span(0, 2)


def test_words_that_introduce_a_text_are_left_out() -> None:
    text = Slot("x", SlotKind.TEXT)
    assert free_text.trimmed_text(GERMAN, tokens("ich sagte doch, die lange Reise"), text) == Span(3, 6)
    assert free_text.trimmed_text(SPANISH, tokens("ya le dije, la casa verde", SPANISH), text) == Span(3, 6)
