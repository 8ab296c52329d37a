"""Dates as people say them: "next Friday", "the 5th of next month", "in two weeks", "March the third".

One phrase may mean several days, for example "next Friday" (when said on a Wednesday), "this weekend" or "3/4". All
these days are candidates. Rule: every candidate is a day that exists. If the user doesn't say the year or the month,
the next such day is meant. For a slot for past dates, such as a date of birth, it is the last such day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import MAXYEAR, date, timedelta

from ..language.days import day_of, last_day_of, later_month
from ..language.match import Match
from .birth_dates import birth_at
from .movable_holidays import DAYS_AFTER_EASTER, easter, is_good_friday, names_an_event, nth_weekday
from .numbers import SMALL, number_at, ordinal_at
from .relative_days import Since, day_since
from .tokens import Token

_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAYS)}
SHORT_WEEKDAYS = {name[:3]: number for name, number in WEEKDAYS.items()} | {"tues": 1, "thur": 3, "thurs": 3}
_MONTHS = "january february march april may june july august september october november december".split()
MONTHS = {name: number for number, name in enumerate(_MONTHS, start=1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
HOLIDAYS = {
    ("new", "year's", "day"): (1, 1),
    ("new", "year's", "eve"): (12, 31),
    ("new", "year's"): (1, 1),
    ("valentine's", "day"): (2, 14),
    ("halloween",): (10, 31),
    ("christmas", "eve"): (12, 24),
    ("christmas", "day"): (12, 25),
    ("christmas",): (12, 25),
    ("boxing", "day"): (12, 26),
}
_PERIODS = {"day": 1, "days": 1, "night": 1, "nights": 1, "week": 7, "weeks": 7, "fortnight": 14, "fortnights": 14}
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4}|\d\d)")
_FROM = ("from", "after")
_SOON = ("this", "coming", "upcoming")
_GONE = (("just", "gone"), ("just", "past"), ("gone", "by"), ("gone",), ("past",))
_BEFORE_SHORT = (*_SOON, *"on next for by the following last um uh".split())
_LATER = ("afternoon", "evening")
_MORNING = ("morning", *_LATER)
SPAN_OF_DAYS = "span of days"  # the unit of a match such as "this weekend"
_SPANS = ("weekend", "week")
_WEEK_PARTS = {"early": (0, 1, 2), "beginning": (0, 1), "start": (0, 1), "middle": (1, 2, 3), "mid": (1, 2, 3)}
_WEEK_PARTS |= {"late": (3, 4), "end": (3, 4)}
MONTHS_AHEAD_MAX = 1200
DAYS_MAX = 3660
_LEAP_YEARS_APART_MAX = 8  # for example from 1896 to 1904

Found = tuple[tuple[date, ...], int]  # the days that may be meant, the place after


class _Dates:
    """Reads the dates in one reply."""

    def __init__(
        self, tokens: Sequence[Token], today: date, is_past: bool, is_asked: bool, since: Since | None
    ) -> None:
        self.tokens = tokens
        self.words = [token.word for token in tokens] + [""] * 6
        self.today = today
        self.is_past = is_past
        self.since = since
        self.first = (
            max(today, since.day) if since is not None and since.is_start else today
        )  # the earliest day that may be meant
        self.is_asked = is_asked
        self.takes_day_parts = is_asked or is_past  # otherwise "this morning" isn't a date
        self.weekdays = WEEKDAYS | SHORT_WEEKDAYS if is_asked else WEEKDAYS

    def at(self, place: int) -> Found | None:
        """The days that the words from the token `place` on may mean, and the index of the token after them. None if no
        date begins here."""
        rules: tuple[Callable[[int], Found | None], ...] = (
            self._since, self._near, self._distance, self._nth_weekday, self._weekday, self._month_first,
            self._day_first, self._holiday, self._movable_holiday, self._digits, self._weekend, self._part_of_week,
            self._month_end, self._birth,
        )  # fmt: skip
        try:
            for rule in rules:
                if (found := rule(place)) is not None:
                    return found
        except OverflowError:  # not a day of the years 1 to 9999
            pass
        return None

    def _in_days(self, days: int) -> date:
        return self.today + timedelta(days)

    def _is_possible(self, day: date) -> bool:
        """Can this day be meant? Yes, if it is today or later. For a slot for past dates: yes, if it is today or
        earlier."""
        return day <= self.today if self.is_past else day >= self.today

    def _years(self, count: int) -> range:
        """This year and the following years, `count` years in all. For a slot for past dates: this year and the years
        before it."""
        year = self.today.year
        return range(year, max(year - count, 0), -1) if self.is_past else range(year, min(year + count, MAXYEAR + 1))

    def _since(self, place: int) -> Found | None:
        return day_since(self.tokens, place, self.since, WEEKDAYS) if self.since is not None else None

    # -- Around today

    def _near(self, place: int) -> Found | None:
        """Reads "today", "this evening", "last night", "the day after tomorrow", "tomorrow week"."""
        skip = place + (self.words[place] in ("the", "a"))
        if self.words[skip : skip + 2] == ["day", "after"] and self.words[skip + 2] in ("tomorrow", "tmrw"):
            return (self._in_days(2),), skip + 3
        if self.words[skip : skip + 3] == ["day", "before", "yesterday"]:
            return (self._in_days(-2),), skip + 3
        if self.words[place] in ("later", "earlier") and self.words[place + 1] == "today":
            place += 1
        if self.words[place] in ("today", "tomorrow") and self.words[place + 1] == "week":
            return (self._in_days(7 + (self.words[place] == "tomorrow")),), place + 2
        if self.words[place] in ("today", "tonight"):
            return (self.today,), place + 1
        if self.words[place] == "this" and self.words[place + 1] in (_MORNING if self.takes_day_parts else _LATER):
            return (self.today,), place + 2
        if self.words[place : place + 2] == ["last", "night"] and self.takes_day_parts:
            return (self._in_days(-1),), place + 2
        if self.words[place] in ("tomorrow", "tmrw", "yesterday"):
            return (self._in_days(-1 if self.words[place] == "yesterday" else 1),), place + 1
        return None

    def _distance(self, place: int) -> Found | None:
        """Reads "in two weeks", "three days from now", "a week from Friday", "a week on Friday"."""
        begun = place + (self.words[place] in ("in", "within"))
        begun += begun > place and self.words[begun] in ("about", "around", "roughly", "approximately")
        is_one = self.words[begun] in ("a", "an", "one") and self.words[begun + 1] not in ("couple", "dozen")
        counted = (1, begun + 1) if is_one else number_at(self.tokens, begun)
        if counted is None or not isinstance(counted[0], int):
            return None
        count, at = counted[0], counted[1]
        unit = self.words[at].removesuffix("'s")  # "in a week's time"
        is_ago = begun == place and self.words[at + 1] == "ago"
        if unit in ("month", "months", "year", "years"):
            months = min(count * (12 if unit.startswith("year") else 1), MONTHS_AHEAD_MAX)
            days = self._days_in_months(-months if is_ago else months)
        elif unit in _PERIODS and count <= DAYS_MAX:
            days = count * _PERIODS[unit] * (-1 if is_ago else 1)
        else:
            days = None
        if days is None:
            return None
        at += 1
        if begun > place:
            at += 2 * (self.words[at : at + 2] in (["from", "now"], ["from", "today"]))
            return (self._in_days(days),), at
        if unit.startswith(("week", "fortnight")) and self.words[at] in ("today", "tomorrow"):
            return (self._in_days(days + (self.words[at] == "tomorrow")),), at + 1
        if is_ago:
            return (self._in_days(days),), at + 1
        if self.words[at] in _FROM or (self.words[at] == "on" and unit in _PERIODS and self.words[at + 1] in WEEKDAYS):
            if self.words[at + 1] == "now":
                return (self._in_days(days),), at + 2
            if self.words[at + 1] != "the" and (start := self._near(at + 1) or self._weekday(at + 1)) is not None:
                return tuple(day + timedelta(days) for day in start[0]), start[1]
        return None

    def _days_in_months(self, count: int) -> int | None:
        """The number of days from today to the day `count` months later. If that month is too short, its last day is
        used: one month after January 31 is the last day of February. A negative `count` goes back in time."""
        year, month = later_month(self.today.year, self.today.month, count)
        day = day_of(year, month, self.today.day) or last_day_of(year, month)
        return (day - self.today).days if day is not None else None

    # -- Weekdays

    def _weekday(self, place: int) -> Found | None:
        """Reads "Friday", "this Friday", "next Friday", "Friday next week", "Friday week", "Friday the 8th"."""
        which = ""
        at = place + (self.words[place] == "the" and self.words[place + 1] in (*_SOON, "next", "following", "last"))
        if self.words[at] in (*_SOON, "next", "following", "last"):
            which, at = self.words[at], at + 1
            if self.words[at] in ("coming", "upcoming"):
                at += 1
            elif self.words[at] in ("week", "week's") and self.words[at + 1 + (self.words[at + 1] == "on")] in WEEKDAYS:
                which, at = f"{which} week", at + 1 + (self.words[at + 1] == "on")
        if self.words[at] not in self.weekdays or not (self.words[at] in WEEKDAYS or self._may_be_short(at)):
            return None
        wanted, at = self.weekdays[self.words[at]], at + 1
        if self.words[at + 1] == "week" and self.words[at] in ("next", "this", "last") and not which:
            which, at = f"{self.words[at]} week", at + 2
        elif self.words[at : at + 3] == ["of", "next", "week"] and not which:
            which, at = "next week", at + 3
        elif self.words[at : at + 2] == ["after", "next"] and not which:
            which, at = "after next", at + 2
        elif self.words[at] == "week" and not which:
            which, at = "week", at + 1
        elif size := next((len(one) for one in _GONE if self.words[at : at + len(one)] == [*one]), 0):
            which, at = "last", at + size  # "Monday just gone", "this Monday gone"
        days = self._weekday_days(wanted, which)
        return self._with_date(days, wanted, at)

    def _may_be_short(self, at: int) -> bool:
        """May a short form such as "sat" be a weekday here? It may at the beginning of the reply or after a word like
        "on", but not in "we sat"."""
        return at == 0 or self.words[at - 1] in _BEFORE_SHORT

    def _weekday_days(self, wanted: int, which: str) -> tuple[date, ...]:
        """The days that the weekday `wanted` may mean; Monday is 0. `which` is the word said with the weekday, such as
        "next", "this week" or "last". It is empty if the weekday was said alone."""
        weekday = self.today.weekday()
        ahead, behind = (wanted - weekday) % 7, (weekday - wanted) % 7
        this_week = wanted - weekday  # in days from today, like all numbers in this function
        if which in ("next week", "following week"):
            days: tuple[int, ...] = (this_week + 7,)
        elif which == "this week":
            days = (this_week,)
        elif which == "next":
            days = (ahead or 7, this_week + 7)
        elif which in ("week", "after next"):
            days = ((ahead or 7) + 7,)
        elif which == "last week":
            days = (this_week - 7,)
        elif which == "last":
            days = (-(behind or 7),)
        elif self.is_past and which in ("", "this"):
            days = (-behind,) if behind or which else (0, -7)
        elif which in _SOON:
            days = (ahead if which == "this" else ahead or 7,)
        elif self.first > self.today:
            begins = (self.first - self.today).days
            later = (wanted - self.first.weekday()) % 7
            days = (begins + later,) if later else (begins, begins + 7)
        else:
            days = (ahead,) if ahead else (0, 7)
        return tuple(map(self._in_days, dict.fromkeys(days)))

    def _with_date(self, days: tuple[date, ...], wanted: int, at: int) -> Found | None:
        """Reads a date right after a weekday: "Friday the 8th". `days` are the days that the weekday alone may mean. If
        the date falls on this weekday, only that day is meant. Otherwise the candidates are all days that the weekday
        or the date may mean."""
        begun = at + (self.words[at] in ("on", "the") and not self.tokens[at].pause) if at < len(self.tokens) else at
        found = (
            self._month_first(begun) or self._day_first(begun) or self._day_first(at)
            if begun < len(self.tokens)
            else None
        )
        if found is None:
            return days, at
        agreeing = tuple(day for day in found[0] if day.weekday() == wanted)
        return agreeing or (*found[0], *days), found[1]

    def _nth_weekday(self, place: int) -> Found | None:
        """Reads "the last Friday of March", "the first Monday in April", "the second Tuesday of next month"."""
        at = place + (self.words[place] == "the")
        which = (-1, at + 1) if self.words[at] == "last" else ordinal_at(self.tokens, at)
        if which is None or which[0] > 5 or self.words[which[1]] not in WEEKDAYS:
            return None
        wanted, of = WEEKDAYS[self.words[which[1]]], which[1] + 1
        if self.words[of] not in ("of", "in"):
            return None
        of += 1
        if self.words[of] in MONTHS:
            year = self._year(of + 1)
            years, after = (self._years(2), of + 1) if year is None else (range(year[0], year[0] + 1), year[1])
            months = [(one, MONTHS[self.words[of]]) for one in years]
        elif self.words[of] in ("this", "the", "next") and self.words[of + 1] == "month":
            months, after = [self._month(is_next=self.words[of] == "next")], of + 2
        else:
            return None
        days = [nth_weekday(*one, which[0], wanted) for one in months]
        if days[0] is None:
            return None  # that month has no fifth such weekday
        fits = [day for day in days if day is not None and self._is_possible(day)]
        return ((fits[0],), after) if fits else None

    # -- Days of a month

    def _month_first(self, place: int) -> Found | None:
        """Reads "March 5th", "March the fifth", "March 5 2027"."""
        month = MONTHS.get(self.words[place])
        if month is None:
            return None
        at = place + 1 + (self.words[place + 1] == "the")
        day = ordinal_at(self.tokens, at) or self._plain_day(at)
        if day is None or not 1 <= day[0] <= 31 or self.words[day[1]] in _SPANS:
            return None  # "April, the first week" is no day
        return self._dated(month, *day)

    def _plain_day(self, at: int) -> tuple[int, int] | None:
        """Reads a plain number from 1 to 31. Returns the number and the index of the token after it."""
        found = number_at(self.tokens, at)
        if found is None or not isinstance(found[0], int) or not 1 <= found[0] <= 31:
            return None
        return found[0], found[1]

    def _day_first(self, place: int) -> Found | None:
        """Reads "the 5th", "the 5th of March", "5 March", "the 5th of next month"."""
        at = place + (self.words[place] == "the")
        day = ordinal_at(self.tokens, at)
        spoken = day is not None
        day = day or self._plain_day(at)
        if day is None or not 1 <= day[0] <= 31:
            return None
        number, at = day
        of = at + (self.words[at] == "of")
        if self.words[of] in MONTHS and (spoken or of > at or self.words[of] != "may" or self._is_month(of)):
            return self._dated(MONTHS[self.words[of]], number, of + 1)
        if not spoken:
            return None
        of += self.words[of] == "the"
        month = ordinal_at(self.tokens, of) if of > at and not self.tokens[at].pause else None
        if month is not None and 1 <= month[0] <= 12:  # the twelfth of the third
            return self._dated(month[0], number, month[1])
        if self.words[of] in ("this", "next", "following", "same", "current") and self.words[of + 1] == "month":
            return _one(day_of(*self._month(is_next=self.words[of] in ("next", "following")), number), of + 2)
        if self.words[of : of + 1] == ["month"]:
            return self._nearest_in_a_month(number, of + 1)
        is_all = place == 0 and at == len(self.tokens)  # "twenty first"
        is_name = self.tokens[at - 1].word[0].isdigit() or self.words[place] == "the" or is_all
        if not is_name or self.words[at] in ("one", "option", "choice", "of", "time", "floor", *_SPANS):
            return None
        return self._nearest_in_a_month(number, at)

    def _is_month(self, may: int) -> bool:
        """Does a "may" after a number mean the month, as in "5 may"? Yes, but only if a year follows or if the reply
        ends there."""
        return may + 1 == len(self.tokens) or self._year(may + 1) is not None

    def _month(self, *, is_next: bool) -> tuple[int, int]:
        return later_month(self.today.year, self.today.month, int(is_next))

    def _nearest_in_a_month(self, number: int, at: int) -> Found | None:
        """The next date, not before `self.first`, that is day `number` of a month. For a slot for past dates: the last
        such date up to today."""
        for step in range(12):
            month = later_month(self.first.year, self.first.month, -step if self.is_past else step)
            day = day_of(*month, number)
            if day is not None and (day <= self.today if self.is_past else day >= self.first):
                return (day,), at
        return None

    def _dated(self, month: int, number: int, at: int) -> Found | None:
        """The date with this month and day. If a year is said at index `at`, it is the year of the date. Otherwise the
        next such date from today on is meant, or the last one for a slot for past dates."""
        year = self._year(at + (self.words[at] in ("of", "in")))
        if year is not None:
            return _one(day_of(year[0], month, number), year[1])
        days = (day_of(one, month, number) for one in self._years(_LEAP_YEARS_APART_MAX + 1))
        return _one(next((day for day in days if day is not None and self._is_possible(day)), None), at)

    def _year(self, at: int) -> tuple[int, int] | None:
        """Reads "2027", "twenty twenty-seven", "nineteen ninety", "two thousand and five"."""
        word = self.words[at]
        if word.isascii() and word.isdigit() and len(word) == 4 and 1900 <= int(word) <= 2199:
            return int(word), at + 1
        if word in ("nineteen", "twenty") and self.words[at + 1] in SMALL:
            rest = number_at(self.tokens, at + 1)
            if self.words[at + 1] in ("oh", "zero") or rest is None or not isinstance(rest[0], int):
                return None
            if 10 <= rest[0] <= 99:
                return (1900 if word == "nineteen" else 2000) + rest[0], rest[1]
        if word == "two" and self.words[at + 1] == "thousand":
            whole = number_at(self.tokens, at)
            if whole is not None and isinstance(whole[0], int) and whole[0] < 2100:
                return whole[0], whole[1]
        return self._short_year(at) if self.is_past else None

    def _short_year(self, at: int) -> tuple[int, int] | None:
        """Reads a year of two digits, such as "eighty-four", "84" or "oh seven". It is read only for dates in the
        past."""
        word, after = self.words[at : at + 2]
        digit = SMALL.get(after, 0)
        if word in ("oh", "zero", "o", "nought") and 0 < digit < 10:
            return self._of_century(digit), at + 2
        if len(word) == 2 and word.isdecimal():
            return self._of_century(int(word)), at + 1
        found = number_at(self.tokens, at)
        if found is None or not isinstance(found[0], int) or not 10 <= found[0] <= 99:
            return None
        return self._of_century(found[0]), found[1]

    def _of_century(self, short: int) -> int:
        year = 2000 + short
        return year - 100 if self.is_past and year > self.today.year else year

    # -- Others

    def _holiday(self, place: int) -> Found | None:
        for words, (month, day) in HOLIDAYS.items():
            if tuple(self.words[place : place + len(words)]) == words:
                after = place + len(words)
                return self._dated(month, day, after) if not names_an_event(self.tokens, after) else None
        return None

    def _movable_holiday(self, place: int) -> Found | None:
        """Reads "Good Friday", "Easter Monday". Without a year, the next one is meant, or the last one for a slot for
        past dates."""
        for words, later in DAYS_AFTER_EASTER.items():
            after = place + len(words)
            if tuple(self.words[place:after]) != words or names_an_event(self.tokens, after):
                continue
            if (said := self._year(after)) is not None:
                return (easter(said[0]) + timedelta(later),), said[1]
            days = (easter(year) + timedelta(later) for year in self._years(2))
            day = next(filter(self._is_possible, days), None)
            if day is None:
                return None
            if words[0] != "good" or (is_holiday := is_good_friday(self.tokens, place)):
                return (day,), after
            coming = self._weekday_days(WEEKDAYS["friday"], "")
            return (tuple(dict.fromkeys((day, *coming))), after) if is_holiday is None else None
        return None

    def _birth(self, place: int) -> Found | None:
        return birth_at(self.tokens, place, self._year) if self.is_past else None

    def _digits(self, place: int) -> Found | None:
        """Reads "2027-03-05", "3/5", "5.3.2027". With slashes, month and day may be in either order. With dots, the day
        comes first."""
        if (dotted := _DOTTED.fullmatch(self.words[place])) is not None:
            day, month, year = map(int, dotted.groups())
            year = self._of_century(year) if year < 100 else year
            return _one(day_of(year, month, day), place + 1)
        parts: list[int] = []
        at = place
        while at < len(self.tokens) and self.words[at].isascii() and self.words[at].isdigit() and len(parts) < 3:
            parts.append(int(self.words[at]))
            if self.words[at + 1] not in ("/", "-") or not self.words[at + 2].isdigit():
                break
            at += 2
        at += 1
        if len(parts) == 3 and parts[0] > 31:
            year, month, day = parts
            return _one(day_of(year, month, day), at)
        if len(parts) < 2 or (len(parts) == 2 and self.words[place + 1] == "-"):
            return None
        days: list[date] = []
        for month, day in ((parts[0], parts[1]), (parts[1], parts[0])):
            if len(parts) == 3:
                year = self._of_century(parts[2]) if parts[2] < 100 else parts[2]
                found = _one(day_of(year, month, day), at)
            else:
                found = self._dated(month, day, at) if 1 <= month <= 12 else None
            days += found[0] if found is not None else ()
        return (tuple(dict.fromkeys(days)), at) if days else None

    def names_weekday(self, place: int, after: int) -> bool:
        return any(word in WEEKDAYS for word in self.words[place:after])

    def _weekend(self, place: int) -> Found | None:
        at = place + (self.words[place] in ("the", "at", "on", "over"))
        which = self.words[at] if self.words[at] in ("this", "next", "coming") else ""
        at += bool(which)
        if self.words[at] != "weekend":
            return None
        saturday = 5 - self.today.weekday() + 7 * (which == "next")  # in days from today; -1 on a Sunday
        return tuple(self._in_days(days) for days in (saturday, saturday + 1) if days >= 0), at + 1

    def _part_of_week(self, place: int) -> Found | None:
        """Reads "early next week", "later this week", "the end of the week", "sometime next week"."""
        at = place + (self.words[place] == "the")
        part = {"later": "late", "earlier": "early"}.get(self.words[at], self.words[at])
        days = _WEEK_PARTS.get(part, range(5))
        at += part in _WEEK_PARTS or part in ("sometime", "anytime")
        at += self.words[at] in ("in", "of")
        which = self.words[at]
        is_part = part in _WEEK_PARTS or part in ("sometime", "anytime") or (which == "next" and at == place)
        if not is_part or which not in ("this", "next", "the") or self.words[at + 1] != "week":
            return None
        if self.words[at + 2] in self.weekdays:
            return None  # "next week Friday" is a day
        monday = 7 * (which == "next") - self.today.weekday()  # in days from today
        left = tuple(self._in_days(monday + day) for day in days if monday + day >= 0)
        return (left, at + 2) if left else None

    def _month_end(self, place: int) -> Found | None:
        """Reads "the end of the month", "the last day of next month"."""
        at = place + (self.words[place] == "the")
        if self.words[at : at + 2] == ["last", "day"]:
            at += 2
        elif self.words[at] == "end":
            at += 1
        else:
            return None
        at += self.words[at] == "of"
        which = self.words[at]
        if which in ("the", "this", "next") and self.words[at + 1] == "month":
            return _one(last_day_of(*self._month(is_next=which == "next")), at + 2)
        if which in MONTHS:
            ends = (last_day_of(year, MONTHS[which]) for year in self._years(2))
            return _one(next((day for day in ends if day is not None and self._is_possible(day)), None), at + 1)
        return None


def _one(day: date | None, after: int) -> Found | None:
    return ((day,), after) if day is not None else None


def find_dates(
    tokens: Sequence[Token], today: date, *, is_past: bool = False, is_asked: bool = False, since: Since | None = None
) -> Iterator[Match]:
    """Every date in a reply, as ISO text. With `is_asked`, "Fri" is read as a weekday and "this morning" as today. With
    `is_past`, dates without a year are in the past. `since` is the day from which phrases such as "the day after" are
    counted."""
    reader = _Dates(tokens, today, is_past, is_asked, since)
    place = 0
    while place < len(tokens):
        found = reader.at(place)
        if found is None:
            place += 1
            continue
        days, after = found
        is_span = len(days) > 1 and reader.words[after - 1] in _SPANS and not reader.names_weekday(place, after)
        yield Match(place, after, tuple(day.isoformat() for day in days), SPAN_OF_DAYS if is_span else "")
        place = after
