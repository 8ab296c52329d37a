"""Commands, courtesy, and other kinds of messages."""

from __future__ import annotations

from duologue.dialogue.grammar import signs
from duologue.dialogue.language.readings import Question, Slot, SlotKind
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH, tokens


def test_a_command_is_the_whole_message() -> None:
    assert signs.command_of(GERMAN, tokens("bitte noch mal, danke")) == "repeat"
    assert signs.command_of(GERMAN, tokens("ich möchte meinen Termin abbrechen lassen")) is None
    assert GERMAN.stem("warten") in signs.words_of_command(GERMAN, "wait")


def test_courtesy_is_the_whole_message() -> None:
    assert signs.courtesy_of(SPANISH, tokens("gracias, adiós", SPANISH)) == "farewell"
    assert signs.courtesy_of(SPANISH, tokens("hola, una mesa", SPANISH)) is None


def test_no_preference() -> None:
    assert signs.has_no_preference(GERMAN, tokens("das ist mir egal"), frozenset())
    assert not signs.has_no_preference(GERMAN, tokens("egal, Hauptsache Freitag"), frozenset())


def test_changes_and_what_stays() -> None:
    assert signs.only_asks_for_change(GERMAN, tokens("nein, ich möchte etwas ändern"))
    assert not signs.only_asks_for_change(GERMAN, tokens("den Tag ändern"))
    assert signs.keeps(SPANISH, tokens("déjelo así", SPANISH))
    assert signs.repeats(GERMAN, "Soll ich abbrechen?", tokens("abbrechen"))


def test_opposite_operations_exclude_each_other() -> None:
    assert signs.excludes(GERMAN, "ich will meine Karte entsperren", ["Karte sperren"])
    assert not signs.excludes(GERMAN, "ich will meine Karte sperren", ["Karte sperren"])


def test_a_reply_may_repeat_words_of_the_question_but_no_values() -> None:
    echo = signs.echo_of(GERMAN, Question(Slot("tag", SlotKind.DATE), "Passt Ihnen Freitag in der Praxis?"))
    assert GERMAN.stem("praxis") in echo
    assert GERMAN.stem("freitag") not in echo
    assert signs.echo_of_texts(GERMAN, "nicht") == frozenset()
    assert signs.is_value_word(GERMAN, "freitag")
    assert not signs.is_value_word(GERMAN, "praxis")
