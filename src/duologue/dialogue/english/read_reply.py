"""Reads a reply to one question: a value, several candidates, a command, or something for NLU.

The reply is read as a value of the asked slot. If that doesn't explain every word, it is read as values of several
slots. Rule: nothing is taken from a reply that isn't wholly understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..language.days import Today, today_of
from ..language.match import Match, Span, overlaps
from ..language.readings import (
    ANY,
    Ambiguous,
    Confirmation,
    ConfirmationAnswer,
    Direct,
    Json,
    Question,
    Reading,
    Slot,
    SlotKind,
    SpokenCommand,
    Unclear,
    Value,
    Why,
)
from .birth_dates import is_about_birth
from .carrier_words import APPROVAL, ASSENT, DISSENT, FILLERS, GIVEN_NAMES, POLITE
from .choices import find_choices, find_pointed, names_of
from .commands import command_of, postpones
from .dates import SPAN_OF_DAYS, WEEKDAYS
from .explained_words import covered_by, echo_of, leftover, objection, unclear, unread
from .free_text import (
    answering_part,
    bare_name,
    cannot_be_a_name,
    introduced_name,
    is_part_of_longer_name,
    last_said_in_full,
    name_in_sentence,
    named_person,
    parts_of_names,
    proper_name,
    with_hyphens,
)
from .from_and_to import activity_said, belongs_to_other_thing, contradicts, role_said
from .grammar_for_kind import find_values, is_count_not_time
from .merged_matches import merged
from .names import NameList
from .no_preference import has_no_preference
from .numbers import find_digit_run
from .party_size import counts_people, find_party, repeats_count
from .questions import asks, asks_if_it_suits
from .reasons import answers_without_reason
from .several_slots import Filled, assign, values_of
from .sounds import like
from .spelled_names import spelled_name
from .times import find_day_parts, is_in_day_part
from .times_from_now import find_now, find_times_ahead
from .tokens import Token, span_of, stem, stems_of, tokens_of, without_hesitations, words_of
from .units import asks_how_many, find_rate, find_zero, units_disagree, with_units
from .yes_no import (
    Polarity,
    Trick,
    asks_about_past,
    asks_for_a_need,
    asks_for_more,
    does_not_mind,
    is_about_future,
    is_bare_yes_no,
    places_outside_yes_no,
    polarity,
    trick_of,
    where_nothing_more,
    where_turned_down,
    wishes,
    without_apology,
)

_MAYBE_SEVERAL = (
    Why.LEFTOVER, Why.SEVERAL, Why.NO_VALUE, Why.OTHER_END, Why.MARKER, Why.NEGATED, Why.QUESTION,
)  # fmt: skip
_MOMENTS = (SlotKind.DATE, SlotKind.TIME)  # kinds for which a reply may ask whether a value suits
_ISO_DAY_CHARS = 10
_PARTS_MAX = 4  # the most names that the agent offers when it asks which is meant


def read(question: Question, reply: str, today: str) -> Reading:
    """What a reply to a question means. `today` is an ISO date, with the time of day if it is known."""
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
    if question.others and (is_maybe_several or reader.gives_date_and_time()):
        reading = reader.several() or reading
    return reader.without_reason(reading) if is_maybe_several else reading


def _is_rather_a_value(slot: Slot, tokens: Sequence[Token], command: str) -> bool:
    """Is a command really a value here: "one minute" after "how long?", or "back, please" after "front or back?"?"""
    if command == "wait" and slot.kind is SlotKind.DURATION:
        return True
    if (
        command == "skip"
        and slot.kind in (SlotKind.NUMBER, SlotKind.YES_NO)
        and any(token.word in ("none", "any", "one") for token in tokens)
    ):
        return True  # "I have none" counts zero, and answers "do you have one?" with no
    covered = covered_by(find_choices(tokens, slot.choices)) if slot.kind is SlotKind.CHOICE else frozenset()
    left = [token for place, token in enumerate(tokens) if place not in covered]
    return bool(covered) and all(token.word in POLITE | FILLERS | {"the"} for token in left)


def read_volunteered(slots: tuple[Slot, ...], reply: str, about: str, today: str) -> Direct | None:
    """The values in a message that answers no question, if they explain every word. As no question was asked, a yes, a
    bare name or a lone number isn't a value."""
    tokens = tokens_of(reply)
    if not tokens or not slots:
        return None
    reader = _Reader(Question(slots[0], about=about, others=slots[1:]), reply, tokens, today_of(today))
    reader.is_asked = False
    return reader.several()


