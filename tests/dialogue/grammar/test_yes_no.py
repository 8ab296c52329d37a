"""Yes, no, doubt and questions."""

from __future__ import annotations

import pytest

from duologue.dialogue.grammar import yes_no
from duologue.dialogue.language.readings import Polarity, Trick
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


@pytest.mark.parametrize(
    ("text", "leaning"),
    [
        ("ja", Polarity.YES),
        ("kein Problem", Polarity.YES),
        ("das stimmt nicht", Polarity.NO),
        ("ja, nein", Polarity.BOTH),
        ("vielleicht", Polarity.UNSURE),
        ("Freitag", None),
    ],
)
def test_what_a_reply_leans_to(text: str, leaning: Polarity | None) -> None:
    assert yes_no.polarity(GERMAN, tokens(text)) is leaning


def test_a_pause_changes_what_a_spanish_no_denies() -> None:
    assert yes_no.polarity(SPANISH, tokens("no está bien", SPANISH)) is Polarity.NO
    assert yes_no.polarity(SPANISH, tokens("no, está bien", SPANISH)) is Polarity.BOTH


def test_words_that_are_no_part_of_a_yes() -> None:
    assert yes_no.places_outside_yes_no(GERMAN, tokens("ja, Pizza")) == [1]
    assert yes_no.phrase_places(GERMAN, tokens("auf jeden Fall")) == {0, 1, 2}
    assert yes_no.is_plain_yes(GERMAN, tokens("stimmt"))
    assert not yes_no.is_plain_yes(GERMAN, tokens("gute Frage"))


def test_the_answer_before_an_explanation() -> None:
    assert yes_no.opening_answer(GERMAN, tokens("ja, es tut weh")) is True
    assert yes_no.opening_answer(GERMAN, tokens("nein, es blutet")) is False
    assert yes_no.opening_answer(GERMAN, tokens("ja, aber morgen")) is None


def test_questions_that_make_a_plain_answer_unclear() -> None:
    assert yes_no.trick_of(GERMAN, "Möchten Sie kein Frühstück?") is Trick.DENIES
    assert yes_no.trick_of(GERMAN, "Möchten Sie Frühstück?") is None
    assert yes_no.asks_for_more(GERMAN, "Kann ich sonst noch etwas tun?")
    assert yes_no.asks_about_past(GERMAN, "Haben Sie angerufen?")
    assert yes_no.is_about_birth(GERMAN, "Ihr Geburtsdatum?")
    assert yes_no.is_about_future(GERMAN, tokens("ich werde anrufen"))


def test_not_yet_and_nothing_more() -> None:
    assert yes_no.postpones(GERMAN, tokens("nein, noch nicht"))
    assert yes_no.where_nothing_more(GERMAN, tokens("nein, das war alles")) == range(1, 4)


def test_questions_by_words_and_by_marks() -> None:
    assert yes_no.asks_by_words(GERMAN, tokens("ja, und wie lange dauert das"))
    assert not yes_no.asks_by_words(SPANISH, tokens("cómo no", SPANISH))
    assert yes_no.has_question_mark(tokens("Freitag?"))
    assert yes_no.asks(GERMAN, tokens("Freitag?"))
