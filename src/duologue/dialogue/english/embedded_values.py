"""Values in a message that isn't wholly understood: "a table for four tomorrow, it's my grandmother's birthday".

Only what stands for itself is taken: a day, a time of day, an amount of money, a count of what the slot counts, a name
or a choice of a list. Rule: nothing is taken from a clause that denies, changes or weighs something, nor for a slot
that two values fit; and whoever uses this says what was taken, because the rest of the message may have said more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .carrier_words import ALTERNATIVES, HEDGES, MARKERS, REQUESTS, THINGS, is_carrier, is_negation, whole_form
from .days import today_of
from .explained_words import covered_by, is_number
from .from_and_to import told_of_another
from .grammar_for_kind import find
from .match import Match
from .questions import asks
from .read_reply import read
from .readings import Direct, Question, Slot, SlotKind, Value
from .several_slots import Filled, counts, found_in, later, values_of
from .tokens import Token, stem, stems_of, tokens_of
from .yes_no import DOUBTS

_HARMLESS = frozenset("also too plus because".split())  # they add something and change nothing
_TURNS = frozenset("but because however though although unless except".split())  # a clause begins with them
_BARE = (SlotKind.NUMBER, SlotKind.MONEY, SlotKind.TIME)  # what only a question makes a value
_PLAIN = tuple(
    Slot("", kind) for kind in (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)
)
_TASKS = (REQUESTS - frozenset(map(stem, ("make", "have", "do", "see", "say")))) | THINGS
_PAST = frozenset(
    """was were had did went came sent paid took made told said bought booked ordered arrived called visited stayed
    yesterday ago""".split()
)


def read_parts(slots: tuple[Slot, ...], message: str, today: str) -> tuple[Value, ...]:
    """The values that stand for themselves in a message, for the slots that they fit."""
    tokens = tokens_of(message)
    if not tokens or not slots:
        return ()
    filled: Filled = {}
    doubtful: set[str] = set()
    named = stems_of(*(slot.name for slot in slots))
    for match, fitting in found_in(tokens, slots, today_of(today)):
        is_settled = not any(_unsettles(token.low) for token in _clause(tokens, match))
        if fitting and fitting[0].kind in (SlotKind.DATE, SlotKind.TIME) and told_of_another(tokens, match, named):
            continue
        if is_settled and not all(_stands_for_itself(tokens, match, slot) for slot in fitting):
            continue  # a number that counts nothing here
        if is_settled and len(match.candidates) == 1 and len(fitting) == 1 and fitting[0].name not in filled:
            filled[fitting[0].name] = (fitting[0], match)
        else:
            doubtful |= {slot.name for slot in fitting}
    told = {name: entry for name, entry in filled.items() if name not in doubtful}
    told |= later(tokens, told, today_of(today))
    covered = covered_by(match for _, match in filled.values())
    return values_of(message, tokens, {name: one for name, one in told.items() if not _wavers(tokens, one[1], covered)})


def _wavers(tokens: Sequence[Token], match: Match, covered: frozenset[int]) -> bool:
    """Does somebody go on with a second number for it: "two months, maybe three"?"""
    after = match.after
    while after < len(tokens) and tokens[after].low in HEDGES | ALTERNATIVES | {"even", "rather"}:
        after += 1
    return match.after < after < len(tokens) and after not in covered and is_number(tokens[after].low)


def read_first(question: Question, message: str, today: str) -> Value | None:
    """The bare number before a pause that answers a question, if what follows only explains it: "one, for the baby"."""
    tokens = tokens_of(message)
    ends = next((place for place, token in enumerate(tokens) if place and token.pause), len(tokens))
    rest = tokens[ends:]
    if question.slot.kind not in _BARE or not rest or asks(tokens) or asks(rest):
        return None
    if any(_unsettles(token.low) or is_number(token.low) or token.low in DOUBTS for token in rest):
        return None
    reading = read(question, message[: tokens[ends - 1].end], today)
    values = reading.values if isinstance(reading, Direct) else ()
    return values[0] if len(values) == 1 and values[0].slot == question.slot.name else None


def is_all_values(message: str, today: str) -> bool:
    """Are there days, times and amounts and nothing else? Whoever compares phrases hears "are you open on Saturdays" in
    "on the weekend"; while something is asked, it is an answer or a slip."""
    tokens = tokens_of(message)
    covered = covered_by(match for slot in _PLAIN for match in find(tokens, slot, today_of(today), is_asked=True))
    return (
        bool(covered)
        and not asks(tokens)
        and all(place in covered or _is_frame(token.low) for place, token in enumerate(tokens))
    )


def _is_frame(low: str) -> bool:
    """May it stand around a value without saying what is wanted?"""
    return is_carrier(low) and stem(whole_form(low)) not in _TASKS


def _stands_for_itself(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    return slot.kind is not SlotKind.NUMBER or counts(tokens, match, slot)


def _unsettles(low: str) -> bool:
    """Does a word deny, change, weigh, or tell of what has been?"""
    is_marker = low in MARKERS and low not in _HARMLESS
    return is_marker or low in ALTERNATIVES or low in _PAST or is_negation(low)


def _clause(tokens: Sequence[Token], match: Match) -> Iterator[Token]:
    """What is said around a match, up to where a clause begins or ends."""
    first, after = match.first, match.after
    while first > 0 and not _begins_clause(tokens[first]):
        first -= 1
    while after < len(tokens) and not _begins_clause(tokens[after]):
        after += 1
    yield from tokens[first : match.first]
    yield from tokens[match.after : after]


def _begins_clause(token: Token) -> bool:
    return bool(token.pause) or token.low in _TURNS
