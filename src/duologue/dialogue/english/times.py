"""Times of day as people say them: "half past six", "a quarter to", "six thirty pm", "around noon", "evening 4:15".

A time without am or pm has two candidates. It has only one if the other isn't within the hours of the slot, or doesn't
fit the part of the day that was said. Rule: a number alone is a time only if the agent asked for a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.match import Match
from .numbers import SMALL, UNITS, number_at
from .tokens import Token, stem
from .units import CLASS_OF

HALF_DAYS = {"am": 0, "pm": 12, "a.m": 0, "p.m": 12}
PARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (16, 24), "night": (18, 28), "tonight": (16, 28)}
NAMED = {"noon": 720, "midday": 720, "noontime": 720, "midnight": 0}
QUARTERS = {"quarter": 15, "half": 30}
_PAST = ("past", "after")
_TO = ("to", "till", "til", "of", "before")
_AROUND = ("at", "around", "about", "by", "near", "approximately", "roughly", "say", "like", "for")
_ZEROS = ("oh", "o", "zero")
_PER_DAY = 1440

ClockTime = tuple[
    int, bool, int
]  # the minutes since midnight, as said; is it a 24-hour clock?; the index of the next token


def minutes_text(minutes: int) -> str:
    """A number of minutes since midnight, written as HH:MM."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


