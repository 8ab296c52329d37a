"""A reply to one question, with the data and methods that all functions for reading replies need.

Rule: this module doesn't decide what a reply means. It finds values and builds the result from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..language.days import Today
from ..language.match import DOUBTED, Match, overlaps
from ..language.readings import (
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Question,
    Reading,
    Slot,
    SlotKind,
    Value,
    Why,
)
from .birth_dates import is_about_birth
from .carrier_words import APPROVAL, ASSENT
from .dates import SPAN_OF_DAYS
from .explained_words import covered_by, echo_of, unclear
from .grammar_for_kind import find_values
from .numbers import find_digit_run
from .ordinal_numbers import find_ordinal_number
from .party_size import counts_people, find_party, repeats_count, with_company
from .tokens import Token, span_of, stem, tokens_of
from .units import asks_how_many, find_zero, in_asked_period, with_units
from .yes_no import Polarity, asks_for_more, is_bare_yes_no, places_outside_yes_no, polarity, trick_of

MOMENTS = (SlotKind.DATE, SlotKind.TIME)  # kinds for which a reply may ask whether a value suits

_WHO = frozenset("who who's whom whose".split())


class ReplyContext:
    """One reply to one question. If `is_asked` is False, the text isn't the answer to a question."""

    def __init__(
        self, question: Question, reply: str, tokens: Sequence[Token], today: Today, *, is_asked: bool = True
    ) -> None:
        self.question = question
        self.slot = _as_birth(question)
        self.reply = reply
        self.tokens = tokens
        self.today = today
        self.echo = echo_of(question)
        self.is_asked = is_asked

    def find(self) -> list[Match]:
        takes_another = asks_for_more(self.question.text)
        matches = find_values(self.tokens, self.slot, self.today, is_asked=True, takes_another=takes_another)
        if self.slot.kind is not SlotKind.NUMBER:
            return matches
        if not matches and (floor := find_ordinal_number(self.tokens, self.echo)) is not None:
            return [floor]
        nothing = find_zero(self.tokens, self.question)
        if nothing is not None and (not self.slot.may_be_any or nothing.after - nothing.first > 1):
            return [nothing]  # for an optional slot, a bare "none" leaves it empty
        if not asks_how_many(self.question) and (digits := find_digit_run(self.tokens)) is not None:
            return [digits]
        takes_people = counts_people(self.question)
        company = find_party(self.tokens) if takes_people else None
        rest = [match for match in matches if company is None or not overlaps(match, company)]
        if company is not None and rest and repeats_count(self.tokens, rest, company):
            return [company._replace(first=min(company.first, rest[0].first))]
        rest = in_asked_period(self.tokens, with_units(self.tokens, rest), self.question)
        rest = with_company(self.tokens, rest) if takes_people else rest
        return rest + ([company] if company is not None else [])

    def asks_for_person(self) -> bool:
        """Does the question ask for the name of a person? True for "your name?" and "who is it for?". If so, an
        ordinary word such as "June" may be the name."""
        return "nam" in self.echo or any(token.word in _WHO for token in tokens_of(self.question.text))

    def words_of_other_slots(self, covered: frozenset[int]) -> frozenset[int]:
        """The indexes of words that give a value for another slot. Such words are never ignored as carrier words (words
        around a value, such as "I'd like")."""
        listed = [
            slot for slot in self.question.others if slot.kind in (SlotKind.CHOICE, SlotKind.NAME, SlotKind.YES_NO)
        ]
        matches = [match for slot in listed for match in find_values(self.tokens, slot, self.today, is_asked=False)]
        return covered_by(match for match in matches if not covered & set(range(match.first, match.after)))

    def answers_twice(self, match: Match) -> bool:
        """Does the first sentence of the reply already answer the question, before the match begins? Example: the match
        is "Friday" in "Yes, that works. I need it until Friday"."""
        ends = next((place for place, token in enumerate(self.tokens) if place and token.pause in (".", "?")), 0)
        if not 0 < ends <= match.first:
            return False
        first = self.tokens[:ends]
        return any(token.word in ASSENT for token in first) and any(stem(token.word) in APPROVAL for token in first[1:])

    def names_a_value(self) -> bool:
        """Does the reply contain a value that the grammar would also find among other words? False for a name that
        isn't on the list of its slot."""
        return self.slot.kind is not SlotKind.NAME or bool(self.find())

    def places_outside_yes_no(self) -> list[int]:
        """The indexes of words that are neither part of a yes or no nor repeated from the question."""
        return [place for place in places_outside_yes_no(self.tokens) if stem(self.tokens[place].word) not in self.echo]

    def assented(self) -> Reading:
        """Reads a reply that has only carrier words (words around a value, such as "sure" or "I'd like"). Returns a
        yes to the proposed value, a no, or a result which says that the reply isn't an answer."""
        leaning = polarity(self.tokens)
        if leaning is not Polarity.YES:
            return self.denied() if leaning is Polarity.NO else unclear(Why.NO_VALUE)
        if self.question.proposed is None:
            return unclear(Why.NOTHING_PROPOSED)
        if trick_of(self.question.text) is not None and is_bare_yes_no(self.tokens):
            return unclear(Why.NO_VALUE)
        return self.as_reading(Match(0, len(self.tokens), (self.question.proposed,)))

    def denied(self) -> Reading:
        """Reads a reply that denies something. If the question proposed a value or the slot is optional, a plain denial
        is a no. Any other denial goes to NLU."""
        may_deny = self.question.proposed is not None or self.slot.may_be_any
        if may_deny and not self.places_outside_yes_no() and polarity(self.tokens) is Polarity.NO:
            return Confirmation(ConfirmationAnswer.NO)
        return unclear(Why.NEGATED)

    def as_reading(self, match: Match) -> Reading:
        start, end = span_of(self.tokens, match.first, match.after)
        raw = self.reply[start:end]
        if match.unit == DOUBTED:
            return Ambiguous(self.slot.name, match.candidates, raw, (start, end), must_ask=True)
        if len(match.candidates) == 1:
            return Direct((Value(self.slot.name, match.candidates[0], raw, (start, end)),))
        return Ambiguous(self.slot.name, match.candidates, raw, (start, end), match.unit == SPAN_OF_DAYS)


def _as_birth(question: Question) -> Slot:
    """The slot that was asked for, marked as a date of birth if the question asks for one. Not marked when the agent
    asks which of two dates is meant: their year is known, so the mark, which helps to choose a year, isn't needed."""
    slot = question.slot
    is_birth = slot.is_past and not question.among and (slot.is_birth or is_about_birth(slot.name, question.text))
    return slot if slot.is_birth is is_birth else replace(slot, is_birth=is_birth)
