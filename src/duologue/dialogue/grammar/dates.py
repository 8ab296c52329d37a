"""Days: "am dritten Mai", "nächsten Freitag", "el 3 de mayo de 2027", "pasado mañana", "3.5.", "in zwei Wochen".

A day without a year means the next such day or, for a slot about the past, the last such day. Rule: words that may mean
two days give both days, so that the agent asks which one is meant. A span of days ("this weekend") is never read as one
day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from ..language.days import day_of, later_month
from ..language.match import Match
from ..language.tokens import Token
from .lexicon import Lexicon, phrase_at
from .numbers import number_at

SPAN_OF_DAYS = "span"  # the unit of a match that means several days
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})(?:\2(\d{4}|\d{2}))?")
_YEARS = range(1900, 2100)


class DayContext(NamedTuple):
    """What a grammar needs to know to read a date. With `needs_year`, only a date with its year is read, as for a
    birthday."""

    today: date
    is_past: bool = False
    needs_year: bool = False
    is_asked: bool = True
    since: date | None = None  # another day that was given: a range ends after it


def find_dates(lexicon: Lexicon, tokens: Sequence[Token], context: DayContext) -> list[Match]:
    """Every day in a reply."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        match = _date_at(lexicon, tokens, place, context)
        if match is None:
            place += 1
            continue
        before = tokens[place - 1].word if place else ""
        if before not in lexicon.every:
            found.append(match)
        place = match.after
    return _joined(lexicon, tokens, found)


def _joined(lexicon: Lexicon, tokens: Sequence[Token], found: list[Match]) -> list[Match]:
    """The matches, with a weekday and a date next to it joined into one day, if the date falls on that weekday:
    "Freitag, den 6. März"."""
    joined: list[Match] = []
    for match in found:
        last = joined[-1] if joined else None
        between = tokens[last.after : match.first] if last is not None else ()
        if last is not None and all(token.word in lexicon.day_leads for token in between):
            one, other = (last, match) if tokens[last.first].word in lexicon.weekdays else (match, last)
            weekday = next(
                (
                    lexicon.weekdays[token.word]
                    for token in tokens[one.first : one.after]
                    if token.word in lexicon.weekdays
                ),
                None,
            )
            days = [day for day in other.candidates if date.fromisoformat(str(day)).weekday() == weekday]
            if weekday is not None and days and other.unit != SPAN_OF_DAYS:
                joined[-1] = Match(last.first, match.after, tuple(days))
                continue
        joined.append(match)
    return joined


def _date_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    for reader in (
        _numeric_at,
        _day_and_month_at,
        _relative_at,
        _weekday_at,
        _weekend_at,
        _week_at,
        _holiday_at,
        _day_alone_at,
    ):
        match = reader(lexicon, tokens, place, context)
        if match is not None:
            return match
    return None


def _match(first: int, after: int, days: Sequence[date | None], unit: str = "") -> Match | None:
    real = tuple(dict.fromkeys(day.isoformat() for day in days if day is not None))
    return Match(first, after, real, unit) if real else None


def _with_year(context: DayContext, month: int, day: int) -> date | None:
    """The next date with this month and day; for a slot about the past, the last such date. None if there is no such
    date."""
    years = range(context.today.year - 8, context.today.year + 9)
    days = [one for year in years if (one := day_of(year, month, day)) is not None]
    if context.is_past:
        return next((one for one in reversed(days) if one <= context.today), None)
    return next((one for one in days if one >= context.today), None)


def _full_year(year: str, context: DayContext) -> int:
    if len(year) == 4:
        return int(year)
    century = context.today.year - context.today.year % 100
    return century + int(year) - (100 if context.is_past and century + int(year) > context.today.year else 0)


