"""What the readers of a reply share."""

from __future__ import annotations

from duologue.dialogue.english.reply_context import ReplyContext
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.days import today_of
from duologue.dialogue.language.match import Match
from duologue.dialogue.language.readings import Ambiguous, Choice, Confirmation, Direct, Question, Slot, SlotKind, Value

DAY = Slot("day", SlotKind.DATE)
COLOUR = Slot("colour", SlotKind.CHOICE, (Choice("red"), Choice("blue")))


def context(question: Question, reply: str) -> ReplyContext:
    return ReplyContext(question, reply, tokens_of(reply), today_of("2026-03-04"))


def test_values_of_the_asked_slot_and_words_of_others() -> None:
    c = context(Question(DAY, others=(COLOUR,)), "the red one on friday")
    assert [match.candidates for match in c.find()] == [("2026-03-06",)]
    assert c.words_of_other_slots(frozenset()) == {0, 1, 2}


def test_a_match_becomes_a_value_or_candidates() -> None:
    c = context(Question(DAY), "on friday please")
    assert c.as_reading(Match(1, 2, ("2026-03-06",))) == Direct((Value("day", "2026-03-06", "friday", (3, 9)),))
    found = c.as_reading(Match(1, 2, ("2026-03-06", "2026-03-13")))
    assert isinstance(found, Ambiguous)
    assert (found.raw, found.span) == ("friday", (3, 9))


def test_a_yes_takes_the_proposed_value_and_a_no_refuses_it() -> None:
    asked = Question(DAY, "On Friday?", proposed="2026-03-06")
    accepted = context(asked, "yes please").assented()
    assert isinstance(accepted, Direct)
    assert accepted.value_of("day") == "2026-03-06"
    assert isinstance(context(asked, "no thanks").denied(), Confirmation)


def test_a_question_for_a_birth_reads_dates_of_birth() -> None:
    born = Slot("when", SlotKind.DATE, is_past=True)
    assert context(Question(born, "What is your date of birth?"), "friday").slot.is_birth
    assert not context(Question(born, "When was it?"), "friday").slot.is_birth
