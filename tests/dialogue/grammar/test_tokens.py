"""Messages as tokens."""

from __future__ import annotations

from duologue.dialogue.grammar.tokens import CHARS_MAX, stems_of, tokens_of
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


def test_dates_times_and_amounts_are_one_token() -> None:
    words = [token.word for token in tokens("am 3.5.2026 um 14:30 für 12,50 €")]
    assert words == ["am", "3.5.2026", "um", "14:30", "fuer", "12,50", "€"]


def test_a_token_knows_its_place_and_the_pause_before_it() -> None:
    first, second = tokens("Nein, Freitag")
    assert (first.start, first.end, second.start, second.pause) == (0, 4, 6, ",")


def test_the_dot_of_an_ordinal_stays_in_its_text() -> None:
    assert (tokens("3. Mai")[0].text, tokens("3. Mai")[0].word) == ("3.", "3")


def test_hesitations_are_dropped_and_long_messages_have_no_tokens() -> None:
    assert [token.word for token in tokens("ähm, Freitag")] == ["freitag"]
    assert tokens_of(GERMAN, "a " * CHARS_MAX) == ()


def test_a_question_mark_is_kept() -> None:
    assert tokens("¿el viernes?", SPANISH)[0].pause == "?"
    assert tokens("Freitag?")[0].text == "Freitag?"


def test_an_identifier_has_several_stems() -> None:
    assert stems_of(GERMAN, "pickup_datum") == {"pickup", "datum"}
