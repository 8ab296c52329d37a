"""Chooses the grammar that reads a slot, by the kind of the slot.

Rule: a number is never used as a value if it is a label ("room 5"), or if it counts something that the slot isn't
about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from ..language.days import Today, today_of
from ..language.match import Match, overlaps
from ..language.readings import Slot, SlotKind
from .amounts import find_durations, find_money
from .carrier_words import POLITE, PREPOSITIONS, is_carrier
from .choices import find_choices
from .codes import find_code, find_phone
from .dates import find_dates
from .email_addresses import find_email
from .explained_words import is_dated
from .free_text import is_capital, without_filler
from .from_and_to import role_of
from .names import NameList
from .numbers import SMALL, find_numbers, ordinal_at
from .regions import with_regions
from .relative_days import Since
from .times import find_times
from .times_from_now import find_now, find_times_ahead, without_past_times
from .tokens import SHORT_TITLES, Token, stem, words_of
from .units import CLASS_OF
from .with_or_without import find_wanted

_LABELLED = frozenset(
    "room table gate platform floor account flat apartment house line flight bus train seat option".split()
)
_SOME_YEARS = timedelta(days=800)
_TITLES = SHORT_TITLES | frozenset(("miss", "doctor", "professor", "sir", "madam"))
_MOVING = frozenset(map(stem, "transfer send sending wire move hand bring".split()))
_SEATS = frozenset(
    stem(word)
    for word in """table room party group seat ticket place bed chair space anything something dinner lunch
    breakfast brunch meal supper""".split()
)


def find_values(
    tokens: Sequence[Token], slot: Slot, today: Today, *, is_asked: bool, takes_another: bool = False
) -> list[Match]:
    """Every value for this slot in a reply. With `is_asked`, this includes values that are clear only as an answer to a
    question, such as an hour without "o'clock". With `takes_another`, it includes "another week"."""
    match slot.kind:
        case SlotKind.DATE:
            is_end = slot.stays and role_of(slot) == "to"
            since = Since(today_of(slot.since).day, slot.stays, is_end) if slot.since and is_asked else None
            dates = find_dates(tokens, today.day, is_past=slot.is_past, is_asked=is_asked, since=since)
            return [
                match
                for match in (_with_year(tokens, dates, today.day) if slot.is_birth else dates)
                if not match.first or tokens[match.first - 1].word not in ("every", "each")
            ]
        case SlotKind.TIME:
            return with_or_so(tokens, find_times_of_day(tokens, slot, today, is_asked=is_asked))
        case SlotKind.DURATION:
            durations = find_durations(tokens, takes_another=takes_another)
            return with_or_so(tokens, [match for match in durations if not _is_moment(tokens, match)])
        case SlotKind.NUMBER:
            numbers = [match for match in find_numbers(tokens) if not _is_not_an_amount(tokens, match)]
            return [match for match in numbers if not _is_part_of_ordinal(tokens, match)]
        case SlotKind.MONEY:
            amounts = [match for match in find_money(tokens, is_asked=is_asked) if not _is_not_an_amount(tokens, match)]
            return [match for match in amounts if not _counts_things(tokens, match) and not counts_seats(tokens, match)]
        case SlotKind.CHOICE:
            return find_choices(tokens, slot.choices, is_asked=is_asked)
        case SlotKind.NAME:
            return known_names(tokens, slot.names, is_open=slot.is_open) if slot.names is not None else []
        case SlotKind.PHONE:
            return find_phone(tokens)
        case SlotKind.EMAIL:
            return find_email(tokens)
        case SlotKind.CODE:
            return find_code(tokens) if is_asked else []
        case SlotKind.YES_NO:
            return find_wanted(tokens, slot.name) if not is_asked else []
        case SlotKind.TEXT | SlotKind.LIST:
            return []


def _with_year(tokens: Sequence[Token], dates: Iterable[Match], today: date) -> list[Match]:
    """The dates that name their year, so that their meaning doesn't depend on today's date. All others, such as
    "Monday" or "March 5", are left out, because they can't be a date of birth."""
    later = list(find_dates(tokens, today + _SOME_YEARS, is_past=True, is_asked=True))
    return [match for match in dates if match in later]


def _is_part_of_ordinal(tokens: Sequence[Token], match: Match) -> bool:
    """Is this number only the beginning of an ordinal, as in "the twenty first"?"""
    ordinal = ordinal_at(tokens, match.first)
    return ordinal is not None and ordinal[1] > match.after


def with_or_so(tokens: Sequence[Token], matches: Sequence[Match]) -> list[Match]:
    """The matches, each extended by an "or so" right after it. The "or" in these words doesn't offer a second value."""
    return [
        match._replace(after=match.after + 2 * (words_of(tokens[match.after : match.after + 2]) == ("or", "so")))
        for match in matches
    ]


def find_times_of_day(tokens: Sequence[Token], slot: Slot, today: Today, *, is_asked: bool) -> list[Match]:
    """Every time of day in a reply: by the clock, or counted from now ("in an hour"). If the slot's day is known and
    isn't today, times counted from now are left out."""
    now = today.minute if slot.since in ("", today.day.isoformat()) else None
    ahead = find_times_ahead(tokens, now) if now is not None else []
    times = [
        match
        for match in find_times(tokens, hours=slot.hours, is_asked=is_asked)
        if not counts_seats(tokens, match) and not _is_label(tokens, match)
    ]
    if slot.since == today.day.isoformat():
        times = [without_past_times(match, today) for match in times]
    found = sorted([*ahead, *(match for match in times if not any(overlaps(match, other) for other in ahead))])
    return found or (find_now(tokens, now) if is_asked and now is not None else [])


