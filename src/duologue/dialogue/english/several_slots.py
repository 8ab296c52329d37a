"""Several slots in one reply: "two people on Friday at seven".

Each value is given to the one slot that it fits. Five things decide which slot this is: the kind of the value, the
slot's list of names, what the value counts, a "from" or "to" before it, and whether the words tell of the past. Rule:
the same words never fill two slots. If they fit two slots, the whole reply fills no slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..language.days import Today, today_of
from ..language.match import DOUBTED, Match, overlaps
from ..language.readings import Question, Slot, SlotKind, Value
from .carrier_words import FILLERS
from .dates import find_dates
from .from_and_to import activity_of, activity_said, role_said, roles_among
from .grammar_for_kind import counts_seats, find_values
from .merged_matches import narrowed
from .relative_days import Since
from .tense import tells_of_past
from .times_from_now import find_times_ahead, without_past_times
from .tokens import Token, span_of, stem, stems_of
from .units import CLASS_OF, classes_of, counts_children, in_asked_period, with_units

# Kinds in the order in which they are looked for. A word that is part of a value isn't read again for a later kind.
_ORDER = (
    SlotKind.EMAIL, SlotKind.PHONE, SlotKind.DATE, SlotKind.TIME, SlotKind.MONEY, SlotKind.DURATION, SlotKind.NAME,
    SlotKind.CHOICE, SlotKind.YES_NO,
    SlotKind.NUMBER,
)  # fmt: skip
SLOTS_MAX = 12
_TILL = ("till", "until", "til")
_OR_MAYBE = frozenset("or maybe perhaps possibly".split())
_UNTIL = ("to", "until", "till", "til", "through", "and", "-")

Found = tuple[Match, list[Slot]]
Filled = dict[str, tuple[Slot, Match]]


def assign(tokens: Sequence[Token], slots: Sequence[Slot], today: Today) -> Filled | None:
    """The slots that the reply fills, by their names, each with the words for its value. None if a value fits no slot
    or several slots, or if two values fit the same slot."""
    filled: Filled = {}
    for match, fitting in find_all_values(tokens, slots, today):
        is_count = any(slot.kind is SlotKind.NUMBER for slot in fitting)
        if is_count and _is_second_thought(tokens, match, filled):
            return None
        if len(fitting) != 1 or _begins_range(tokens, match, filled):
            return None
        slot, before = fitting[0], filled.get(fitting[0].name)
        wished = narrowed(tokens, before[1], match) if before is not None else match
        if wished is None:
            return None
        filled[slot.name] = (slot, wished)
    filled |= with_later_end(tokens, filled, today) | _of_today(tokens, slots, filled, today)
    return filled | _without_past_times(filled, today)


def with_later_end(tokens: Sequence[Token], filled: Filled, today: Today) -> Filled:
    """The slot for the end of a range of days, with a day after the beginning of this range. Empty if the reply gives
    no range of days. Example: in "from Monday to Friday", said on a Wednesday, "Friday" is the one after next
    Monday."""
    days = {name: entry for name, entry in filled.items() if entry[0].kind is SlotKind.DATE}
    ends = {role: days[name] for name, role in roles_among([slot for slot, _ in days.values()]).items()}
    if set(ends) != {"from", "to"} or len(ends["from"][1].candidates) > 1:
        return {}
    slot, end = ends["to"]
    since = Since(today_of(str(ends["from"][1].candidates[0])).day, stays=False, is_start=True)
    for match in find_dates(tokens, today.day, is_asked=True, since=since):
        if (match.first, match.after) == (end.first, end.after):
            return {slot.name: (slot, match)}
    return {}


def _of_today(tokens: Sequence[Token], slots: Sequence[Slot], filled: Filled, today: Today) -> Filled:
    """Today as the value of the only date slot, if the reply has a time counted from now ("in an hour") and gives no
    day. Otherwise empty."""
    days = [slot for slot in slots if slot.kind is SlotKind.DATE]
    ahead = find_times_ahead(tokens, today.minute) if today.minute is not None else []
    timed = [match for slot, match in filled.values() if slot.kind is SlotKind.TIME and match in ahead]
    if len(days) != 1 or days[0].name in filled or len(timed) != 1:
        return {}
    return {days[0].name: (days[0], timed[0]._replace(candidates=(today.day.isoformat(),)))}


def _without_past_times(filled: Filled, today: Today) -> Filled:
    """The slots for times, without the candidates that have already passed, if today is the only day in the reply.
    Otherwise empty."""
    days = {match.candidates for slot, match in filled.values() if slot.kind is SlotKind.DATE}
    if days != {(today.day.isoformat(),)}:
        return {}
    return {
        name: (slot, without_past_times(match, today))
        for name, (slot, match) in filled.items()
        if slot.kind is SlotKind.TIME
    }


def find_all_values(tokens: Sequence[Token], slots: Sequence[Slot], today: Today) -> Iterator[Found]:
    """Every value that is clear even if nothing was asked, with the slots that it fits. No two values share a word."""
    taken: list[Match] = []
    for kind in _ORDER:
        alike = [slot for slot in slots[:SLOTS_MAX] if slot.kind is kind]
        roles = roles_among(alike)
        free = _one_slot_each(tokens, _longest(_find_all(tokens, alike, today), taken), today)
        free = [(match, having) for match, having in free if not _counts_all(match, alike)]
        fitting = [(match, _fitting(tokens, match, having, roles)) for match, having in free]
        for entry in _other_end(fitting, roles):
            taken.append(entry[0])
            yield entry


def _begins_range(tokens: Sequence[Token], match: Match, filled: Filled) -> bool:
    """Is the match a number without a unit that begins a range of days or times? True for the "20" in "20 to 22
    March"."""
    if match.unit or match.after >= len(tokens) or tokens[match.after].word not in _UNTIL:
        return False
    timed = [other for slot, other in filled.values() if slot.kind in (SlotKind.DATE, SlotKind.TIME)]
    return any(other.first in (match.after, match.after + 1) for other in timed)