class _Reader:
    """Reads one reply to one question."""

    def __init__(self, question: Question, reply: str, tokens: Sequence[Token], today: Today) -> None:
        self.question = question
        self.slot = _as_birth(question)
        self.reply = reply
        self.tokens = tokens
        self.today = today
        self.echo = echo_of(question)
        self.is_asked = True

    def read(self) -> Reading:
        if self.question.among and (settled := self._among()) is not None:
            return settled
        if self.slot.kind is not SlotKind.YES_NO and has_no_preference(self.tokens, self.echo):
            is_answer = self.slot.may_be_any
            return self._as_reading(Match(0, len(self.tokens), (ANY,))) if is_answer else unclear(Why.NO_VALUE)
        if self.slot.kind is SlotKind.YES_NO:
            return self._yes_no()
        if self.slot.kind is SlotKind.TEXT and self.slot.may_be_any and self._has_nothing_to_add():
            return Confirmation(ConfirmationAnswer.NO)
        if self.slot.kind is SlotKind.NAME and self._is_other_part():
            return unclear(Why.OTHER_END)
        if self.slot.kind is SlotKind.NAME and (spelled := self._spelled()) is not None:
            return self._as_reading(spelled)
        matches = self._find()
        covered = covered_by(matches)
        why = objection(self.tokens, covered)
        is_asked = matches and why in (None, Why.QUESTION) and self.slot.kind in _MOMENTS
        if is_asked and asks_if_it_suits(self.tokens, covered, self.echo):
            covered, why = frozenset(range(len(self.tokens))) - self._words_of_other_slots(covered), None
        if matches and why in (Why.MARKER, Why.NEGATED) and (turned := self._turns_down(matches)):
            covered |= turned
            why = objection(self.tokens, covered)
        if why is not None:
            is_no = why is Why.NEGATED and (not matches or self.question.proposed is not None)
            return self._denied() if is_no else unclear(why)
        return self._value(matches, covered) if matches else self._without_value()

    def _turns_down(self, matches: Sequence[Match]) -> frozenset[int]:
        """The indexes of words that only turn down a day or time that the question named: "actually, the 5th", "no next
        Monday", after "on the 4th?". Empty if the question named none, or if it is the one that the reply gives."""
        if self.slot.kind not in _MOMENTS:
            return frozenset()
        asked = find_values(tokens_of(self.question.text), self.slot, self.today, is_asked=False)
        named = {value for match in asked for value in match.candidates}
        if not named or named & {value for match in matches for value in match.candidates}:
            return frozenset()
        return where_turned_down(self.tokens)

    def _is_other_part(self) -> bool:
        """Does the user give another part of the name than was asked for, such as the last name instead of the
        first?"""
        said = parts_of_names(self.tokens)
        asked = parts_of_names(tokens_of(f"{self.slot.name.replace('_', ' ')}. {self.question.text}"))
        return bool(said and asked and said != asked)

    def _spelled(self) -> Match | None:
        """The name that the user spells. If the slot takes only names from its list, no other name counts."""
        found = spelled_name(self.reply, self.tokens, is_person="nam" in self.echo)
        if found is None or self.slot.names is None:
            return found if self.slot.is_open else None
        written = tokens_of(str(found.candidates[0]))
        known = [match for match in self.slot.names.find(written) if match.after - match.first == len(written)]
        return found._replace(candidates=known[0].candidates) if known else found if self.slot.is_open else None

    def _find(self) -> list[Match]:
        takes_another = asks_for_more(self.question.text)
        matches = find_values(self.tokens, self.slot, self.today, is_asked=True, takes_another=takes_another)
        if self.slot.kind is not SlotKind.NUMBER:
            return matches
        nothing = find_zero(self.tokens, self.question)
        if nothing is not None and (not self.slot.may_be_any or nothing.after - nothing.first > 1):
            return [nothing]  # for an optional slot, a bare "none" leaves it empty
        if not asks_how_many(self.question) and (digits := find_digit_run(self.tokens)) is not None:
            return [digits]
        company = find_party(self.tokens) if counts_people(self.question) else None
        rest = [match for match in matches if company is None or not overlaps(match, company)]
        if company is not None and rest and repeats_count(self.tokens, rest, company):
            return [company._replace(first=min(company.first, rest[0].first))]
        return with_units(self.tokens, rest) + ([company] if company is not None else [])

    def _value(self, matches: Sequence[Match], covered: frozenset[int]) -> Reading:
        is_count = self.slot.kind is SlotKind.NUMBER
        match = merged(self.tokens, matches, is_count=is_count)
        if match is None and (either := self._alternatives(matches, covered)) is not None:
            return either
        if (
            match is None
            or (is_count and units_disagree(self.tokens, matches, self.question))
            or self._answers_twice(match)
        ):
            return unclear(Why.SEVERAL)
        is_another = self.slot.kind in _MOMENTS and belongs_to_other_thing(self.tokens, match, self.echo)
        if is_another or contradicts(self.tokens, match, self.slot):
            return unclear(Why.OTHER_END)
        if self.slot.kind is SlotKind.MONEY and (rate := find_rate(self.tokens, match, self.echo)):
            return unclear(Why.LEFTOVER, self.tokens, rate)
        if self.slot.kind is SlotKind.NAME and is_part_of_longer_name(self.tokens, match):
            return unclear(Why.NO_VALUE)
        left = sorted({*leftover(self.tokens, covered, self.echo), *self._words_of_other_slots(covered)})
        if not left:
            return self._as_reading(match)
        return self._misspelled(match, left) or unclear(Why.LEFTOVER, self.tokens, left)

    def _alternatives(self, matches: Sequence[Match], covered: frozenset[int]) -> Reading | None:
        """Reads "2 or 3": both are candidates, and the agent has to ask which one it is. None for any other reply."""
        if len(matches) != 2 or any(len(match.candidates) != 1 for match in matches):
            return None
        between = range(matches[0].after, matches[1].first)
        if "or" not in words_of(self.tokens[between.start : between.stop]) or leftover(
            self.tokens, covered | {place for place in between if self.tokens[place].word == "or"}, self.echo
        ):
            return None
        start, end = span_of(self.tokens, matches[0].first, matches[1].after)
        both = tuple(match.candidates[0] for match in matches)
        return Ambiguous(self.slot.name, both, self.reply[start:end], (start, end), must_ask=True)

    def _misspelled(self, match: Match, left: list[int]) -> Reading | None:
        """Reads a name with one misspelled part, if the other part alone already means the same name: "Grace Hoper" for
        "Grace Hopper"."""
        names, run = self.slot.names, sorted({*range(match.first, match.after), *left})
        if self.slot.kind is not SlotKind.NAME or names is None or len(run) != run[-1] + 1 - run[0]:
            return None
        words = [self.tokens[place].word for place in run]
        near = names.near(words)
        is_it = near == match.candidates and names.is_sure(words, is_open=self.slot.is_open)
        return self._as_reading(Match(run[0], run[-1] + 1, near)) if is_it else None

    def _words_of_other_slots(self, covered: frozenset[int]) -> frozenset[int]:
        """The indexes of words that name a value of another slot. Such words are never ignored as carrier words (words
        around a value, such as "I'd like")."""
        listed = [
            slot for slot in self.question.others if slot.kind in (SlotKind.CHOICE, SlotKind.NAME, SlotKind.YES_NO)
        ]
        matches = [match for slot in listed for match in find_values(self.tokens, slot, self.today, is_asked=False)]
        return covered_by(match for match in matches if not covered & set(range(match.first, match.after)))

    def _answers_twice(self, match: Match) -> bool:
        """Does the first sentence, before the match, already answer: "Yes, that works. I need it until Friday"?"""
        ends = next((place for place, token in enumerate(self.tokens) if place and token.pause in (".", "?")), 0)
        if not 0 < ends <= match.first:
            return False
        first = self.tokens[:ends]
        return any(token.word in ASSENT for token in first) and any(stem(token.word) in APPROVAL for token in first[1:])

    # -- The grammar of the slot found no value

    def _without_value(self) -> Reading:
        if (
            self.slot.may_be_any
            and any(token.word in DISSENT for token in self.tokens)
            and not self._places_outside_yes_no()
        ):
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
            span = bare_name(self.tokens, GIVEN_NAMES if "nam" in self.echo else frozenset())
            if span is not None and cannot_be_a_name(self.tokens, span, self.today.day):
                return unclear(Why.LEFTOVER, self.tokens, left)
            span = span or proper_name(self.tokens, self.echo)
            if span is None and "nam" in self.echo:
                span = introduced_name(self.tokens) or named_person(self.tokens, left)
        elif self.slot.kind is SlotKind.TEXT:
            span = bare_name(self.tokens)
            span = span if span is not None and answering_part(self.tokens, span) == span else None
        if span is None:
            return unclear(Why.LEFTOVER, self.tokens, left)
        if self.slot.kind is SlotKind.NAME:
            span = last_said_in_full(self.tokens, span)
        start, end = span_of(self.tokens, *span)
        said = without_hesitations(self.reply[start:end])
        match = Match(*span, (with_hyphens(said) if self.slot.kind is SlotKind.NAME else said,))
        if contradicts(self.tokens, match, self.slot) or self._answers_twice(match):
            return unclear(Why.OTHER_END)
        return self._as_reading(match)

    def _has_nothing_to_add(self) -> bool:
        """Does the user have nothing to add: "nothing else, thanks"?"""
        enough = where_nothing_more(self.tokens)
        return enough is not None and all(place in enough for place in self._places_outside_yes_no())

    def _is_of_another(self) -> bool:
        """Is a reply to a question for free text really an e-mail address or a phone number for another slot?"""
        slots = tuple(slot for slot in self.question.others if slot.kind in (SlotKind.PHONE, SlotKind.EMAIL))
        covered = covered_by(
            match for slot in slots for match in find_values(self.tokens, slot, self.today, is_asked=False)
        )
        return bool(covered) and not leftover(self.tokens, covered, self.echo)

    def _given_name(self) -> list[int]:
        """The indexes of ordinary words that are names here, because a name was asked for: "Will", "it's Mark"."""
        if self.slot.kind is not SlotKind.NAME or not self.slot.is_open or "nam" not in self.echo:
            return []
        span = bare_name(self.tokens, GIVEN_NAMES)
        return list(range(*span)) if span is not None else []

    def _near(self, left: list[int]) -> Reading | None:
        """Reads leftover words that are almost a known name, or part of one if only listed names are accepted. If other
        names are accepted too and the known name isn't certain, the words as they were said are a candidate as well."""
        names, run = self._listed(), Span(left[0], left[-1] + 1)
        if names is None or len(left) < run.after - run.first:
            return None
        is_open = self.slot.is_open and self.slot.kind is SlotKind.NAME
        words = [self.tokens[place].word for place in left]
        near = names.near(words)
        if not near and not is_open:
            near = names.parts(words)
            found = self._as_reading(Match(*run, near)) if 0 < len(near) <= _PARTS_MAX else None
            return found or self._by_sound(names, words, run)
        if not near or (len(near) == 1 and names.is_sure(words, is_open=is_open)):
            return self._as_reading(Match(*run, near)) if near else None
        start, end = span_of(self.tokens, *run)
        said = self.reply[start:end]
        if is_open and len(near) == 1:  # a slip, or a name that isn't on the list: then it is said again
            if self.question.among == near:
                return self._as_reading(Match(*run, (said,)))
            return Ambiguous(self.slot.name, near, said, (start, end), must_ask=True)
        candidates = (*near, said) if is_open else near
        return self._as_reading(Match(*run, candidates)) if len(candidates) > 1 else None

    def _listed(self) -> NameList | None:
        """The names or choices of the asked slot; None if it has no list."""
        if self.slot.kind is SlotKind.CHOICE:
            return names_of(self.slot.choices)
        return self.slot.names if self.slot.kind is SlotKind.NAME else None

    def _by_sound(self, names: NameList, words: list[str], run: Span) -> Reading | None:
        """Reads words that sound like a name or choice of a closed list: "reader" for "router". The agent has to ask
        whether it was meant."""
        known = dict(names.joined)
        alike = tuple(dict.fromkeys(known[name] for name in like(" ".join(words), known)))
        start, end = span_of(self.tokens, *run)
        if len(alike) != 1:
            return None
        return Ambiguous(self.slot.name, alike, self.reply[start:end], (start, end), must_ask=True)

    def _assented(self) -> Reading:
        """Reads a reply that has only carrier words (words around a value, such as "sure" or "I'd like"): it is a yes
        or no to the proposed value, or it isn't an answer."""
        leaning = polarity(self.tokens)
        if leaning is not Polarity.YES:
            return self._denied() if leaning is Polarity.NO else unclear(Why.NO_VALUE)
        if self.question.proposed is None:
            return unclear(Why.NOTHING_PROPOSED)
        if trick_of(self.question.text) is not None and is_bare_yes_no(self.tokens):
            return unclear(Why.NO_VALUE)
        return self._as_reading(Match(0, len(self.tokens), (self.question.proposed,)))

    def _denied(self) -> Reading:
        """Reads a denial. It is a no if it is plain and answers a proposed value or an optional slot. Any other denial
        is for NLU."""
        may_deny = self.question.proposed is not None or self.slot.may_be_any
        if may_deny and not self._places_outside_yes_no() and polarity(self.tokens) is Polarity.NO:
            return Confirmation(ConfirmationAnswer.NO)
        return unclear(Why.NEGATED)

    # -- Yes or no

    def _yes_no(self) -> Reading:
        if asks(self.tokens):
            return unclear(Why.QUESTION)
        if postpones(self.tokens):
            return self._as_reading(Match(0, len(self.tokens), (False,)))  # "not yet"
        enough = where_nothing_more(self.tokens) if asks_for_more(self.question.text) else None
        left = [place for place in self._places_outside_yes_no() if enough is None or place not in enough]
        if enough is not None and not left:
            return self._as_reading(Match(0, len(self.tokens), (False,)))
        if left:
            return unclear(Why.LEFTOVER, self.tokens, left)
        leaning = polarity(self.tokens)
        if asks_for_a_need(self.question.text) and does_not_mind(self.tokens):
            return unclear(Why.NO_VALUE)
        if leaning is None and wishes(self.tokens):
            leaning = Polarity.YES
        if leaning not in (Polarity.YES, Polarity.NO) or self._is_tricked():
            return unclear(Why.NO_VALUE)
        return self._as_reading(Match(0, len(self.tokens), (leaning is Polarity.YES,)))

    def _is_tricked(self) -> bool:
        """Could this reply mean either yes or no, because of how the question was put?"""
        trick = trick_of(self.question.text)
        if asks_about_past(self.question.text) and is_about_future(self.tokens):
            return True
        if trick is Trick.DENIES:
            named = stems_of(self.slot.name)
            return not any(stem(token.word) in named for token in self.tokens)
        return trick is Trick.MINDS and is_bare_yes_no(self.tokens)

    def _places_outside_yes_no(self) -> list[int]:
        """The indexes of words that aren't part of a yes or no to this question."""
        return [place for place in places_outside_yes_no(self.tokens) if stem(self.tokens[place].word) not in self.echo]

    # -- The agent asked which one is meant

    def _among(self) -> Reading | None:
        """Reads which of the offered candidates the user picks: by position, by name, or by part of the day. None if
        the reply doesn't pick exactly one."""
        among = self.question.among
        if len(among) == 1 and polarity(self.tokens) is Polarity.YES and not self._places_outside_yes_no():
            return self._as_reading(Match(0, len(self.tokens), among))
        matches = self._find()
        named = [value for match in matches for value in match.candidates]
        chosen = [value for value in among if value in named]
        if self.slot.kind is SlotKind.DATE and not chosen:  # "May 3" takes the year of the candidate
            chosen = [value for value in among if str(value)[4:] in [str(day)[4:] for day in named]]
        if self.slot.kind is SlotKind.DATE and (said := self._weekdays_in(matches)):
            days = [value for value in among if len(str(value)) == _ISO_DAY_CHARS]
            chosen = [value for value in days if today_of(str(value)).day.weekday() in said]
        if (pointed := find_pointed(self.tokens, len(among))) is not None:
            matches, chosen = [Match(*pointed[1], ())], [among[pointed[0]]]
        elif not matches and self.slot.kind is SlotKind.TIME:
            matches = find_day_parts(self.tokens)
            chosen = [value for value in among if all(is_in_day_part(str(value), match) for match in matches)]
        if matches and (narrowed := self._narrowed(matches, chosen)) is not None:
            return narrowed
        covered = covered_by(matches)
        if len(chosen) != 1 or not matches or objection(self.tokens, covered) is not None:
            return None
        left = leftover(self.tokens, covered, self.echo)
        return None if left else self._as_reading(Match(matches[0].first, matches[-1].after, (chosen[0],)))

    def _weekdays_in(self, matches: Sequence[Match]) -> set[int]:
        """The weekdays that the reply names without anything else: "Tuesday or Wednesday". Of the days that were
        offered, these are meant. Empty if a match has other words."""
        said = [self.tokens[match.first].word for match in matches if match.after - match.first == 1]
        return {WEEKDAYS[word] for word in said} if len(said) == len(matches) and set(said) <= set(WEEKDAYS) else set()

    def _narrowed(self, matches: Sequence[Match], chosen: list[Json]) -> Reading | None:
        """Reads "Tuesday or Wednesday", if more values were offered: the agent asks about these two. None for any other
        reply."""
        covered = covered_by(matches)
        left = [place for place in leftover(self.tokens, covered, self.echo) if self.tokens[place].word != "or"]
        if left or not 1 < len(chosen) < len(self.question.among) or objection(self.tokens, covered) is not None:
            return None
        start, end = span_of(self.tokens, matches[0].first, matches[-1].after)
        return Ambiguous(self.slot.name, tuple(chosen), self.reply[start:end], (start, end), must_ask=True)

    # -- Several slots

    def gives_date_and_time(self) -> bool:
        """Does the reply give a day and a time where one of them was asked for: "tonight at eight", "in an hour"?"""
        kinds = {slot.kind for slot in self.question.others}
        if not {SlotKind.DATE, SlotKind.TIME} <= {self.slot.kind, *kinds}:
            return False
        if self.today.minute is not None and find_times_ahead(self.tokens, self.today.minute):
            return True
        days = [slot for slot in self.question.others if slot.kind is SlotKind.DATE]
        return self.slot.kind is SlotKind.TIME and any(
            find_values(self.tokens, slot, self.today, is_asked=False) for slot in days
        )

    def without_reason(self, reading: Reading) -> Reading:
        """The reading of the reply without the reason that it gives for its answer, if that is a plain answer; else
        `reading`. Yes, no and free text aren't read in this way, because a reason may be part of them."""
        if not isinstance(reading, Unclear) or self.slot.kind in (SlotKind.YES_NO, SlotKind.TEXT):
            return reading
        for tokens in answers_without_reason(self.tokens, has_days=self.slot.kind is SlotKind.DATE):
            rest = [token for token in self.tokens if token not in tokens]
            part = _Reader(self.question, self.reply, tokens, self.today)
            answer = part.read()
            if isinstance(answer, Direct) and part.names_a_value() and not self._gives_other_values(rest):
                return answer
        return reading

    def names_a_value(self) -> bool:
        """Does the reply name a value that doesn't depend on being the whole reply, as an unlisted name does?"""
        return self.slot.kind is not SlotKind.NAME or bool(self._find())

    def _gives_other_values(self, tokens: Sequence[Token]) -> bool:
        """Do these words give a value of another slot?"""
        slots = (slot for slot in self.question.others if slot.kind is not SlotKind.YES_NO)
        return any(find_values(tokens, slot, self.today, is_asked=False) for slot in slots)

    def several(self) -> Direct | None:
        """The values for the asked slot and others, if they explain every word; else None."""
        slots = (self.slot, *self.question.others)
        filled = assign(self.tokens, slots, self.today)
        if filled and self.is_asked and self.slot.name not in filled:
            if self.slot.kind is SlotKind.NUMBER and any(
                is_count_not_time(self.tokens, one) for _, one in filled.values()
            ):
                return None
            if any(self._might_answer(slot, match) for slot, match in filled.values()):
                return None
            filled |= self._now() | self._name_along()
        if not filled or any(len(match.candidates) > 1 for _, match in filled.values()):
            return None
        if self.is_asked and _is_lone_count(filled, self.slot):
            return None
        moments = [match for slot, match in filled.values() if slot.kind in _MOMENTS]
        sums = [match for slot, match in filled.values() if slot.kind is SlotKind.MONEY]
        if any(belongs_to_other_thing(self.tokens, match, self.echo) for match in moments):
            return None
        if any(find_rate(self.tokens, match, self.echo) for match in sums):
            return None
        covered = covered_by(match for _, match in filled.values())
        why = objection(self.tokens, covered)
        is_asked = moments and why in (None, Why.QUESTION)
        if not (is_asked and asks_if_it_suits(self.tokens, covered, self.echo)) and (
            why is not None or leftover(self.tokens, covered, self.echo)
        ):
            return None
        values = values_of(self.reply, self.tokens, filled)
        if self.slot.kind is not SlotKind.YES_NO or (answer := self._opening()) is None:
            return Direct(values)
        return None if trick_of(self.question.text) else Direct((answer, *values))

    def _might_answer(self, slot: Slot, match: Match) -> bool:
        """May a value for another slot have been meant as the answer? It may if that slot takes the same kind of value
        and the reply doesn't say what it is about: "April first", where a date of birth was asked for."""
        is_alike = slot.kind is self.slot.kind and slot.kind in _MOMENTS
        return is_alike and not role_said(self.tokens, match, slot.kind) and not activity_said(self.tokens, match)

    def _name_along(self) -> Filled:
        """The asked name in a sentence that gives other values too: "my name is Ann, and I come at six"."""
        is_asked = self.slot.kind is SlotKind.NAME and self.slot.is_open
        span = name_in_sentence(self.tokens) if is_asked else None
        if span is None:
            return {}
        start, end = span_of(self.tokens, *span)
        return {self.slot.name: (self.slot, Match(*span, (self.reply[start:end],)))}

    def _now(self) -> Filled:
        """The current time, if a time was asked for and the user says "now": "now, for three people"."""
        minute = self.today.minute
        found = find_now(self.tokens, minute) if self.slot.kind is SlotKind.TIME and minute is not None else []
        return {self.slot.name: (self.slot, found[0])} if found else {}

    def _opening(self) -> Value | None:
        """The yes or no at the beginning of a reply that gives other values too: "yes, a small one"."""
        place = next((at for at, token in enumerate(self.tokens) if token.word not in POLITE | FILLERS), 0)
        token = self.tokens[place]
        if token.word not in ASSENT | DISSENT:
            return None
        return Value(self.slot.name, token.word in ASSENT, token.text, (token.start, token.end))

    def _as_reading(self, match: Match) -> Reading:
        start, end = span_of(self.tokens, match.first, match.after)
        raw = self.reply[start:end]
        if len(match.candidates) == 1:
            return Direct((Value(self.slot.name, match.candidates[0], raw, (start, end)),))
        return Ambiguous(self.slot.name, match.candidates, raw, (start, end), match.unit == SPAN_OF_DAYS)


def _as_birth(question: Question) -> Slot:
    """The asked slot, marked as a date of birth if the question asks for one. If the agent asks which of two dates is
    meant, the year is already known."""
    slot = question.slot
    is_birth = slot.is_past and not question.among and (slot.is_birth or is_about_birth(slot.name, question.text))
    return slot if slot.is_birth is is_birth else replace(slot, is_birth=is_birth)


def _is_lone_count(filled: Filled, asked: Slot) -> bool:
    """Is the only value a bare number for another slot than the asked one? The user may have misspoken, or the number
    may be part of a date."""
    (slot, match), *more = filled.values()
    return not more and slot.kind is SlotKind.NUMBER and slot is not asked and not match.unit