def counts_seats(tokens: Sequence[Token], match: Match) -> bool:
    """Is this number a number of people? It is in "a table for six tonight" and "six of us", but not in "six
    o'clock"."""
    before = tokens[max(0, match.first - 2) : match.first]
    if words_of(tokens[match.after : match.after + 2]) in (("of", "us"), ("of", "them")):
        return True
    is_bare = match.after - match.first == 1 or tokens[match.first + 1].word in ("tonight", "this")
    if not is_bare or len(before) < 2 or ":" in tokens[match.first].word:
        return False
    return before[1].word in ("for", "of") and stem(before[0].word) in _SEATS


def is_count_not_time(tokens: Sequence[Token], match: Match) -> bool:
    """Was a number read as a time only because of the word after it, as in "six tonight"? If the agent asked "how
    many?", such a number is a count."""
    if not isinstance(match.candidates[0], str) or ":" not in match.candidates[0]:
        return False
    before = tokens[match.first - 1].word if match.first else ""
    is_bare = tokens[match.first].word in SMALL or tokens[match.first].word.isdigit()
    return (
        is_bare
        and before != "at"
        and words_of(tokens[match.first + 1 : match.first + 2])[:1] in (("tonight",), ("this",))
    )


def _is_not_an_amount(tokens: Sequence[Token], match: Match) -> bool:
    """Is this number something other than an amount? True for "at eight", "minus two", "over eighty", "room 5" and "one
    moment"."""
    before = tokens[match.first - 1].word if match.first else ""
    is_held = match.after < len(tokens) and tokens[match.after].word in ("moment", "second", "sec", "minute")
    is_alone = match.after - match.first == 1
    if match.after < len(tokens) and tokens[match.after].word == "something":
        return True  # "twenty something"
    return (
        before in ("at", "-", "minus", "above", "under", "below")
        or _is_over(tokens, match.first)
        or _is_label(tokens, match)
        or (is_alone and is_held and _is_one(tokens, match))
    )


def _is_over(tokens: Sequence[Token], place: int) -> bool:
    """Does an "over" before this number mean "more than"? It does in "over eighty", but not in "send over eighty"."""
    if not place or tokens[place - 1].word != "over":
        return False
    return place < 2 or stem(tokens[place - 2].word) not in _MOVING


def _is_moment(tokens: Sequence[Token], match: Match) -> bool:
    """Does this duration say when something happens, instead of how long it takes? True for "in twenty minutes" and
    "two days ago"."""
    is_ago = match.after < len(tokens) and tokens[match.after].word in ("ago", "later")
    if words_of(tokens[match.after : match.after + 2]) in (("from", "now"), ("from", "today")):
        return True
    return is_ago or (match.first > 0 and tokens[match.first - 1].word == "in")


def _counts_things(tokens: Sequence[Token], match: Match) -> bool:
    """Is the number a number of things and not an amount of money? True for "two months" and "three people"."""
    if match.after >= len(tokens) or tokens[match.after].pause:
        return False
    return CLASS_OF.get(stem(tokens[match.after].word), "money") != "money"


def _is_one(tokens: Sequence[Token], match: Match) -> bool:
    return tokens[match.first].word in ("one", "1", "a")


def _is_label(tokens: Sequence[Token], match: Match) -> bool:
    """Is this number only a label? True for "room 5" and "account 12345"."""
    if not match.first or match.after - match.first > 1 or tokens[match.first].pause:
        return False
    is_last = match.after == len(tokens) or tokens[match.after].word in POLITE
    return is_last and tokens[match.first - 1].word in _LABELLED


def _has_title(tokens: Sequence[Token], place: int) -> bool:
    return place > 0 and tokens[place - 1].word in _TITLES and not tokens[place].pause


def _is_placed(tokens: Sequence[Token], match: Match) -> bool:
    """Does the match stand where a value can stand? It must begin a clause or follow a preposition, and it must end its
    phrase."""
    first = match.first - (match.first > 0 and tokens[match.first - 1].word in ("the", "a", "an"))
    is_led = first == 0 or tokens[first - 1].word in PREPOSITIONS or bool(tokens[first].pause)
    after = tokens[match.after] if match.after < len(tokens) else None
    ends = after is None or bool(after.pause) or after.word in PREPOSITIONS | POLITE | {"and", "today", "tomorrow"}
    return is_led and (ends or (after is not None and is_dated(after.word)))


def known_names(tokens: Sequence[Token], names: NameList, *, is_open: bool = True) -> list[Match]:
    """Every known name in a reply, with the title before it if there is one. A name that consists of ordinary words is
    accepted only if it is the whole reply or is capitalised. If the slot takes only names from the list (`is_open` is
    False), such a name is also accepted at the beginning of a clause or after a preposition: "the airport, at ten"."""
    whole = without_filler(tokens)
    return [
        match._replace(first=match.first - _has_title(tokens, match.first))
        for match in with_regions(tokens, list(names.find(tokens)))
        if (match.first <= whole.first and whole.after <= match.after)
        or is_capital(tokens[match.first])
        or (not is_open and _is_placed(tokens, match))
        or not all(is_carrier(token.word) or token.word == "one" for token in tokens[match.first : match.after])
    ]
