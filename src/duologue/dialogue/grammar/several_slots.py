"""Several slots in one reply: "zu viert am Freitag um sieben".

Rule: the same words never fill two slots. If a value fits several slots, the reply fills none of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.days import Today
from ..language.match import Match, overlaps
from ..language.readings import Slot, SlotKind, Value
from ..language.tokens import Token, span_of
from .dates import SPAN_OF_DAYS
from .explained_words import covered_by
from .find_values import find_values
from .lexicon import Lexicon
from .tokens import stems_of

# Kinds in the order in which they are looked for. A word that is part of a value isn't read again for a later kind.
_ORDER = (
    SlotKind.EMAIL, SlotKind.PHONE, SlotKind.DATE, SlotKind.TIME, SlotKind.MONEY, SlotKind.DURATION, SlotKind.NAME,
    SlotKind.CHOICE, SlotKind.NUMBER,
)  # fmt: skip
SLOTS_MAX = 12

Filled = dict[str, tuple[Slot, Match]]


def assign(
    lexicon: Lexicon, tokens: Sequence[Token], slots: Sequence[Slot], today: Today, asked: str = ""
) -> tuple[Filled, frozenset[int]] | None:
    """The slots that a reply fills, and the indexes of all words that belong to the values. None if a value fits no
    slot or several slots. `asked` is the slot of the open question; for this slot, a value without a unit is accepted
    too."""
    filled: Filled = {}
    covered: frozenset[int] = frozenset()
    for kind in _ORDER:
        alike = [slot for slot in slots[:SLOTS_MAX] if slot.kind is kind]
        if not alike:
            continue
        matches: list[tuple[Match, list[Slot]]] = []
        also: frozenset[int] = frozenset()
        for slot in alike:
            found = find_values(lexicon, tokens, slot, today, is_asked=slot.name == asked)
            also |= found.also
            for match in found.matches:
                if covered & set(range(match.first, match.after)):
                    continue
                same = next((fits for other, fits in matches if other == match), None)
                if same is not None:
                    same.append(slot)
                else:
                    matches.append((match, [slot]))
        for match, fits in _one_reading_each(matches):
            fitting = _by_role(lexicon, tokens, match, fits)
            before = filled.get(fitting[0].name) if len(fitting) == 1 else None
            wished = _narrowed(lexicon, tokens, before[1], match) if before is not None else match
            is_count = kind is SlotKind.NUMBER and _is_second_thought(lexicon, tokens, match, covered)
            if len(fitting) != 1 or wished is None or is_count:
                return None
            filled[fitting[0].name] = (fitting[0], wished)
            covered |= covered_by([match]) | role_places(lexicon, tokens, [match], fitting[0])
        if any(slot.name in filled for slot in alike):
            covered |= also
    return filled, covered


def _is_second_thought(lexicon: Lexicon, tokens: Sequence[Token], match: Match, covered: frozenset[int]) -> bool:
    """Is the match a number without a unit that only changes the value before it? True for the "zwei" in "eine Stunde,
    vielleicht zwei", because it may be two hours."""
    joints, at = lexicon.or_words | lexicon.lists["maybes"], match.first
    if at > 1 and tokens[at - 1].word in lexicon.lists["tills"] and not match.unit:
        return at - 2 in covered  # "um zehn bis zwei"
    while at > 0 and tokens[at - 1].word in joints | lexicon.fillers:
        at -= 1
    is_joined = any(token.word in joints for token in tokens[at : match.first])
    return is_joined and not match.unit and at - 1 in covered


def _one_reading_each(matches: list[tuple[Match, list[Slot]]]) -> list[tuple[Match, list[Slot]]]:
    """The matches, with only one entry for each span of words. If two slots read the same words differently, the entry
    lists both slots, and then neither slot is filled."""
    found: list[tuple[Match, list[Slot]]] = []
    for match, fits in sorted(matches, key=lambda entry: entry[0].first - entry[0].after):
        shared = next((entry for entry in found if overlaps(entry[0], match)), None)
        if shared is None:
            found.append((match, fits))
        elif (shared[0].first, shared[0].after) == (match.first, match.after):
            shared[1].extend(fits)
    return sorted(found, key=lambda entry: entry[0].first)


def _narrowed(lexicon: Lexicon, tokens: Sequence[Token], span: Match, wish: Match) -> Match | None:
    """One match for a span of days and, right after it, a preferred day in that span: "nächste Woche, am liebsten
    Dienstag". None if the day isn't in the span, or if other words stand between the two."""
    shared = tuple(value for value in wish.candidates if value in span.candidates)
    marks = {word for phrase in lexicon.prefers_before for word in phrase}
    around = lexicon.carriers | lexicon.fillers | lexicon.polite | lexicon.day_leads | marks
    between = tokens[span.after : wish.first]
    if span.unit != SPAN_OF_DAYS or not shared or any(token.word not in around for token in between):
        return None
    return Match(span.first, wish.after, shared)


def _by_role(lexicon: Lexicon, tokens: Sequence[Token], match: Match, slots: list[Slot]) -> list[Slot]:
    """The slots that the value may be for. If a "from" or "to" stands before the value and fits exactly one of these
    slots, only that slot is returned."""
    if len(slots) < 2:
        return slots
    before = [token.word for token in tokens[max(0, match.first - 2) : match.first]]
    role = next((word for word in reversed(before) if word in lexicon.from_words | lexicon.to_words), "")
    if not role:
        return slots
    named = lexicon.from_slots if role in lexicon.from_words else lexicon.to_slots
    fitting = [slot for slot in slots if stems_of(lexicon, slot.name) & {lexicon.stem(word) for word in named}]
    return fitting if len(fitting) == 1 else slots


def role_places(lexicon: Lexicon, tokens: Sequence[Token], matches: Sequence[Match], slot: Slot) -> frozenset[int]:
    """The indexes of each "from" or "to" that says whether a value is the beginning or the end of a trip or range. The
    word must stand right before a name or a choice, or before a value for a slot such as "start date". Before any other
    value, it is a limit: "bis Freitag"."""
    named = stems_of(lexicon, slot.name)
    ends = {lexicon.stem(word) for word in lexicon.from_slots | lexicon.to_slots}
    if slot.kind not in (SlotKind.NAME, SlotKind.CHOICE) and not named & ends:
        return frozenset()
    roles = lexicon.from_words | lexicon.to_words
    return frozenset(match.first - 1 for match in matches if match.first and tokens[match.first - 1].word in roles)


def contradicts_role(lexicon: Lexicon, tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    """Does the word before the value say that the value is for the other end of a trip or range than the slot? That is
    a "from" if the slot's name says that it is for the end, and a "to" if it is for the beginning."""
    before = tokens[match.first - 1].word if match.first else ""
    named = stems_of(lexicon, slot.name)
    is_from = bool(named & {lexicon.stem(word) for word in lexicon.from_slots})
    is_to = bool(named & {lexicon.stem(word) for word in lexicon.to_slots})
    if is_from == is_to:
        return False
    return before in (lexicon.to_words if is_from else lexicon.from_words)


def values_of(reply: str, tokens: Sequence[Token], filled: Filled) -> tuple[Value, ...]:
    """The values of a reply, in the order in which they were said."""
    found = []
    for slot, match in sorted(filled.values(), key=lambda entry: entry[1].first):
        start, end = span_of(tokens, match.first, match.after)
        found.append(Value(slot.name, match.candidates[0], reply[start:end], (start, end)))
    return tuple(found)