def _is_second_thought(tokens: Sequence[Token], match: Match, filled: Filled) -> bool:
    """Is the match a number without a unit that only changes the value before it? True for the "two" in "an hour, maybe
    two", because it may be two hours."""
    at = match.first
    if at > 0 and tokens[at - 1].word in _TILL and not match.unit:
        return bool(filled)  # "from ten pm until two"
    while at > 0 and tokens[at - 1].word in FILLERS | _OR_MAYBE:
        at -= 1
    is_joined = any(token.word in _OR_MAYBE for token in tokens[at : match.first])
    return is_joined and not match.unit and any(other.after == at for _, other in filled.values())


def _other_end(found: list[Found], roles: Mapping[str, str]) -> list[Found]:
    """The two values of a trip or a stay, such as "Boston to Chicago". If only one of them certainly fits one slot
    (here "Chicago", because of the "to"), the other value gets the slot for the other end. In all other cases `found`
    is returned unchanged."""
    if len(found) != 2:
        return found
    for one, other in (found, found[::-1]):
        has_ends = all(slot.name in roles for slot in other[1])
        if len(one[1]) == 1 and len(other[1]) == 2 and one[1][0] in other[1] and has_ends:
            left = [slot for slot in other[1] if slot is not one[1][0]]
            return [(match, left if match is other[0] else fitting) for match, fitting in found]
    return found


def _find_all(tokens: Sequence[Token], slots: Sequence[Slot], today: Today) -> list[Found]:
    """Every match in a reply, each with the slots whose grammar finds it."""
    found: list[Found] = []
    for slot in slots:
        matches = [match for match in find_values(tokens, slot, today, is_asked=False) if match.unit != DOUBTED]
        if slot.kind is SlotKind.NUMBER:
            matches = [match for match in matches if not _is_of_time(tokens, match) or may_count(slot, "time")]
            matches = in_asked_period(tokens, with_units(tokens, matches), Question(slot), is_asked=False)
        for match in matches:
            same = next((fitting for other, fitting in found if other == match), None)
            if same is None:
                found.append((match, [slot]))
            else:
                same.append(slot)
    return found


def _is_of_time(tokens: Sequence[Token], match: Match) -> bool:
    return any(CLASS_OF.get(one.unit) == "time" for one in with_units(tokens, [match]))


def _longest(found: Sequence[Found], taken: Sequence[Match]) -> list[Found]:
    """The matches that overlap neither with a longer match nor with a match in `taken`."""
    cut = [
        (_without_day(match, taken) if fitting[0].kind is SlotKind.TIME else match, fitting) for match, fitting in found
    ]
    free = [entry for entry in cut if not any(overlaps(entry[0], other) for other in taken)]
    return [
        (match, fitting)
        for match, fitting in free
        if not any(overlaps(match, other) and _size(other) > _size(match) for other, _ in free)
    ]


def _one_slot_each(tokens: Sequence[Token], found: Sequence[Found], today: Today) -> list[Found]:
    """The matches, with only one entry for each span of words. Two slots may read the same words differently: "Friday"
    is a coming day for an appointment, but a past day for the date of a theft. Then the entry has only the slot that
    the words are about. If this isn't clear, the entry lists all these slots, so that none of them is filled."""
    spans: dict[tuple[int, int], list[Found]] = {}
    for entry in found:
        spans.setdefault((entry[0].first, entry[0].after), []).append(entry)
    return [_about(tokens, entries, today) for entries in spans.values()]


