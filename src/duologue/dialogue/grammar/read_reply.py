"""Reads a reply to one question: a value, several candidates, a command, or something for NLU.

Rule: nothing is used from a reply that isn't wholly understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..language.days import Today, today_of
from ..language.greetings import without_greeting
from ..language.match import Match
from ..language.readings import (
    ANY,
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Json,
    Polarity,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Trick,
    Unclear,
    Value,
    Why,
)
from ..language.tokens import Token, span_of, words_of
from .dates import SPAN_OF_DAYS
from .explained_words import covered_by, leftover, objection, unclear, unread
from .find_values import Found, find_values
from .free_text import bare_text, open_name, spelled_name
from .lexicon import Lexicon, phrase_at
from .listed import find_pointed, folded_names, names_of_choices
from .several_slots import assign, contradicts_role, role_places, values_of
from .signs import command_of, echo_of, has_no_preference
from .times import find_day_parts, is_in_part
from .tokens import stems_of, tokens_of
from .yes_no import (
    asks,
    asks_about_past,
    asks_for_more,
    has_question_mark,
    is_about_birth,
    is_about_future,
    phrase_places,
    places_outside_yes_no,
    polarity,
    postpones,
    trick_of,
    where_nothing_more,
)

_MAYBE_SEVERAL = (Why.LEFTOVER, Why.SEVERAL, Why.NO_VALUE, Why.MARKER, Why.NEGATED, Why.QUESTION)
_MOMENTS = (SlotKind.DATE, SlotKind.TIME)


def read(lexicon: Lexicon, question: Question, reply: str, today: str) -> Reading:
    """What a reply to a question means."""
    tokens = without_greeting(tokens_of(lexicon, reply), lexicon.greetings, lexicon.openings)
    if not tokens:
        return unread(reply)
    reader = _Reader(lexicon, question, reply, tokens, today_of(today))
    command = command_of(lexicon, tokens)
    if command is not None and not reader.is_rather_a_value(command):
        return SpokenCommand(command)
    reading = reader.read()
    if command is not None and isinstance(reading, Unclear):
        return SpokenCommand(command)
    if question.others and (_is_maybe_several(reading) or reader.gives_both_moments()):
        reading = reader.several() or reading
    return reading


def _is_maybe_several(reading: Reading) -> bool:
    return isinstance(reading, Unclear) and reading.why in _MAYBE_SEVERAL


def read_volunteered(lexicon: Lexicon, slots: tuple[Slot, ...], reply: str, about: str, today: str) -> Direct | None:
    """The values in a message that doesn't answer a question, if the message says nothing else; otherwise None."""
    tokens = without_greeting(tokens_of(lexicon, reply), lexicon.greetings, lexicon.openings)
    if not tokens or not slots:
        return None
    question = Question(slots[0], about=about, others=slots[1:])
    reader = _Reader(lexicon, question, reply, tokens, today_of(today))
    reader.is_asked = False
    return reader.several()