def _numeric_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    word = tokens[place].word
    if iso := _ISO.fullmatch(word):
        return _match(place, place + 1, [day_of(int(iso[1]), int(iso[2]), int(iso[3]))])
    said = _NUMERIC.fullmatch(word)
    follows = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if said is None or follows in lexicon.clock:
        return None
    if said[4] is None and (said[2] == "-" or (said[2] == "." and not tokens[place].text.endswith("."))):
        return None  # "3.50" may be money, and "14.30" a time
    day, month = int(said[1]), int(said[3])
    if said[4] is not None:
        return _match(place, place + 1, [day_of(_full_year(said[4], context), month, day)])
    after = place + 1
    if (year := _year_at(lexicon, tokens, after)) is not None:
        return _match(place, year[1], [day_of(year[0], month, day)])
    if context.needs_year:
        return None
    return _match(place, after, [_with_year(context, month, day)]) if 1 <= month <= 12 else None


def _day_number_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """A day of the month, as an ordinal or a number from 1 to 31, and the index of the token after it. None if there is
    no such number."""
    word = tokens[place].word
    if word in lexicon.ordinals:
        return lexicon.ordinals[word], place + 1
    number = number_at(lexicon, tokens, place)
    if number is None or not isinstance(number[0], int) or not 1 <= number[0] <= 31:
        return None
    after = number[1] + (number[1] < len(tokens) and tokens[number[1]].word in ("º", "ª"))
    return number[0], after


def _day_and_month_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    day = _day_number_at(lexicon, tokens, place)
    if day is None:
        return None
    at = day[1]
    at += at < len(tokens) and tokens[at].word in lexicon.date_joints
    if at >= len(tokens) or tokens[at].pause in (".", "?"):
        return None
    month = _month_at(lexicon, tokens, at)
    if month is None:
        return None
    at = month[1]
    joint = at + (at < len(tokens) and tokens[at].word in lexicon.date_joints)
    if (year := _year_at(lexicon, tokens, joint)) is not None:
        return _match(place, year[1], [day_of(year[0], month[0], day[0])])
    if context.needs_year:
        return _with_short_year(lexicon, tokens, place, joint, day[0], month[0], context)
    return _match(place, at, [_with_year(context, month[0], day[0])])


def _with_short_year(
    lexicon: Lexicon, tokens: Sequence[Token], place: int, at: int, day: int, month: int, context: DayContext
) -> Match | None:
    """The date of birth whose year is said with two digits: "dritter fünfter achtzig". None if no such year follows."""
    year = number_at(lexicon, tokens, at) if at < len(tokens) and not tokens[at].pause else None
    if year is None or not isinstance(year[0], int) or not 10 <= year[0] <= 99:
        return None
    century = context.today.year - context.today.year % 100
    days = [day_of(one + year[0], month, day) for one in (century - 100, century)]
    return _match(place, year[1], [one for one in days if one is not None and one <= context.today])


def _month_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """The number of a month, given by its name or by an ordinal ("am dritten fünften"), and the index of the token
    after it. None if there is no month."""
    word = tokens[place].word
    if word in lexicon.months:
        return lexicon.months[word], place + 1
    is_ordinal = word in lexicon.ordinals and tokens[place - 1].word in lexicon.ordinals
    return (lexicon.ordinals[word], place + 1) if is_ordinal and lexicon.ordinals[word] <= 12 else None


def _year_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    if place >= len(tokens) or tokens[place].pause:
        return None
    number = number_at(lexicon, tokens, place)
    if number is None or number[0] not in _YEARS or "." in tokens[place].word:
        return None
    follows = tokens[number[1]].word if number[1] < len(tokens) else ""
    is_count = follows in lexicon.clock or follows in lexicon.currencies or lexicon.stem(follows) in lexicon.counted
    return None if is_count else (int(number[0]), number[1])


def _relative_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    if context.needs_year:
        return None
    words = [token.word for token in tokens]
    for size in (2, 1):
        said = " ".join(words[place : place + size])
        if (
            place + size <= len(words)
            and said in lexicon.days
            and not (size == 1 and _is_morning(lexicon, tokens, place))
        ):
            after = _week_later(lexicon, words, place + size)
            days = lexicon.days[said] + (7 if after > place + size else 0)
            return _match(place, after, [context.today + timedelta(days=days)])
    size = phrase_at(words, place, lexicon.ahead)
    if size and place + size < len(words):
        return _ahead_at(lexicon, tokens, place, size, context)
    return None