def _about(tokens: Sequence[Token], entries: list[Found], today: Today) -> Found:
    """Chooses between several readings of the same words, each for another slot. Returns the reading for the slot that
    the words are about. If this isn't clear, returns the first reading together with all the slots."""
    entries = [(match, [slot]) for match, slots in entries for slot in slots]
    if len(entries) == 1:
        return entries[0]
    if entries[0][1][0].kind is SlotKind.DATE and len({slots[0].is_past for _, slots in entries}) > 1:
        is_past = tells_of_past(tokens, entries[0][0])
        fits = [entry for entry in entries if _is_of_tense(entry, today, is_past=is_past)]
        if len(fits) == 1:
            return fits[0]
    return entries[0][0], [slot for _, slots in entries for slot in slots]


def _is_of_tense(entry: Found, today: Today, *, is_past: bool) -> bool:
    """Does this reading fit the tense of the words around it? If these words tell of the past, the slot must be for
    past days, and the days must be before today. Otherwise the slot must not be for past days."""
    match, slots = entry
    days = [str(day) for day in match.candidates]
    is_before = all(day < today.day.isoformat() for day in days)
    return all(slot.is_past is is_past and (is_before or not slot.is_past) for slot in slots)


def _without_day(match: Match, taken: Sequence[Match]) -> Match:
    """A match for a time, without words at its beginning or end that were already read as a day: "at eight" for
    "tonight at eight"."""
    for other in taken:
        if match.first == other.first and other.after < match.after:
            return match._replace(first=other.after)
        if match.after == other.after and match.first < other.first:
            return match._replace(after=other.first)
    return match


def _size(match: Match) -> int:
    return match.after - match.first


def _fitting(tokens: Sequence[Token], match: Match, fitting: Sequence[Slot], roles: Mapping[str, str]) -> list[Slot]:
    """The slots in `fitting` that agree with the words before the match and with what the match counts."""
    if doing := activity_said(tokens, match):
        fitting = [slot for slot in fitting if activity_of(slot) is doing] or [
            one for one in fitting if not activity_of(one)
        ]
    said = role_said(tokens, match, fitting[0].kind) if fitting else None
    if said is not None and any(slot.name in roles for slot in fitting):
        fitting = [slot for slot in fitting if roles.get(slot.name) == said]
    if match.unit in CLASS_OF and len(fitting) > 1:
        fitting = [slot for slot in fitting if CLASS_OF[match.unit] in _classes(slot)]
    return [slot for slot in fitting if match.unit not in CLASS_OF or may_count(slot, CLASS_OF[match.unit])]


def _counts_all(match: Match, slots: Sequence[Slot]) -> bool:
    """Does the match count people of any age, although one of the slots is only for children? Then it isn't clear how
    many of the people are adults: "two tickets" may be for an adult and a child."""
    is_general = CLASS_OF.get(match.unit) == "people" and not any(match.unit in stems_of(slot.name) for slot in slots)
    return is_general and any(counts_children(slot.name) for slot in slots)


def may_count(slot: Slot, what: str) -> bool:
    """Can the slot hold a number of `what`? A slot that is named after one thing, such as nights, can't hold a number
    of another, such as guests. A number of days or an amount of money needs a slot whose name mentions time or
    money."""
    classes = _classes(slot)
    return what in classes if classes or what in ("time", "money") else True


def counts_for(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    """Does the reply say what a number counts, and is this what the slot counts? True for "four people" and "a table
    for four"."""
    if match.unit in CLASS_OF:
        return may_count(slot, CLASS_OF[match.unit])
    if names_counted(tokens, match, slot):
        return True
    return counts_seats(tokens, match) and _classes(slot) <= {"people"}


def names_counted(tokens: Sequence[Token], match: Match, slot: Slot) -> bool:
    """Is the word after the number the name of the slot? True for "two packs", if the slot is called `packs`."""
    follows = tokens[match.after] if match.after < len(tokens) else None
    return follows is not None and not follows.pause and stem(follows.word) in stems_of(slot.name.replace("_", " "))


def _classes(slot: Slot) -> set[str]:
    """The classes of things that a slot counts, according to its name. A slot for child seats counts neither children
    nor people."""
    classes = classes_of(slot.name)
    return {"for children"} if "children" in classes[:-1] else set(classes)


def values_of(reply: str, tokens: Sequence[Token], filled: Filled) -> tuple[Value, ...]:
    """The values in the order in which they were said. If a match has several candidates, the first one is used."""
    values = []
    for slot, match in sorted(filled.values(), key=lambda entry: entry[1].first):
        start, end = span_of(tokens, match.first, match.after)
        values.append(Value(slot.name, match.candidates[0], reply[start:end], (start, end)))
    return tuple(values)
