"""Values in a message that isn't wholly understood: "a table for four tomorrow, it's my grandmother's birthday".

Only values that are clear by themselves are used: a day, a time of day, an amount of money, a number together with what
it counts ("four people"), a name or a choice from a list. Rule: nothing is used from a clause that denies, changes or
compares something. If two values fit one slot, the slot stays empty. The agent has to read the values back to the user,
because the rest of the message may change them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import today_of
from ..language.greetings import without_greeting
from ..language.match import Match
from ..language.readings import Direct, Question, Slot, SlotKind, Value
from .carrier_words import (
    ALTERNATIVES,
    CONJUNCTIONS,
    DISSENT,
    FILLERS,
    HEDGES,
    MARKERS,
    POLITE,
    REQUESTS,
    THINGS,
    is_carrier,
    is_negation,
    without_contraction,
)
from .courtesy import GREETINGS
from .dates import MONTHS
from .explained_words import covered_by, is_dated, is_number
from .from_and_to import belongs_to_other_thing, role_of
from .grammar_for_kind import find_values
from .merged_matches import narrowed
from .numbers import is_pronoun_one
from .questions import asks
from .read_reply import read
from .several_slots import Filled, counts_for, find_all_values, names_counted, values_of, with_later_end
from .tense import PAST, begins_clause, clause_around
from .tokens import Token, stem, stems_of, tokens_of, words_of
from .units import CLASS_OF, counts_twice
from .yes_no import DOUBTS

_HARMLESS = frozenset("also too plus because".split())  # words that add something and change nothing
_MOMENTS = (SlotKind.DATE, SlotKind.TIME)
_BEFORE_MONTHS = frozenset("in of during early late mid next this until for".split())  # "may" is also a verb
_WITHDRAWING = frozenset("sorry wait actually rather scrap correction".split())
_AFTER_NO = _WITHDRAWING | frozenset("the make it i i'm it's let's that's that better not no".split())
_KEEPING = frozenset("make manage come attend do go be keep".split())
_MOVING = frozenset(map(stem, "move change cancel reschedule postpone shift rebook".split()))
_CLAUSE_WORDS_MAX = 8
_TILL = ("till", "until", "til")
_BARE = (SlotKind.NUMBER, SlotKind.MONEY, SlotKind.TIME)  # for these kinds, a bare number is a value only as an answer
_PLAIN = tuple(
    Slot("", kind) for kind in (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
)
_TASKS = (REQUESTS - frozenset(map(stem, ("make", "have", "do", "see", "say")))) | THINGS


def read_parts(slots: tuple[Slot, ...], message: str, today: str) -> tuple[Value, ...]:
    """The values in a message that are clear by themselves, each for the one slot that it fits."""
    tokens = _tokens_of(message)
    told, _ = _told_and_doubtful(tokens, slots, today)
    return values_of(message, tokens, told)


def _tokens_of(message: str) -> Sequence[Token]:
    return without_greeting(tokens_of(message), GREETINGS, POLITE | FILLERS)


def unsettled_slots(slots: tuple[Slot, ...], message: str, today: str) -> tuple[str, ...]:
    """The slots for days and times that the message mentions without giving a usable value: "on Monday or Tuesday",
    "this weekend"."""
    _, doubtful = _told_and_doubtful(_tokens_of(message), slots, today)
    return tuple(slot.name for slot in slots if slot.kind in _MOMENTS and doubtful.get(slot.name))


def _told_and_doubtful(tokens: Sequence[Token], slots: tuple[Slot, ...], today: str) -> tuple[Filled, dict[str, bool]]:
    """Sort the slots that the message mentions into two dicts: the slots that it fills, and the slots for which it has
    only unclear values. In the second dict, True means that at least one of the unclear values is about something that
    the user wants, and False that all are about the past."""
    filled: Filled = {}
    doubtful: dict[str, bool] = {}
    named = stems_of(*(slot.name for slot in slots))
    found = list(find_all_values(tokens, slots, today_of(today))) if tokens and slots else []
    covered = covered_by(match for match, _ in found)
    for match, all_fitting in found:
        called = [slot for slot in all_fitting if names_counted(tokens, match, slot)]
        fitting = called if len(called) == 1 else all_fitting
        is_past = all(slot.is_past for slot in fitting)  # such a slot is about what happened
        clause = tuple(clause_around(tokens, match))
        is_settled = not any(_unsettles(token.word, is_past=is_past) for token in clause)
        is_settled = is_settled and not is_withdrawn(tokens, match.after)
        if any(_is_one_of_several(tokens, match, slot, found, covered) for slot in fitting):
            doubtful |= {slot.name: True for slot in fitting}
            continue
        if fitting and fitting[0].kind in _MOMENTS and _is_given_up(tokens, match):
            continue  # "I've a lesson tomorrow, but I can't make it"
        if fitting and _ends_stay(tokens, match, fitting[0]):
            continue  # "from eleven till four", for the time of the beginning
        if fitting and fitting[0].kind in _MOMENTS and belongs_to_other_thing(tokens, match, named):
            continue
        if is_settled and not all(_is_clear(tokens, match, slot) for slot in fitting):
            continue  # a number that doesn't say what it counts
        wished = narrowed(tokens, filled[fitting[0].name][1], match) if _is_filled(fitting, filled) else match
        is_other = len(fitting) == 1 and _is_in_other_month(tokens, match, fitting[0])
        if is_settled and wished is not None and len(fitting) == 1 and not is_other:
            filled[fitting[0].name] = (fitting[0], wished)
            continue
        is_wanted = is_past or not any(token.word in PAST for token in clause)
        doubtful |= {slot.name: doubtful.get(slot.name, False) or is_wanted for slot in fitting}
    doubtful |= {name: True for name, (_, match) in filled.items() if len(match.candidates) != 1}
    told = {name: entry for name, entry in filled.items() if name not in doubtful}
    told |= with_later_end(tokens, told, today_of(today))
    used = covered_by(match for _, match in filled.values())
    return {name: one for name, one in told.items() if not _wavers(tokens, one[1], used)}, doubtful


def _ends_stay(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    """Does this time, after a word such as "till", end a stay, although the slot isn't for the end of a stay?"""
    is_after_till = match.first > 0 and tokens[match.first - 1].word in _TILL
    return slot.kind is SlotKind.TIME and is_after_till and role_of(slot) != "to"