class _Times:
    """Reads the times in one reply."""

    def __init__(self, tokens: Sequence[Token], hours: tuple[int, int], is_asked: bool) -> None:
        self.tokens = tokens
        self.words = [token.word for token in tokens] + [""] * 6
        self.hours = hours
        self.is_asked = is_asked

    def at(self, place: int) -> tuple[tuple[int, ...], int] | None:
        """Read the words that begin at the token `place` as a time. Returns the times that they may mean, in minutes of
        the day, and the index of the token after them. None if no time begins here."""
        named = place + (self.words[place] in ("twelve", "12") and self.words[place + 1] in NAMED)
        if (name := self.words[named].removesuffix("ish")) in NAMED:
            return (NAMED[name],), self._on_the_dot(named + 1)
        part, begun = self._part_before(place)
        clock = self._past_or_to(begun) or (self._clock(begun) if not self._is_half_said(begun) else None)
        if clock is None:
            return None
        minutes, is_full, after = clock
        is_named = after > begun and self.words[after - 1] == "o'clock"
        if part and after == begun + 1 and self.words[begun - 1] == "for" and self._counts(after):
            return None  # "on Saturday evening for six people"
        half, after = self._half_day(self._on_the_dot(after))
        later_part, after = self._part_after(self._on_the_dot(after))
        part = part or later_part
        is_sure = half is not None or part or is_named or ":" in self.tokens[begun].text or after - begun > 1
        is_sure = is_sure or (place > 0 and self.words[place - 1] == "at")
        if not self.is_asked and half is None and not part and self._is_like_digits(begun, after):
            return None  # "three oh nine" may as well be a room number
        if not is_sure and stem(self.words[after]) in CLASS_OF:
            return None  # "two hours" and "six people" aren't times
        if not is_sure and not self.is_asked:
            return None
        return self._candidates(minutes, is_full, half, part), after

    def _counts(self, after: int) -> bool:
        """Does the word at `after` say what a number counts? True for the "people" in "six people"."""
        return stem(self.words[after]) in CLASS_OF or self.words[after : after + 2] == ["of", "us"]

    def _is_like_digits(self, begun: int, after: int) -> bool:
        """Are these words only a series of digits, without a word before them that belongs to a time?"""
        run = self.words[begun:after]
        before = self.words[begun - 1] if begun and not self.tokens[begun].pause else ""
        follows = self.words[after] if after < len(self.tokens) and not self.tokens[after].pause else ""
        is_longer = any(word in UNITS or word in _ZEROS or word.isdigit() for word in (before, follows))
        is_spelled = len(run) > 1 and any(word in _ZEROS for word in run)
        is_spelled = is_spelled and before not in _AROUND and before != "to"
        return (is_longer and all(word in SMALL or word in _ZEROS for word in run)) or is_spelled

    # -- Parts of the day

    def _part_before(self, place: int) -> tuple[str, int]:
        """Reads a part of the day before a time: "in the evening at", "this evening", "evening around". Returns the
        part (an empty text if there is none), and the index of the first token of the time."""
        at = place
        if self.words[at : at + 2] == ["in", "the"]:
            at += 2
        elif self.words[at] in ("this", "the", "tomorrow", "at") and self.words[at + 1] in PARTS:
            at += 1
        if self.words[at] not in PARTS:
            return "", place
        part, at = self.words[at], at + 1
        while self.words[at] in _AROUND:
            at += 1
        return (part, at) if at < len(self.tokens) else ("", place)

    def _part_after(self, at: int) -> tuple[str, int]:
        """Reads a part of the day after a time: "in the morning", "this evening", "at night". Returns the part (an
        empty text if there is none), and the index of the token after it."""
        if self.words[at] in ("in", "during") and self.words[at + 1] == "the" and self.words[at + 2] in PARTS:
            return self.words[at + 2], at + 3
        if self.words[at] in ("in", "this", "at", "of", "the") and self.words[at + 1] in PARTS:
            return self.words[at + 1], at + 2
        if self.words[at] in PARTS and not (at < len(self.tokens) and self.tokens[at].pause == "."):
            return self.words[at], at + 1
        return "", at

    def _half_day(self, at: int) -> tuple[int | None, int]:
        if self.words[at] in HALF_DAYS:
            return HALF_DAYS[self.words[at]], at + 1
        if self.words[at] in ("a", "p") and self.words[at + 1] == "m":
            return HALF_DAYS[self.words[at] + "m"], at + 2
        return None, at

    def _on_the_dot(self, at: int) -> int:
        return at + 3 * (self.words[at : at + 3] == ["on", "the", "dot"])

    # -- Clocks

    def _past_or_to(self, place: int) -> ClockTime | None:
        """Reads "half past six", "a quarter to seven", "ten to seven", "half six". "From five to six" isn't read,
        because it is a range."""
        if place > 0 and self.words[place - 1] == "from":
            return None
        at = place + (self.words[place] == "a")
        if self.words[at] in QUARTERS:
            minutes, at = QUARTERS[self.words[at]], at + 1
        else:
            counted = number_at(self.tokens, at)
            if counted is None or not isinstance(counted[0], int) or not 1 <= counted[0] <= 59:
                return None
            minutes, at = counted[0], counted[1]
            is_said = self.words[at] in ("minutes", "minute", "mins", "min")
            at += is_said
            if not is_said and minutes % 5 and self.words[at] in _TO:
                return None  # "seven to eight" is a range, not 7:53
        sign = 1 if self.words[at] in _PAST else -1 if self.words[at] in _TO else 0
        if not sign:
            british = minutes == 30 and self.words[at - 1] == "half" and at == place + 1
            hour = self._hour(at) if british else None
            return (hour[0] * 60 + 30, False, hour[1]) if hour else None
        if sign < 0 and self.words[at] not in ("to", "till", "til") and self.words[at - 1] not in QUARTERS:
            return None
        if self.words[at + 1] in NAMED:
            return (NAMED[self.words[at + 1]] + sign * minutes) % _PER_DAY, True, at + 2
        hour = self._hour(at + 1)
        if hour is None or not 1 <= hour[0] <= 12:
            return None
        return (hour[0] * 60 + sign * minutes) % 720 or 720, False, hour[1] + (self.words[hour[1]] == "o'clock")

    def _is_half_said(self, place: int) -> bool:
        """Does the reply end here with "five to" or "twenty past", without an hour?"""
        counted = number_at(self.tokens, place)
        after = counted[1] if counted is not None else place
        return after > place and after == len(self.tokens) - 1 and self.words[after] in ("to", "till", "til", "past")

    def _clock(self, place: int) -> ClockTime | None:
        """Reads "6:30", "6 o'clock", "six thirty", "six oh five", "eighteen hundred", "1830 hours"."""
        word = self.words[place]
        if ":" in word or ("." in word and self.is_asked and word[0].isdigit()):
            return self._written(word, place)
        if self.words[place + 1] == "hundred" and (hour_at := self._hour(place)) is not None:
            at = place + 2 + (self.words[place + 2] == "hours")
            return (hour_at[0] * 60, True, at) if self.is_asked or at > place + 2 else None
        if word.isascii() and word.isdigit() and len(word) == 4:
            return self._military(word, place + 1)
        hour_at = self._hour(place)
        if hour_at is None:
            return None
        hour, at = hour_at
        if self.words[at] == "o'clock":
            return hour * 60, hour > 12, at + 1
        past = self._minute(at)
        if past is not None:
            return hour * 60 + past[0], hour > 12 or hour == 0, past[1]
        return hour * 60, hour > 12 or hour == 0, at

    def _military(self, word: str, at: int) -> ClockTime | None:
        """Reads "1830", "1830 hours"."""
        hour, minute = int(word[:2]), int(word[2:])
        has_unit = self.words[at] in ("hours", "hrs", "hr")
        is_clock = hour < 24 and minute < 60 and (has_unit or self.is_asked)
        return (hour * 60 + minute, True, at + has_unit) if is_clock else None

    def _written(self, word: str, place: int) -> ClockTime | None:
        parts = word.replace(".", ":").split(":")
        if len(parts) > 3 or len(parts[0]) > 2 or len(parts[1]) != 2 or not word.isascii():
            return None
        hour, minute = int(parts[0]), int(parts[1])
        if hour > 23 or minute > 59:
            return None
        return hour * 60 + minute, hour > 12 or parts[0][0] == "0", place + 1

    def _hour(self, at: int) -> tuple[int, int] | None:
        """Reads an hour from 0 to 23, in digits or words. "Twenty" alone isn't read as an hour."""
        word = self.words[at].removesuffix("ish")
        if word.isascii() and word.isdigit() and len(word) <= 2 and int(word) <= 23:
            return int(word), at + 1
        if word in UNITS:
            return UNITS[word], at + 1
        if word == "twenty" and UNITS.get(self.words[at + 1], 9) <= 3:
            return 20 + UNITS[self.words[at + 1]], at + 2
        return None

    def _minute(self, at: int) -> tuple[int, int] | None:
        """Reads "thirty", "forty five", "oh five" right after an hour."""
        if at >= len(self.tokens) or self.tokens[at].pause:
            return None
        if self.words[at] in _ZEROS and 0 < UNITS.get(self.words[at + 1], 0) <= 9:
            return UNITS[self.words[at + 1]], at + 2
        if self.words[at] not in SMALL or SMALL[self.words[at]] < 10:
            return None
        found = number_at(self.tokens, at)
        if found is None or not isinstance(found[0], int) or found[0] > 59:
            return None
        return found[0], found[1]

    # -- Morning or evening

    def _candidates(self, minutes: int, is_full: bool, half: int | None, part: str) -> tuple[int, ...]:
        if is_full and minutes >= 780:
            return (minutes,)
        if half is not None:
            return (minutes % 720 + half * 60,)
        if is_full and not part:
            return (minutes,)
        both = (minutes % 720, minutes % 720 + 720)
        if part:
            low, high = PARTS[part]
            fits = tuple(at for at in both if low * 60 <= at < high * 60 or at + _PER_DAY < high * 60)
            return fits[:1] if part == "morning" else fits[-1:] if len(fits) > 1 and part != "night" else fits or both
        fits = tuple(at for at in both if self.hours[0] * 60 <= at < self.hours[1] * 60)
        return fits or both


