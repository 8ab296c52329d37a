"""Reads a reply to one question: a value, several candidates, a command, or something for NLU.

First as a value of the asked slot, then, if that doesn't explain every word, as values of several slots. Rule: nothing
is taken from a reply that isn't wholly understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .carrier_words import APPROVAL, ASSENT, DISSENT, FILLERS, GIVEN_NAMES, POLITE
from .choices import find_choices, find_pointed
from .commands import command_of
from .days import Today, today_of
from .explained_words import covered_by, echo_of, leftover, objection, unclear, unread
from .free_text import bare, introduced, is_longer, is_no_name, parts_of_names, proper, said_last, with_hyphens
from .from_and_to import contradicts, told_of_another
from .grammar_for_kind import find, is_rather_counted
from .match import Match, Span, overlaps
from .no_preference import is_anything
from .numbers import find_digits, is_thing
from .party_size import counts_people, find_company, is_told_twice
from .questions import asks, proposes
from .readings import (
    ANY,
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Value,
    Why,
)
from .several_slots import Filled, assign, values_of
from .spelled_names import spelled_name
from .times import find_parts, is_in_part
from .times_from_now import find_ahead, find_now
from .tokens import Token, fluent, lows, span_of, stem, stems_of, tokens_of
from .units import asks_how_many, disagree, find_none, find_rate, with_units
from .yes_no import (
    Polarity,
    Trick,
    asks_for_a_need,
    asks_for_more,
    asks_of_the_past,
    is_plain,
    is_to_come,
    minds_nothing,
    not_polar,
    polarity,
    trick_of,
    where_enough,
    wishes,
    without_apology,
)

_MAYBE_SEVERAL = (
    Why.LEFTOVER, Why.SEVERAL, Why.NO_VALUE, Why.OTHER_END, Why.MARKER, Why.NEGATED, Why.QUESTION,
)  # fmt: skip
_MOMENTS = (SlotKind.DATE, SlotKind.TIME)  # of which people ask whether one suits
_PARTS_MAX = 4  # names that share a word, for a question that says them all


def read(question: Question, reply: str, today: str) -> Reading:
    """What a reply to a question means; `today` is an ISO date."""
    tokens = without_apology(tokens_of(reply))
    if not tokens:
        return unread(reply)
    command = command_of(tokens)
    if command is not None and not _is_rather_a_value(question.slot, tokens, command):
        return SpokenCommand(command)
    reader = _Reader(question, reply, tokens, today_of(today))
    reading = reader.read()
    if command is not None and isinstance(reading, Unclear):
        return SpokenCommand(command)
    is_maybe_several = isinstance(reading, Unclear) and reading.why in _MAYBE_SEVERAL
    if question.others and (is_maybe_several or reader.holds_a_day()):
        return reader.several() or reading
    return reading


def _is_rather_a_value(slot: Slot, tokens: Sequence[Token], command: str) -> bool:
    """ "One minute", where it is asked how long; "back, please", where front and back are the choices."""
    if command == "wait" and slot.kind is SlotKind.DURATION:
        return True
    covered = covered_by(find_choices(tokens, slot.choices)) if slot.kind is SlotKind.CHOICE else frozenset()
    left = [token for place, token in enumerate(tokens) if place not in covered]
    return bool(covered) and all(token.low in POLITE | FILLERS | {"the"} for token in left)


def read_volunteered(slots: tuple[Slot, ...], reply: str, about: str, today: str) -> Direct | None:
    """The values in a reply that nobody asked for, if they explain every word of it. Nothing that only a question makes
    a value is one here: no yes, no bare name, no lone number for a time."""
    tokens = tokens_of(reply)
    if not tokens or not slots:
        return None
    reader = _Reader(Question(slots[0], about=about, others=slots[1:]), reply, tokens, today_of(today))
    reader.is_asked = False
    return reader.several()


class _Reader:
    """One reply being read."""

    def __init__(self, question: Question, reply: str, tokens: Sequence[Token], today: Today) -> None:
        self.question = question
        self.slot = question.slot
        self.reply = reply
        self.tokens = tokens
        self.today = today
        self.echo = echo_of(question)
        self.is_asked = True

    def read(self) -> Reading:
        if self.question.among and (settled := self._among()) is not None:
            return settled
        if self.slot.kind is not SlotKind.YES_NO and is_anything(self.tokens, self.echo):
            is_answer = self.slot.may_be_any
            return self._settle(Match(0, len(self.tokens), (ANY,))) if is_answer else unclear(Why.NO_VALUE)
        if self.slot.kind is SlotKind.YES_NO:
            return self._yes_no()
        if self.slot.kind is SlotKind.TEXT and self.slot.may_be_any and self._is_enough():
            return Confirmation(ConfirmationAnswer.NO)
        if self.slot.kind is SlotKind.NAME and self._is_other_part():
            return unclear(Why.OTHER_END)
        if self.slot.kind is SlotKind.NAME and (spelled := self._spelled()) is not None:
            return self._settle(spelled)
        matches = self._find()
        covered = covered_by(matches)
        why = objection(self.tokens, covered)
        is_asked = matches and why in (None, Why.QUESTION) and self.slot.kind in _MOMENTS
        if is_asked and proposes(self.tokens, covered, self.echo):
            covered, why = frozenset(range(len(self.tokens))) - self._foreign(covered), None
        if why is not None:
            is_no = why is Why.NEGATED and (not matches or self.question.proposed is not None)
            return self._denied() if is_no else unclear(why)
        return self._value(matches, covered) if matches else self._without_value()

    def _is_other_part(self) -> bool:
        """Is a last name told where the first is asked for?"""
        said = parts_of_names(self.tokens)
        asked = parts_of_names(tokens_of(f"{self.slot.name.replace('_', ' ')}. {self.question.text}"))
        return bool(said and asked and said != asked)

    def _spelled(self) -> Match | None:
        """A name that is spelled; of a list that has them all, one of these."""
        found = spelled_name(self.reply, self.tokens, is_person="nam" in self.echo)
        if found is None or self.slot.names is None:
            return found if self.slot.is_open else None
        written = tokens_of(str(found.candidates[0]))
        known = [match for match in self.slot.names.find(written) if match.after - match.first == len(written)]
        return found._replace(candidates=known[0].candidates) if known else found if self.slot.is_open else None

    def _find(self) -> list[Match]:
        is_more = asks_for_more(self.question.text)
        matches = find(self.tokens, self.slot, self.today, is_asked=True, is_more=is_more)
        if self.slot.kind is not SlotKind.NUMBER:
            return matches
        nothing = find_none(self.tokens, self.question)
        if nothing is not None and (not self.slot.may_be_any or nothing.after - nothing.first > 1):
            return [nothing]  # of what may be left open, a bare "none" leaves it open
        if not asks_how_many(self.question) and (digits := find_digits(self.tokens)) is not None:
            return [digits]
        company = find_company(self.tokens) if counts_people(self.question) else None
        rest = [match for match in matches if company is None or not overlaps(match, company)]
        if company is not None and rest and is_told_twice(self.tokens, rest, company):
            return [company._replace(first=min(company.first, rest[0].first))]
        return with_units(self.tokens, rest) + ([company] if company is not None else [])

    def _value(self, matches: Sequence[Match], covered: frozenset[int]) -> Reading:
        is_count = self.slot.kind is SlotKind.NUMBER
        match = agreed(self.tokens, matches, is_count=is_count)
        if match is None or (is_count and disagree(self.tokens, matches, self.question)) or self._answers_twice(match):
            return unclear(Why.SEVERAL)
        is_another = self.slot.kind in _MOMENTS and told_of_another(self.tokens, match, self.echo)
        if is_another or contradicts(self.tokens, match, self.slot):
            return unclear(Why.OTHER_END)
        if self.slot.kind is SlotKind.MONEY and (rate := find_rate(self.tokens, match, self.echo)):
            return unclear(Why.LEFTOVER, self.tokens, rate)
        if self.slot.kind is SlotKind.NAME and is_longer(self.tokens, match):
            return unclear(Why.NO_VALUE)
        left = sorted({*leftover(self.tokens, covered, self.echo), *self._foreign(covered)})
        if not left:
            return self._settle(match)
        return self._misspelt(match, left) or unclear(Why.LEFTOVER, self.tokens, left)

    def _misspelt(self, match: Match, left: list[int]) -> Reading | None:
        """A known name with a word beside it that is almost the rest of a longer one: "Grace Hoper"."""
        names, run = self.slot.names, sorted({*range(match.first, match.after), *left})
        if self.slot.kind is not SlotKind.NAME or names is None or len(run) != run[-1] + 1 - run[0]:
            return None
        words = [self.tokens[place].low for place in run]
        near = names.near(words)
        is_it = near == match.candidates and names.is_sure(words, is_open=self.slot.is_open)
        return self._settle(Match(run[0], run[-1] + 1, near)) if is_it else None

    def _foreign(self, covered: frozenset[int]) -> frozenset[int]:
        """Words that name a value of another slot: never carriers, whatever else they are."""
        listed = [
            slot for slot in self.question.others if slot.kind in (SlotKind.CHOICE, SlotKind.NAME, SlotKind.YES_NO)
        ]
        matches = [match for slot in listed for match in find(self.tokens, slot, self.today, is_asked=False)]
        return covered_by(match for match in matches if not covered & set(range(match.first, match.after)))

    def _answers_twice(self, match: Match) -> bool:
        """Is the first sentence an answer of its own: "Yes, that works. I need it until Friday"?"""
        ends = next((place for place, token in enumerate(self.tokens) if place and token.pause in (".", "?")), 0)
        if not 0 < ends <= match.first:
            return False
        first = self.tokens[:ends]
        return any(token.low in ASSENT for token in first) and any(stem(token.low) in APPROVAL for token in first[1:])

    # -- No value of the slot's own grammar

    def _without_value(self) -> Reading:
        if self.slot.may_be_any and any(token.low in DISSENT for token in self.tokens) and not self._not_polar():
            return self._denied()  # "no, that's all"
        if self.slot.kind is SlotKind.TEXT and self._is_of_another():
            return unclear(Why.LEFTOVER)
        left = leftover(self.tokens, frozenset(), self.echo) or self._given_name()
        if not left:
            return self._assented()
        if (near := self._near(left)) is not None:
            return near
        span: Span | None = None
        if self.slot.is_open and self.slot.kind is SlotKind.NAME:
            span = bare(self.tokens, GIVEN_NAMES if "nam" in self.echo else frozenset())
            if span is not None and is_no_name(self.tokens, span, self.today.day):
                return unclear(Why.LEFTOVER, self.tokens, left)
            span = span or proper(self.tokens, self.echo)
            if span is None and "nam" in self.echo:
                span = introduced(self.tokens)
        elif self.slot.kind is SlotKind.TEXT:
            span = bare(self.tokens)
        if span is None:
            return unclear(Why.LEFTOVER, self.tokens, left)
        if self.slot.kind is SlotKind.NAME:
            span = said_last(self.tokens, span)
        start, end = span_of(self.tokens, *span)
        said = fluent(self.reply[start:end])
        match = Match(*span, (with_hyphens(said) if self.slot.kind is SlotKind.NAME else said,))
        if contradicts(self.tokens, match, self.slot) or self._answers_twice(match):
            return unclear(Why.OTHER_END)
        return self._settle(match)

    def _is_enough(self) -> bool:
        """Is there nothing to add: "nothing else, thanks"?"""
        enough = where_enough(self.tokens)
        return enough is not None and all(place in enough for place in self._not_polar())

    def _is_of_another(self) -> bool:
        """Is free text an address or a number to call at, for which there is a slot?"""
        slots = tuple(slot for slot in self.question.others if slot.kind in (SlotKind.PHONE, SlotKind.EMAIL))
        covered = covered_by(match for slot in slots for match in find(self.tokens, slot, self.today, is_asked=False))
        return bool(covered) and not leftover(self.tokens, covered, self.echo)

    def _given_name(self) -> list[int]:
        """The places of words that carry nothing elsewhere, where a name is asked for: "Will", "it's Mark"."""
        if self.slot.kind is not SlotKind.NAME or not self.slot.is_open or "nam" not in self.echo:
            return []
        span = bare(self.tokens, GIVEN_NAMES)
        return list(range(*span)) if span is not None else []

    def _near(self, left: list[int]) -> Reading | None:
        """A name that the words left over almost are; with an open list, also as it was said."""
        names, run = self.slot.names, Span(left[0], left[-1] + 1)
        if self.slot.kind is not SlotKind.NAME or names is None or len(left) < run.after - run.first:
            return None
        words = [self.tokens[place].low for place in left]
        near = names.near(words)
        if not near and not self.slot.is_open:
            near = names.parts(words)
            return self._settle(Match(*run, near)) if 0 < len(near) <= _PARTS_MAX else None
        if not near or (len(near) == 1 and names.is_sure(words, is_open=self.slot.is_open)):
            return self._settle(Match(*run, near)) if near else None
        start, end = span_of(self.tokens, *run)
        candidates = (*near, self.reply[start:end]) if self.slot.is_open else near
        return self._settle(Match(*run, candidates)) if len(candidates) > 1 else None

    def _assented(self) -> Reading:
        """Nothing but carriers: a yes or no to what was proposed, or no answer."""
        leaning = polarity(self.tokens)
        if leaning is not Polarity.YES:
            return self._denied() if leaning is Polarity.NO else unclear(Why.NO_VALUE)
        if self.question.proposed is None:
            return unclear(Why.NOTHING_PROPOSED)
        if trick_of(self.question.text) is not None and is_plain(self.tokens):
            return unclear(Why.NO_VALUE)
        return self._settle(Match(0, len(self.tokens), (self.question.proposed,)))

    def _denied(self) -> Reading:
        """A plain no to what was proposed, or to what may be left open; any other denial is for NLU."""
        may_deny = self.question.proposed is not None or self.slot.may_be_any
        if may_deny and not self._not_polar() and polarity(self.tokens) is Polarity.NO:
            return Confirmation(ConfirmationAnswer.NO)
        return unclear(Why.NEGATED)

    # -- Yes or no

    def _yes_no(self) -> Reading:
        if asks(self.tokens):
            return unclear(Why.QUESTION)
        enough = where_enough(self.tokens) if asks_for_more(self.question.text) else None
        left = [place for place in self._not_polar() if enough is None or place not in enough]
        if enough is not None and not left:
            return self._settle(Match(0, len(self.tokens), (False,)))
        if left:
            return unclear(Why.LEFTOVER, self.tokens, left)
        leaning = polarity(self.tokens)
        if asks_for_a_need(self.question.text) and minds_nothing(self.tokens):
            return unclear(Why.NO_VALUE)
        if leaning is None and wishes(self.tokens):
            leaning = Polarity.YES
        if leaning not in (Polarity.YES, Polarity.NO) or self._is_tricked():
            return unclear(Why.NO_VALUE)
        return self._settle(Match(0, len(self.tokens), (leaning is Polarity.YES,)))

    def _is_tricked(self) -> bool:
        """Was the question such that this reply may mean either?"""
        trick = trick_of(self.question.text)
        if asks_of_the_past(self.question.text) and is_to_come(self.tokens):
            return True
        if trick is Trick.DENIES:
            named = stems_of(self.slot.name)
            return not any(stem(token.low) in named for token in self.tokens)
        return trick is Trick.MINDS and is_plain(self.tokens)

    def _not_polar(self) -> list[int]:
        """The places of words that have no part in a yes or no to this question."""
        return [place for place in not_polar(self.tokens) if stem(self.tokens[place].low) not in self.echo]

    # -- Asked back

    def _among(self) -> Reading | None:
        """One of the candidates that were asked back: by its place, by being named again, by part of the day."""
        among = self.question.among
        matches = self._find()
        named = [value for match in matches for value in match.candidates]
        chosen = [value for value in among if value in named]
        if self.slot.kind is SlotKind.DATE and not chosen:  # "May 3" is of the year that was said before
            chosen = [value for value in among if str(value)[4:] in [str(day)[4:] for day in named]]
        if (pointed := find_pointed(self.tokens, len(among))) is not None:
            matches, chosen = [Match(*pointed[1], ())], [among[pointed[0]]]
        elif not matches and self.slot.kind is SlotKind.TIME:
            matches = find_parts(self.tokens)
            chosen = [value for value in among if all(is_in_part(str(value), match) for match in matches)]
        covered = covered_by(matches)
        if len(chosen) != 1 or not matches or objection(self.tokens, covered) is not None:
            return None
        left = leftover(self.tokens, covered, self.echo)
        return None if left else self._settle(Match(matches[0].first, matches[-1].after, (chosen[0],)))

    # -- Several slots

    def holds_a_day(self) -> bool:
        """Is a day told with the time that was asked for, or the other way round: "tonight at eight", "in an hour"?"""
        kinds = {slot.kind for slot in self.question.others}
        if not {SlotKind.DATE, SlotKind.TIME} <= {self.slot.kind, *kinds}:
            return False
        if self.today.minute is not None and find_ahead(self.tokens, self.today.minute):
            return True
        days = [slot for slot in self.question.others if slot.kind is SlotKind.DATE]
        return self.slot.kind is SlotKind.TIME and any(
            find(self.tokens, slot, self.today, is_asked=False) for slot in days
        )

    def several(self) -> Direct | None:
        """Values for the asked slot and others, if they explain every word."""
        slots = (self.slot, *self.question.others)
        filled = assign(self.tokens, slots, self.today)
        if filled and self.is_asked and self.slot.name not in filled:
            if self.slot.kind is SlotKind.NUMBER and any(
                is_rather_counted(self.tokens, one) for _, one in filled.values()
            ):
                return None
            filled |= self._now()
        if not filled or any(len(match.candidates) > 1 for _, match in filled.values()):
            return None
        if self.is_asked and _is_lone_count(filled, self.slot):
            return None
        moments = [match for slot, match in filled.values() if slot.kind in _MOMENTS]
        sums = [match for slot, match in filled.values() if slot.kind is SlotKind.MONEY]
        if any(told_of_another(self.tokens, match, self.echo) for match in moments):
            return None
        if any(find_rate(self.tokens, match, self.echo) for match in sums):
            return None
        covered = covered_by(match for _, match in filled.values())
        why = objection(self.tokens, covered)
        is_asked = moments and why in (None, Why.QUESTION)
        if not (is_asked and proposes(self.tokens, covered, self.echo)) and (
            why is not None or leftover(self.tokens, covered, self.echo)
        ):
            return None
        values = values_of(self.reply, self.tokens, filled)
        if self.slot.kind is not SlotKind.YES_NO or (answer := self._opening()) is None:
            return Direct(values)
        return None if trick_of(self.question.text) else Direct((answer, *values))

    def _now(self) -> Filled:
        """The time that was asked for, if it is now: "now, for three people"."""
        minute = self.today.minute
        found = find_now(self.tokens, minute) if self.slot.kind is SlotKind.TIME and minute is not None else []
        return {self.slot.name: (self.slot, found[0])} if found else {}

    def _opening(self) -> Value | None:
        """The yes or no that other values come with: "yes, a small one"."""
        place = next((at for at, token in enumerate(self.tokens) if token.low not in POLITE | FILLERS), 0)
        token = self.tokens[place]
        if token.low not in ASSENT | DISSENT:
            return None
        return Value(self.slot.name, token.low in ASSENT, token.text, (token.start, token.end))

    def _settle(self, match: Match) -> Reading:
        start, end = span_of(self.tokens, match.first, match.after)
        raw = self.reply[start:end]
        if len(match.candidates) == 1:
            return Direct((Value(self.slot.name, match.candidates[0], raw, (start, end)),))
        return Ambiguous(self.slot.name, match.candidates, raw, (start, end))


def _is_lone_count(filled: Filled, asked: Slot) -> bool:
    """Is the only value a bare number for another slot than the asked one? It may be a slip, or half of a date."""
    (slot, match), *more = filled.values()
    return not more and slot.kind is SlotKind.NUMBER and slot is not asked and not match.unit


def agreed(tokens: Sequence[Token], matches: Sequence[Match], *, is_count: bool) -> Match | None:
    """Several matches as one, if all can mean the same. A "one" that may be a thing doesn't count beside others."""
    counts = [match for match in matches if not is_thing(tokens, match.first)] or matches
    if is_count and any(lows(tokens[one.after : other.first]) == ("oh",) for one, other in pairwise(matches)):
        return None  # "one oh one"
    if is_count:
        begun = {match.first for match in counts}
        counts = [one for one in counts if one.unit or one.after in begun or not _is_lone_one(tokens, one)] or counts
    shared = [value for value in counts[0].candidates if all(value in match.candidates for match in counts[1:])]
    return counts[0]._replace(candidates=tuple(shared)) if shared else None


def _is_lone_one(tokens: Sequence[Token], match: Match) -> bool:
    return tokens[match.first].low == "one" and match.after - match.first == 1