def _week_later(lexicon: Lexicon, words: list[str], place: int) -> int:
    """The index of the token after the words "in einer Woche" (as in "Freitag in einer Woche"), if they begin at
    `place`; otherwise `place`."""
    return place + (phrase_at(words, place, lexicon.week_from) if place < len(words) else 0)


def _is_morning(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    """Does this word mean the morning, and not tomorrow? True for "am Morgen", "por la mañana", "heute Morgen" and
    "Freitagmorgen"."""
    if tokens[place].word not in lexicon.morning or not place:
        return False
    before = tokens[place - 1].word
    return before in lexicon.not_tomorrow or before in lexicon.weekdays or before in lexicon.days


def _ahead_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, size: int, context: DayContext) -> Match | None:
    """Reads "in drei Tagen", "dentro de dos semanas", "in einem Monat"."""
    at = place + size
    number = number_at(lexicon, tokens, at)
    if number is None and tokens[at].word in lexicon.articles_as_one:
        number = (1, at + 1)
    if number is None or not isinstance(number[0], int) or number[1] >= len(tokens) or number[0] > 400:
        return None
    unit = lexicon.periods.get(tokens[number[1]].word)
    is_past = tokens[place].word in lexicon.ago
    count = -number[0] if is_past else number[0]
    if unit == "D":
        return _match(place, number[1] + 1, [context.today + timedelta(days=count)])
    if unit == "W":
        return _match(place, number[1] + 1, [context.today + timedelta(weeks=count)])
    if unit == "Mo":
        year, month = later_month(context.today.year, context.today.month, count)
        return _match(place, number[1] + 1, [day_of(year, month, context.today.day)])
    return None


def _weekday_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    """Reads a weekday, with or without "next", "this" or "last" before or after it."""
    if context.needs_year:
        return None
    words = [token.word for token in tokens]
    lead = words[place] if words[place] in lexicon.next_words | lexicon.this_words | lexicon.last_words else ""
    week = _week_before(lexicon, words, place)
    at = place + week[1] if week is not None else place + bool(lead)
    at += at > place and at < len(words) and words[at] in lexicon.day_leads
    if at >= len(words) or words[at] not in lexicon.weekdays:
        return None
    day, after = lexicon.weekdays[words[at]], at + 1
    monday = context.today - timedelta(days=context.today.weekday())
    if week is None and after < len(words) and (found := _week_after(lexicon, words, after)) is not None:
        week, after = found, after + found[1]
    if week is not None:
        return _match(place, after, [monday + timedelta(days=7 * week[0] + day)])
    if after < len(words):
        if size := phrase_at(words, after, lexicon.next_after):
            lead, after = "next", after + size
        elif size := phrase_at(words, after, lexicon.last_after):
            lead, after = "last", after + size
    later = _week_later(lexicon, words, after)
    days = _weekday(lexicon, context, day, lead)
    return _match(place, later, [one + timedelta(days=7 * (later > after)) for one in days])


def _week_before(lexicon: Lexicon, words: list[str], place: int) -> tuple[int, int] | None:
    """The week that is named before a weekday ("nächste Woche Montag"), and the number of words that name it. The week
    is given as the number of weeks from now. None if no week is named."""
    for weeks, phrases in ((1, lexicon.next_week), (0, lexicon.this_week)):
        if size := phrase_at(words, place, phrases):
            return weeks, size
    return None


def _week_after(lexicon: Lexicon, words: list[str], place: int) -> tuple[int, int] | None:
    """The week that is named after a weekday ("lunes de la semana que viene"), and the number of words that name it.
    The week is given as the number of weeks from now. None if no week is named."""
    joint = 0
    while place + joint < len(words) and words[place + joint] in lexicon.date_joints | lexicon.day_leads | {
        "la",
        "der",
    }:
        joint += 1
    found = _week_before(lexicon, words, place + joint) if place + joint < len(words) else None
    if found is None:
        found, joint = (_week_before(lexicon, words, place), 0)
    return (found[0], found[1] + joint) if found is not None else None