def _is_given_up(tokens: Sequence[Token], match: Match) -> bool:
    """Does a later clause say that the user can't keep this day or time, or wants to move what is on it? True for the
    "tomorrow" in "I've got a lesson tomorrow but I can't make it" and "I have a table on Friday, can I move it?"."""
    words = words_of(tokens)
    for place in range(match.after, len(tokens)):
        if not (begins_clause(tokens[place]) or words[place] in CONJUNCTIONS):
            continue
        rest = words[place : place + _CLAUSE_WORDS_MAX]
        for at in range(len(rest) - 1):
            is_kept = is_negation(rest[at]) and rest[at + 1] in _KEEPING
            is_moved = stem(rest[at]) in _MOVING and rest[at + 1] in ("it", "that", "this", "them")
            if is_kept or is_moved:
                return True
    return False


def is_withdrawn(tokens: Sequence[Token], after: int) -> bool:
    """Does the user take back what was said before the index `after`? True for "fifty, or no, seventy five" and
    "yesterday, no sorry, the day before"."""
    for place in range(after, len(tokens) - 1):
        word, follows = tokens[place].word, tokens[place + 1]
        if not (begins_clause(tokens[place]) or (place and tokens[place - 1].word in ("or", "no"))):
            continue
        if word in _WITHDRAWING and follows.word not in ("for", "about"):
            return True
        if word in DISSENT and (follows.pause or follows.word in _AFTER_NO or is_number(follows.word)):
            return True
        if word in DISSENT and is_dated(follows.word):
            return True
    return False