def find_times(tokens: Sequence[Token], *, hours: tuple[int, int] = (0, 24), is_asked: bool = False) -> Iterator[Match]:
    """Every time in a reply, as HH:MM. With `is_asked`, an hour alone ("eight") is a time too."""
    reader = _Times(tokens, hours, is_asked)
    place = 0
    while place < len(tokens):
        found = reader.at(place)
        if found is None:
            place += 1
            continue
        minutes, after = found
        yield Match(place, after, tuple(minutes_text(at) for at in minutes))
        place = after


def find_day_parts(tokens: Sequence[Token]) -> list[Match]:
    """The parts of the day that a reply names, including am and pm. The candidates of each match are two numbers: the
    minute of the day at which the part begins, and the minute at which it ends."""
    found = []
    for place, token in enumerate(tokens):
        if token.word in PARTS:
            low, high = PARTS[token.word]
            found.append(Match(place, place + 1, (low * 60, high * 60)))
        elif token.word in HALF_DAYS:
            low = HALF_DAYS[token.word] * 60
            found.append(Match(place, place + 1, (low, low + 720)))
    return found


def is_in_day_part(time: str, part: Match) -> bool:
    """Is this time (HH:MM) within a part of the day that `find_day_parts` found?"""
    low, high = (int(str(bound)) for bound in part.candidates)
    hour, mark, minute = time.partition(":")
    if not mark or not hour.isdigit() or not minute.isdigit():
        return False
    minutes = int(hour) * 60 + int(minute)
    return low <= minutes < high or minutes + _PER_DAY < high