class _Reader:
    """Reads one reply to one question."""

    def __init__(self, lexicon: Lexicon, question: Question, reply: str, tokens: Sequence[Token], today: Today) -> None:
        self.lexicon = lexicon
        self.question = question
        self.slot = self._as_birth(question)
        self.reply = reply
        self.tokens = tokens
        self.today = today
        self.echo = echo_of(lexicon, question)
        self.is_asked = True

    def _as_birth(self, question: Question) -> Slot:
        slot = question.slot
        about = slot.is_birth or is_about_birth(self.lexicon, slot.name, question.text)
        is_birth = slot.is_past and not question.among and about
        return slot if slot.is_birth is is_birth else replace(slot, is_birth=is_birth)

    def is_rather_a_value(self, command: str) -> bool:
        """Is what looks like a command really a value here? True for "eine Minute" after "how long?", and for a choice
        that has the name of a command."""
        if command == "wait" and self.slot.kind is SlotKind.DURATION:
            return True
        if command in ("person", "skip") and self.slot.kind is SlotKind.NUMBER:
            return bool(self._find().matches)
        if self.slot.kind is not SlotKind.CHOICE:
            return False
        return bool(names_of_choices(self.lexicon, self.slot.choices).values and self._find().matches)

    def read(self) -> Reading:
        if self.question.among and (settled := self._among()) is not None:
            return settled
        kind = self.slot.kind
        if kind is not SlotKind.YES_NO and has_no_preference(self.lexicon, self.tokens, self.echo):
            whole = Match(0, len(self.tokens), (ANY,))
            return self._as_reading(whole) if self.slot.may_be_any else unclear(Why.NO_VALUE)
        if kind is SlotKind.YES_NO:
            return self._yes_no()
        if kind is SlotKind.NAME and self.slot.is_open and (spelled := spelled_name(self.lexicon, self.tokens)):
            return self._as_reading(Match(*spelled[1], (spelled[0],)))
        found = self._find()
        covered = covered_by(found.matches) | (found.also if found.matches else frozenset())
        covered |= role_places(self.lexicon, self.tokens, found.matches, self.slot)
        why = objection(self.lexicon, self.tokens, covered)
        if found.matches and why in (None, Why.QUESTION, Why.MARKER) and self._asks_if_it_suits(covered):
            covered, why = frozenset(range(len(self.tokens))) - self._of_others(covered), None
        if why is not None:
            is_no = why is Why.NEGATED and (not found.matches or self.question.proposed is not None)
            return self._denied() if is_no else unclear(why)
        return self._value(found.matches, covered) if found.matches else self._without_value()

    def _find(self) -> Found:
        return find_values(self.lexicon, self.tokens, self.slot, self.today, is_asked=True)

    def _asks_if_it_suits(self, covered: frozenset[int]) -> bool:
        """Does the reply propose a day or time by asking whether it suits? True for "geht Freitag?"."""
        if self.slot.kind not in _MOMENTS:
            return False
        words = words_of(self.tokens)
        around = self.lexicon.polite | self.lexicon.fillers
        first = next((at for at, word in enumerate(words) if word not in around), 0)
        size = phrase_at(words, first, self.lexicon.offering)
        if not size:
            return False
        rest = [at for at in range(first + size, len(words)) if at not in covered]
        allowed = self.lexicon.suits | self.lexicon.carriers | around
        return all(words[at] in allowed or self.lexicon.stem(words[at]) in self.echo for at in rest)

    def _value(self, matches: Sequence[Match], covered: frozenset[int]) -> Reading:
        first = matches[0]
        shared = tuple(value for value in first.candidates if all(value in other.candidates for other in matches[1:]))
        if not shared:
            return self._alternatives(matches, covered) or unclear(Why.SEVERAL)
        match = first._replace(candidates=shared) if len(matches) > 1 else first
        if contradicts_role(self.lexicon, self.tokens, match, self.slot):
            return unclear(Why.OTHER_END)
        if any(token.word in self.lexicon.or_words for at, token in enumerate(self.tokens) if at not in covered):
            return unclear(Why.SEVERAL)
        left = sorted({*leftover(self.lexicon, self.tokens, covered, self.echo), *self._of_others(covered)})
        if left:
            return unclear(Why.LEFTOVER, self.tokens, left)
        return self._as_reading(match)

    def _of_others(self, covered: frozenset[int]) -> frozenset[int]:
        """The indexes of words that give a value for another slot. Such words are never ignored as carrier words."""
        listed = [slot for slot in self.question.others if slot.kind in (SlotKind.CHOICE, SlotKind.NAME)]
        found = [
            match
            for slot in listed
            for match in find_values(self.lexicon, self.tokens, slot, self.today, is_asked=False).matches
        ]
        return covered_by(match for match in found if not covered & set(range(match.first, match.after)))

    def _alternatives(self, matches: Sequence[Match], covered: frozenset[int]) -> Reading | None:
        """Reads a reply that names two values with an "or" between them: "zwei oder drei". Both values are candidates,
        and the agent has to ask which one is meant. None for any other reply."""
        if len(matches) != 2 or any(len(match.candidates) != 1 for match in matches):
            return None
        between = range(matches[0].after, matches[1].first)
        ors = {at for at in between if self.tokens[at].word in self.lexicon.or_words}
        if not ors or leftover(self.lexicon, self.tokens, covered | ors, self.echo):
            return None
        start, end = span_of(self.tokens, matches[0].first, matches[1].after)
        both = tuple(match.candidates[0] for match in matches)
        return Ambiguous(self.slot.name, both, self.reply[start:end], (start, end), must_ask=True)

    # -- The grammar of the slot found no value

    def _without_value(self) -> Reading:
        left = leftover(self.lexicon, self.tokens, frozenset(), self.echo)
        if not left and self.slot.kind is not SlotKind.TEXT:
            return self._assented()
        if (near := self._near(left)) is not None:
            return near
        is_person = bool(self.echo & self.lexicon.name_words)
        span = None
        if self.slot.kind is SlotKind.NAME and self.slot.is_open:
            span = open_name(self.lexicon, self.tokens, is_person=is_person)
        elif self.slot.kind is SlotKind.TEXT:
            span = bare_text(self.lexicon, self.tokens)
        if span is None or self._of_others(frozenset()):
            return unclear(Why.LEFTOVER, self.tokens, left) if left else unclear(Why.NO_VALUE)
        start, end = span_of(self.tokens, *span)
        match = Match(*span, (self.reply[start:end],))
        if contradicts_role(self.lexicon, self.tokens, match, self.slot):
            return unclear(Why.OTHER_END)
        return self._as_reading(match)

    def _near(self, left: list[int]) -> Reading | None:
        """Reads words that nothing else explained and that are almost a listed name. Unless the name is certain, the
        agent asks whether it was meant. None if no name is similar."""
        names = None
        if self.slot.kind is SlotKind.CHOICE:
            names = names_of_choices(self.lexicon, self.slot.choices)
        elif self.slot.kind is SlotKind.NAME and self.slot.names is not None:
            names = folded_names(self.lexicon, self.slot.names)
        if names is None or not left or len(left) != left[-1] + 1 - left[0]:
            return None
        words = [self.tokens[at].word for at in left]
        near = names.near(words)
        is_open = self.slot.is_open and self.slot.kind is SlotKind.NAME
        if not near:
            return None
        if len(near) == 1 and names.is_sure(words, is_open=is_open):
            return self._as_reading(Match(left[0], left[-1] + 1, near))
        start, end = span_of(self.tokens, left[0], left[-1] + 1)
        candidates: tuple[Json, ...] = (*near, self.reply[start:end]) if is_open else near
        return Ambiguous(self.slot.name, candidates, self.reply[start:end], (start, end), must_ask=True)

    def _assented(self) -> Reading:
        """Reads a reply that has only carrier words. Returns a yes to the proposed value, a no, or a result which says
        that the reply isn't an answer."""
        leaning = polarity(self.lexicon, self.tokens)
        if leaning is not Polarity.YES:
            return self._denied() if leaning is Polarity.NO else unclear(Why.NO_VALUE)
        if self.question.proposed is None:
            return unclear(Why.NOTHING_PROPOSED)
        if trick_of(self.lexicon, self.question.text) is not None or has_question_mark(self.tokens):
            return unclear(Why.NO_VALUE)
        return self._as_reading(Match(0, len(self.tokens), (self.question.proposed,)))

    def _denied(self) -> Reading:
        may_deny = self.question.proposed is not None or self.slot.may_be_any
        is_no = polarity(self.lexicon, self.tokens) is Polarity.NO and not self._outside()
        return Confirmation(ConfirmationAnswer.NO) if may_deny and is_no else unclear(Why.NEGATED)

    # -- Yes or no

    def _yes_no(self) -> Reading:
        if asks(self.lexicon, self.tokens):
            return unclear(Why.QUESTION)
        whole = Match(0, len(self.tokens), (False,))
        if postpones(self.lexicon, self.tokens):
            return self._as_reading(whole)
        enough = (
            where_nothing_more(self.lexicon, self.tokens) if asks_for_more(self.lexicon, self.question.text) else None
        )
        left = [at for at in self._outside() if enough is None or at not in enough]
        if left:
            return unclear(Why.LEFTOVER, self.tokens, left)
        if enough is not None:
            return self._as_reading(whole)
        leaning = polarity(self.lexicon, self.tokens)
        if leaning is None and any(token.word in self.lexicon.wishes for token in self.tokens):
            leaning = Polarity.YES
        phrases = phrase_places(self.lexicon, self.tokens)
        if any(token.word in self.lexicon.markers for at, token in enumerate(self.tokens) if at not in phrases):
            return unclear(Why.MARKER)
        if leaning not in (Polarity.YES, Polarity.NO) or self._is_tricked():
            return unclear(Why.NO_VALUE)
        return self._as_reading(whole._replace(candidates=(leaning is Polarity.YES,)))

    def _is_tricked(self) -> bool:
        """Could this reply mean either yes or no, because of the wording of the question?"""
        trick = trick_of(self.lexicon, self.question.text)
        if asks_about_past(self.lexicon, self.question.text) and is_about_future(self.lexicon, self.tokens):
            return True
        if trick is Trick.DENIES:
            named = stems_of(self.lexicon, self.slot.name)
            return not any(self.lexicon.stem(token.word) in named for token in self.tokens)
        return trick is not None

    def _outside(self) -> list[int]:
        outside = places_outside_yes_no(self.lexicon, self.tokens)
        return [at for at in outside if self.lexicon.stem(self.tokens[at].word) not in self.echo]

    # -- The agent asked which one is meant

    def _among(self) -> Reading | None:
        """Reads which of the offered candidates the user picks. None if the reply doesn't pick exactly one."""
        among = self.question.among
        if len(among) == 1 and polarity(self.lexicon, self.tokens) is Polarity.YES and not self._outside():
            return self._as_reading(Match(0, len(self.tokens), among))
        found = self._find()
        matches, covered = found.matches, covered_by(found.matches) | found.also
        named = [value for match in matches for value in match.candidates]
        chosen = [value for value in among if value in named]
        if self.slot.kind is SlotKind.TIME:
            parts = find_day_parts(self.lexicon, self.tokens)
            pool = chosen or (list(among) if not matches else [])
            if parts:
                chosen = [one for one in pool if all(is_in_part(str(one), str(part.candidates[0])) for part in parts)]
                matches, covered = sorted([*matches, *parts]), covered | covered_by(parts)
        if not chosen and (pointed := find_pointed(self.lexicon, self.tokens, len(among))) is not None:
            chosen, matches = [among[pointed[0]]], [Match(*pointed[1], ())]
            covered = covered_by(matches)
        if len(chosen) != 1 or not matches or objection(self.lexicon, self.tokens, covered) is not None:
            return None
        if leftover(self.lexicon, self.tokens, covered, self.echo):
            return None
        return self._as_reading(Match(matches[0].first, matches[-1].after, (chosen[0],)))

    # -- Several slots

    def gives_both_moments(self) -> bool:
        """Does the reply give a day, although the agent asked only for a time? Then it probably gives a day and a time,
        as in "tomorrow at eight"."""
        days = [slot for slot in self.question.others if slot.kind is SlotKind.DATE]
        return self.slot.kind is SlotKind.TIME and any(
            find_values(self.lexicon, self.tokens, slot, self.today, is_asked=False).matches for slot in days
        )

    def several(self) -> Direct | None:
        """The values for the slot that was asked for and for other slots, if the reply says nothing else; otherwise
        None."""
        asked = self.slot.name if self.is_asked and self.slot.kind in (SlotKind.DATE, SlotKind.TIME) else ""
        assigned = assign(self.lexicon, self.tokens, (self.slot, *self.question.others), self.today, asked)
        if assigned is None or not assigned[0]:
            return None
        filled, covered = assigned
        if any(len(match.candidates) != 1 for _, match in filled.values()):
            return None
        if self.is_asked and self.slot.name not in filled and self._might_answer([slot for slot, _ in filled.values()]):
            return None
        if objection(self.lexicon, self.tokens, covered) is not None:
            return None
        if any(token.word in self.lexicon.or_words for at, token in enumerate(self.tokens) if at not in covered):
            return None
        if leftover(self.lexicon, self.tokens, covered, self.echo):
            return None
        values = values_of(self.reply, self.tokens, filled)
        if self.slot.kind is not SlotKind.YES_NO or not self.is_asked or (answer := self._opening()) is None:
            return Direct(values)
        return None if trick_of(self.lexicon, self.question.text) else Direct((answer, *values))

    def _might_answer(self, slots: Sequence[Slot]) -> bool:
        """Could this value, which was read for another slot, be the answer to the question? Yes, if both slots take the
        same kind of value."""
        return any(slot.kind is self.slot.kind for slot in slots)

    def _opening(self) -> Value | None:
        """The yes or no at the beginning of a reply that also gives other values. None if the reply doesn't begin with
        a yes or no."""
        around = (self.lexicon.polite | self.lexicon.fillers) - self.lexicon.assent
        token = next((token for token in self.tokens if token.word not in around), self.tokens[0])
        if token.word not in self.lexicon.assent | self.lexicon.dissent:
            return None
        return Value(self.slot.name, token.word in self.lexicon.assent, token.text, (token.start, token.end))

    def _as_reading(self, match: Match) -> Reading:
        start, end = span_of(self.tokens, match.first, match.after)
        raw = self.reply[start:end]
        if len(match.candidates) == 1:
            return Direct((Value(self.slot.name, match.candidates[0], raw, (start, end)),))
        return Ambiguous(self.slot.name, match.candidates, raw, (start, end), match.unit == SPAN_OF_DAYS)