def _is_one_of_several(
    tokens: Sequence[Token],
    match: Match,
    slot: Slot,
    found: Sequence[tuple[Match, list[Slot]]],
    covered: frozenset[int],
) -> bool:
    """Is this amount or count only one of several in the message? True for "ninety euros for the doctor and thirty for
    the pills" and "two city bikes and two mountain bikes". If so, the user may mean the sum."""
    if slot.kind is SlotKind.NUMBER:
        same = [other for other, fitting in found if slot in fitting]
        return match in same and counts_twice(tokens, same)
    if slot.kind is not SlotKind.MONEY:
        return False
    return any(
        is_number(token.word) and not is_pronoun_one(tokens, place) and not _counts_else(tokens, place)
        for place, token in enumerate(tokens)
        if place not in covered
    )


def _counts_else(tokens: Sequence[Token], place: int) -> bool:
    """Is the number at `place` a number of people, days or other things, and not an amount of money?"""
    after = place + 1
    while after < len(tokens) and is_number(tokens[after].word):
        after += 1
    said = CLASS_OF.get(stem(tokens[after].word), "") if after < len(tokens) and not tokens[after].pause else ""
    is_of = after < len(tokens) and tokens[after].word == "of"  # "the two of us"
    return is_of or said not in ("", "money")


def _is_filled(fitting: Sequence[Slot], filled: Filled) -> bool:
    return len(fitting) == 1 and fitting[0].name in filled


def _is_in_other_month(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    """Does the message name a month, but not as a part of this day? True for "in June, ideally the third"."""
    return slot.kind is SlotKind.DATE and any(
        tokens[place].word in MONTHS and tokens[place - 1].word in _BEFORE_MONTHS
        for place in range(1, len(tokens))
        if not match.first <= place < match.after
    )


def _wavers(tokens: Sequence[Token], match: Match, covered: frozenset[int]) -> bool:
    """Does a second number follow that may replace the first? True for "two months, maybe three"."""
    after = match.after
    while after < len(tokens) and tokens[after].word in HEDGES | ALTERNATIVES | FILLERS | {"even", "rather"}:
        after += 1
    return match.after < after < len(tokens) and after not in covered and is_number(tokens[after].word)


def read_first(question: Question, message: str, today: str) -> Value | None:
    """The number at the beginning of a reply, if the words after a pause only explain the number: "one, for the baby".
    None otherwise."""
    tokens = tokens_of(message)
    ends = next((place for place, token in enumerate(tokens) if place and token.pause), len(tokens))
    rest = tokens[ends:]
    if question.slot.kind not in _BARE or not rest or asks(tokens) or asks(rest):
        return None
    if any(_unsettles(token.word) or is_number(token.word) or token.word in DOUBTS for token in rest):
        return None
    reading = read(question, message[: tokens[ends - 1].end], today)
    values = reading.values if isinstance(reading, Direct) else ()
    return values[0] if len(values) == 1 and values[0].slot == question.slot.name else None


def is_all_values(message: str, today: str) -> bool:
    """Does a message contain only days, times and amounts? Such a message asks nothing, but a classifier may mistake it
    for a question: "on the weekend" for "are you open on Saturdays?"."""
    tokens = tokens_of(message)
    covered = covered_by(
        match for slot in _PLAIN for match in find_values(tokens, slot, today_of(today), is_asked=True)
    )
    return (
        bool(covered)
        and not asks(tokens)
        and all(place in covered or _is_frame(token.word) for place, token in enumerate(tokens))
    )


def _is_frame(word: str) -> bool:
    """Can this word stand around a value without naming a task? "Please" can, but "book" can't."""
    return is_carrier(word) and stem(without_contraction(word)) not in _TASKS


def _is_clear(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    return slot.kind is not SlotKind.NUMBER or counts_for(tokens, match, slot)


def _unsettles(word: str, *, is_past: bool = False) -> bool:
    """Does this word make a value in its clause unusable? Words that deny ("not"), change ("instead"), compare ("than")
    or name alternatives ("or") do. Words that tell of the past ("was") do too, unless `is_past` says that the value is
    for a slot about the past."""
    is_marker = word in MARKERS and word not in _HARMLESS
    return is_marker or word in ALTERNATIVES or (word in PAST and not is_past) or is_negation(word)