def _weekday(lexicon: Lexicon, context: DayContext, day: int, lead: str) -> list[date]:
    """The days that a weekday may mean. If Friday is still to come this week, "next Friday" may mean two days: this
    Friday, or the Friday of next week."""
    today = context.since if context.since is not None and not context.is_past else context.today
    ahead = (day - today.weekday()) % 7
    if lead == "last" or lead in lexicon.last_words or (context.is_past and lead == ""):
        return [context.today - timedelta(days=(context.today.weekday() - day) % 7 or 7)]
    coming = today + timedelta(days=ahead or 7 * (context.since is not None))
    if lead == "next" or lead in lexicon.next_words:
        coming = today + timedelta(days=ahead or 7)
        is_this_week = day > today.weekday()
        return [coming, coming + timedelta(days=7)] if is_this_week else [coming]
    if ahead == 0 and context.since is None:
        return [today, today + timedelta(days=7)]
    return [coming]


def _weekend_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    words = [token.word for token in tokens]
    said = " ".join(words[place : place + 3])
    size = next((len(one.split("_")) for one in lexicon.weekend if said.startswith(one.replace("_", " "))), 0)
    before = words[place - 1] if place else ""
    follows = phrase_at(words, place + size, lexicon.next_after) if place + size < len(words) else 0
    if not size or context.needs_year or context.is_past or before in lexicon.next_words or follows:
        return None
    saturday = context.today + timedelta(days=(5 - context.today.weekday()) % 7)
    if context.today.weekday() == 6:
        return None
    return _match(place, place + size, [saturday, saturday + timedelta(days=1)], SPAN_OF_DAYS)


def _week_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    """Reads a whole week: "nächste Woche", "la semana que viene". It means the working days of that week that haven't
    passed."""
    if context.needs_year or context.is_past:
        return None
    week = _week_before(lexicon, [token.word for token in tokens], place)
    if week is None:
        return None
    monday = context.today + timedelta(days=7 * week[0] - context.today.weekday())
    days = [day for one in range(5) if (day := monday + timedelta(days=one)) >= context.today]
    return _match(place, place + week[1], days, SPAN_OF_DAYS if len(days) > 1 else "")


def _holiday_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    if context.needs_year:
        return None
    words = [token.word for token in tokens[place : place + 2]]
    for size in (2, 1):
        found = lexicon.holidays.get(" ".join(words[:size])) if len(words) >= size else None
        if found is not None:
            month, day = found.split("-")
            return _match(place, place + size, [_with_year(context, int(month), int(day))])
    return None


def _day_alone_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, context: DayContext) -> Match | None:
    """Reads a day of the month without a month: "am dritten", "el 3", "el día tres". It is read only if the agent asked
    for a date."""
    if not context.is_asked or context.needs_year:
        return None
    leads = [token.word for token in tokens[max(0, place - 2) : place]]
    if not leads or leads[-1] not in lexicon.day_leads or leads[-1] in lexicon.clock_leads:
        return None
    day = _day_number_at(lexicon, tokens, place)
    if day is None:
        return None
    is_ordinal = tokens[place].word in lexicon.ordinals or tokens[place].text.endswith(".")
    if lexicon.unit_first and not is_ordinal:
        return None  # German says days as ordinals
    follows = tokens[day[1]].word if day[1] < len(tokens) and not tokens[day[1]].pause else ""
    if (
        follows in lexicon.months
        or follows in lexicon.clock
        or follows in lexicon.periods
        or lexicon.stem(follows) in lexicon.counted
    ):
        return None
    return _match(place, day[1], [_next_day(context, day[0])])


def _next_day(context: DayContext, day: int) -> date | None:
    """The next date that is day `day` of a month; for a slot about the past, the last such date. Months that are too
    short are skipped."""
    for months in range(13):
        year, month = later_month(context.today.year, context.today.month, -months if context.is_past else months)
        found = day_of(year, month, day)
        if found is not None and (found <= context.today if context.is_past else found >= context.today):
            return found
    return None
