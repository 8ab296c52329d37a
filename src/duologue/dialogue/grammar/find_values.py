"""Chooses the grammar that reads a slot, by the kind of the slot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..language.days import Today, today_of
from ..language.match import Match
from ..language.readings import Slot, SlotKind
from ..language.tokens import Token
from .amounts import find_durations, find_money
from .codes import find_code, find_email, find_phone
from .dates import DayContext, find_dates
from .lexicon import Lexicon
from .listed import find_choices, find_names
from .numbers import find_numbers
from .times import find_times


class Found(NamedTuple):
    """The values in a reply, and the indexes of other words that belong to them, such as the words for a part of the
    day."""

    matches: list[Match]
    also: frozenset[int] = frozenset()


def find_values(lexicon: Lexicon, tokens: Sequence[Token], slot: Slot, today: Today, *, is_asked: bool) -> Found:
    """Every value for this slot in a reply. With `is_asked`, this includes values that are clear only as an answer to a
    question, such as an hour without "Uhr"."""
    match slot.kind:
        case SlotKind.DATE:
            since = today_of(slot.since).day if slot.since and is_asked else None
            context = DayContext(today.day, slot.is_past, slot.is_birth, is_asked, since)
            return Found(find_dates(lexicon, tokens, context))
        case SlotKind.TIME:
            return _times(lexicon, tokens, slot, today, is_asked=is_asked)
        case SlotKind.DURATION:
            return Found(find_durations(lexicon, tokens))
        case SlotKind.NUMBER:
            found = find_numbers(lexicon, tokens, is_asked=is_asked)
            return Found(found if is_asked else [match for match in found if match.unit])
        case SlotKind.MONEY:
            return Found(find_money(lexicon, tokens, is_asked=is_asked))
        case SlotKind.CHOICE:
            return Found(find_choices(lexicon, tokens, slot.choices))
        case SlotKind.NAME:
            return Found(find_names(lexicon, tokens, slot.names) if slot.names is not None else [])
        case SlotKind.PHONE:
            return Found(find_phone(lexicon, tokens))
        case SlotKind.EMAIL:
            return Found(find_email(lexicon, tokens))
        case SlotKind.CODE:
            return Found(find_code(lexicon, tokens) if is_asked else [])
    return Found([])


def _times(lexicon: Lexicon, tokens: Sequence[Token], slot: Slot, today: Today, *, is_asked: bool) -> Found:
    matches, also = find_times(lexicon, tokens, slot.hours, is_asked=is_asked)
    if slot.since == today.day.isoformat() and today.minute is not None:
        now = f"{today.minute // 60:02d}:{today.minute % 60:02d}"
        matches = [
            match._replace(candidates=tuple(one for one in match.candidates if str(one) >= now) or match.candidates)
            for match in matches
        ]
    return Found(matches, also)
