"""Replies to confirmations, read with the engine."""

from __future__ import annotations

from duologue.dialogue.grammar.read_confirmation import new_values, plain_answer, read_confirmation, says_yes_then_asks
from duologue.dialogue.language.readings import Confirmation, ConfirmationAnswer, Slot, SlotKind, Unclear
from tests.dialogue.grammar.lexicons import GERMAN, tokens

ASKED, TODAY = "Am 6. März um 15 Uhr. Soll ich buchen?", "2026-03-04"


def test_a_yes_has_no_other_words() -> None:
    assert read_confirmation(GERMAN, ASKED, "ja, bitte buchen", TODAY) == Confirmation(ConfirmationAnswer.YES)
    assert isinstance(read_confirmation(GERMAN, ASKED, "ja, mit Pizza", TODAY), Unclear)
    assert isinstance(read_confirmation(GERMAN, ASKED, "ja, aber später", TODAY), Unclear)


def test_a_change_has_its_value_only_if_all_was_understood() -> None:
    time = (Slot("time", SlotKind.TIME),)
    change = read_confirmation(GERMAN, ASKED, "nein, um 16 Uhr", TODAY, time)
    assert isinstance(change, Confirmation)
    assert [value.value for value in change.values] == ["16:00"]
    vague = read_confirmation(GERMAN, ASKED, "nein, um 16 Uhr mit Pizza", TODAY, time)
    assert isinstance(vague, Confirmation)
    assert vague.values == ()


def test_only_values_that_the_question_didnt_name_are_new() -> None:
    assert new_values(GERMAN, tokens("ja, um 15 Uhr"), TODAY, ASKED) == []
    assert len(new_values(GERMAN, tokens("um 16 Uhr"), TODAY, ASKED)) == 1


def test_an_explicit_answer_in_a_longer_reply() -> None:
    assert plain_answer(GERMAN, ASKED, "ja, meine Frau freut sich", TODAY) is ConfirmationAnswer.YES
    assert plain_answer(GERMAN, ASKED, "sind Sie sicher?", TODAY) is None
    assert plain_answer(GERMAN, ASKED, "ja, um 16 Uhr", TODAY) is None


def test_a_yes_and_then_a_question() -> None:
    assert says_yes_then_asks(GERMAN, ASKED, "Ja, genau. Wo sind Sie denn?", TODAY)
    assert not says_yes_then_asks(GERMAN, ASKED, "Was kostet das?", TODAY)
