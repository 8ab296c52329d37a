"""Times of day: "halb drei", "viertel vor acht", "15 Uhr 30", "las cuatro y media de la tarde".

If the user doesn't say the part of the day, an hour up to twelve may be before or after noon; the hours of the slot
decide. Rule: if two times are possible, both are candidates, so that the agent asks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..language.match import Match
from ..language.tokens import Token
from .lexicon import Lexicon, phrase_at
from .numbers import number_at

_CLOCK = re.compile(r"(\d{1,2})([:.])(\d{2})h?")
_HOURS = re.compile(r"(\d{1,2})h(\d{2})?")
# The hours of each part of the day, the last one excluded.
PARTS = {"morning": (4, 12), "noon": (11, 15), "afternoon": (12, 21), "evening": (17, 24), "night": (19, 29)}

Clock = tuple[int, int, bool]  # hour, minute, and whether the hour is of a clock with 24 hours


def find_times(
    lexicon: Lexicon, tokens: Sequence[Token], hours: tuple[int, int], *, is_asked: bool
) -> tuple[list[Match], frozenset[int]]:
    """Every time of day in a reply. The second result holds the indexes of the words for a part of the day, such as
    "abends"."""
    parts = find_day_parts(lexicon, tokens)
    covered = frozenset(place for match in parts for place in range(match.first, match.after))
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        said = _time_at(lexicon, tokens, place, is_asked=is_asked) if place not in covered else None
        if said is None:
            place += 1
            continue
        clock, first, after = said
        named = {str(match.candidates[0]) for match in parts}
        found.append(Match(first, after, _candidates(clock, named, hours)))
        place = max(after, place + 1)
    return found, covered if found else frozenset()


def find_day_parts(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Match]:
    """The parts of the day that a reply names: "morgens", "de la tarde"."""
    words = [token.word for token in tokens]
    found: list[Match] = []
    place = 0
    while place < len(words):
        part = next(
            ((name, size) for name in lexicon.day_parts if (size := _part_size(lexicon, words, place, name))), None
        )
        if part is not None:
            found.append(Match(place, place + part[1], (part[0],)))
        place += part[1] if part is not None else 1
    return found


def _part_size(lexicon: Lexicon, words: list[str], place: int, name: str) -> int:
    size = phrase_at(words, place, lexicon.day_parts[name])
    if (
        size == 1
        and words[place] in lexicon.morning
        and not (place and words[place - 1] in (*lexicon.weekdays, *lexicon.days))
    ):
        return 0  # tomorrow
    return size


def is_in_part(time: str, part: str) -> bool:
    """Is this time within this part of the day?"""
    begin, end = PARTS[part]
    hour = int(time[:2])
    return begin <= hour < end or begin <= hour + 24 < end


def _candidates(clock: Clock, parts: set[str], hours: tuple[int, int]) -> tuple[str, ...]:
    hour, minute, is_exact = clock
    both = [hour] if is_exact or hour > 12 or hour == 0 else sorted({hour % 12, hour % 12 + 12})
    times = [f"{one:02d}:{minute:02d}" for one in both]
    if parts:
        return tuple(time for time in times if all(is_in_part(time, part) for part in parts)) or tuple(times)
    if len(times) == 1:
        return tuple(times)
    if hour == 12:
        return (f"12:{minute:02d}",)
    return tuple(time for time in times if hours[0] <= int(time[:2]) < hours[1]) or tuple(times)


def _time_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, *, is_asked: bool) -> tuple[Clock, int, int] | None:
    words = [token.word for token in tokens]
    if words[place] in lexicon.noon and not _is_part_of_phrase(lexicon, words, place):
        return (12, 0, True), place, place + 1
    if words[place] in lexicon.midnight:
        return (0, 0, True), place, place + 1
    written = _written_at(lexicon, words, place)
    if written is not None:
        return written[0], place, written[1]
    leads = place > 0 and words[place - 1] in lexicon.clock_leads
    found = _before_hour(lexicon, tokens, place) if lexicon.before_hour_first else None
    if found is not None:
        return found[0], place, found[1]
    return _hour_at(lexicon, tokens, place, leads=leads, is_asked=is_asked)


def _is_part_of_phrase(lexicon: Lexicon, words: list[str], place: int) -> bool:
    return any(
        phrase_at(words, max(0, place - back), phrases) > back
        for back in (1, 2)
        for phrases in lexicon.day_parts.values()
    )


def _written_at(lexicon: Lexicon, words: list[str], place: int) -> tuple[Clock, int] | None:
    """Reads "14:30", "14.30 Uhr", "16h", "16h30"."""
    said = _CLOCK.fullmatch(words[place])
    hours = _HOURS.fullmatch(words[place])
    after = place + 1
    if said is not None:
        follows = words[after] if after < len(words) else ""
        leads = place > 0 and words[place - 1] in lexicon.clock_leads
        if said[2] == "." and follows not in lexicon.clock and not leads:
            return None
        hour, minute = int(said[1]), int(said[3])
        is_exact = said[1].startswith("0") or hour > 12
    elif hours is not None:
        hour, minute, is_exact = int(hours[1]), int(hours[2] or 0), int(hours[1]) > 12
    else:
        return None
    if hour > 24 or minute > 59:
        return None
    after += after < len(words) and words[after] in lexicon.clock
    return (hour % 24, minute, is_exact or hour == 24), after


def _hour_number(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    number = number_at(lexicon, tokens, place)
    if number is None and place < len(tokens) and tokens[place].word in lexicon.articles_as_one:
        number = (1, place + 1)
    if number is None or not isinstance(number[0], int) or not 0 <= number[0] <= 24:
        return None
    return number[0], number[1]


def _before_hour(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[Clock, int] | None:
    """Reads "halb drei", "viertel vor drei", "zehn nach acht", "fünf vor halb vier", "dreiviertel vier"."""
    words = [token.word for token in tokens]
    if words[place] in lexicon.half_before:
        hour = _hour_number(lexicon, tokens, place + 1)
        return (
            (_earlier(hour[0], 30), _past_clock(lexicon, words, hour[1]))
            if hour is not None and 1 <= hour[0] <= 12
            else None
        )
    if words[place] in lexicon.three_quarters:
        hour = _hour_number(lexicon, tokens, place + 1)
        return (
            (_earlier(hour[0], 15), _past_clock(lexicon, words, hour[1]))
            if hour is not None and 1 <= hour[0] <= 12
            else None
        )
    minutes: tuple[int, int] | None = (15, place + 1) if words[place] in lexicon.quarter else None
    if minutes is None:
        number = number_at(lexicon, tokens, place)
        minutes = (
            (number[0], number[1]) if number is not None and isinstance(number[0], int) and number[0] < 60 else None
        )
    if minutes is None:
        return None
    at = minutes[1] + (minutes[1] < len(words) and words[minutes[1]] in lexicon.minute_words)
    if at + 1 >= len(words) or words[at] not in lexicon.minutes_after | lexicon.minutes_before:
        return None
    sign = 1 if words[at] in lexicon.minutes_after else -1
    is_half = words[at + 1] in lexicon.half_before
    hour = _hour_number(lexicon, tokens, at + 1 + is_half)
    if hour is None or not 1 <= hour[0] <= 24 or (is_half and hour[0] > 12):
        return None
    total = hour[0] * 60 - 30 * is_half + sign * minutes[0]
    return _clock_of(total, is_exact=hour[0] > 12), _past_clock(lexicon, words, hour[1])


def _past_clock(lexicon: Lexicon, words: list[str], place: int) -> int:
    return place + (place < len(words) and words[place] in lexicon.clock)


def _earlier(hour: int, minutes: int) -> Clock:
    return _clock_of(hour * 60 - minutes, is_exact=False)


def _clock_of(total: int, *, is_exact: bool) -> Clock:
    hour = total // 60 % 24
    return (hour if is_exact or hour else 12, total % 60, is_exact)


def _hour_at(
    lexicon: Lexicon, tokens: Sequence[Token], place: int, *, leads: bool, is_asked: bool
) -> tuple[Clock, int, int] | None:
    """Reads an hour with the words that belong to it: "15 Uhr 30", "las cuatro y media", "las cinco menos cuarto"."""
    words = [token.word for token in tokens]
    hour = _hour_number(lexicon, tokens, place)
    if hour is None or (
        words[place] in lexicon.articles_as_one and not leads and not _is_clock(lexicon, words, hour[1])
    ):
        return None
    after, minute, has_clock = hour[1], 0, False
    if (
        _is_clock(lexicon, words, after)
        and words[after] in lexicon.periods
        and not leads
        and not (is_asked and place == 0 and hour[0] > 12)
    ):
        return None  # "en dos horas"
    if _is_clock(lexicon, words, after):
        after, has_clock = after + 1, True
        minutes = number_at(lexicon, tokens, after)
        if minutes is not None and isinstance(minutes[0], int) and 0 < minutes[0] < 60 and not tokens[after].pause:
            if not lexicon.before_hour_first:
                return None
            minute, after = minutes[0], _past_minutes(lexicon, words, minutes[1])
    elif not lexicon.before_hour_first and (more := _after_hour(lexicon, tokens, after)) is not None:
        minute, after = more
        after, has_clock = _past_clock(lexicon, words, after), True
    after += phrase_at(words, after, lexicon.sharp) if after < len(words) else 0
    if not (leads or has_clock) and not (is_asked and _may_stand_alone(lexicon, tokens, place, after)):
        return None
    if leads and not has_clock and _counts_something(lexicon, tokens, after):
        return None
    total = hour[0] * 60 + minute
    is_exact = hour[0] > 12 or hour[0] == 0
    return _clock_of(total % 1440, is_exact=is_exact), place, after


def _is_clock(lexicon: Lexicon, words: list[str], place: int) -> bool:
    return place < len(words) and words[place] in lexicon.clock


def _past_minutes(lexicon: Lexicon, words: list[str], place: int) -> int:
    return place + (place < len(words) and words[place] in lexicon.minute_words)


def _after_hour(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """Reads "y media", "y cuarto", "menos veinte". Returns the minutes to add to the hour (negative for "menos"), and
    the index of the token after the words."""
    words = [token.word for token in tokens]
    if place + 1 >= len(words) or words[place] not in lexicon.minutes_after | lexicon.minutes_before:
        return None
    sign = 1 if words[place] in lexicon.minutes_after else -1
    at = place + 1
    if words[at] in lexicon.half_after and sign > 0:
        return 30, at + 1
    if words[at] in lexicon.quarter:
        return sign * 15, at + 1
    number = number_at(lexicon, tokens, at)
    if number is None or not isinstance(number[0], int) or not 0 < number[0] < 60:
        return None
    return sign * number[0], _past_minutes(lexicon, words, number[1])


def _may_stand_alone(lexicon: Lexicon, tokens: Sequence[Token], place: int, after: int) -> bool:
    """Can a number without "Uhr" be the time that was asked for? It can't after a word such as "over" or "room", or if
    it counts something."""
    before = tokens[place - 1].word if place else ""
    if before in lexicon.about | lexicon.labelled:
        return False
    return not _counts_something(lexicon, tokens, after)


def _counts_something(lexicon: Lexicon, tokens: Sequence[Token], after: int) -> bool:
    if after >= len(tokens) or tokens[after].pause:
        return False
    word = tokens[after].word
    is_unit = word in lexicon.periods or word in lexicon.currencies or word in lexicon.months
    return is_unit or lexicon.stem(word) in lexicon.counted or word in lexicon.date_joints - {"de", "del"}
