"""Durations and money: "an hour and a half", "a couple of nights", "twelve fifty", "$1,670".

A duration is ISO 8601 text, which keeps the unit that was said: "three days" is P3D, not 72 hours. Money is an amount
and, if it was said, a currency. Rule: an amount without a currency is read as money only if the agent asked for money.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..language.match import Match
from .numbers import SMALL, number_at, thousands_at
from .tokens import Token, words_of

PERIODS = {
    "second": "S", "sec": "S", "minute": "M", "min": "M", "hour": "H", "hr": "H",
    "day": "D", "night": "D", "week": "W", "month": "Mo", "year": "Y",
}  # fmt: skip
_WHOLE = ("whole", "full", "entire")
_HALVES = {"M": ("S", 30), "H": ("M", 30), "D": ("H", 12), "Mo": ("D", 15), "Y": ("Mo", 6)}
CURRENCIES = {
    "$": "USD", "dollar": "USD", "buck": "USD", "usd": "USD", "cent": "USD", "£": "GBP", "pound": "GBP", "gbp": "GBP",
    "quid": "GBP", "€": "EUR", "euro": "EUR", "eur": "EUR", "rupee": "INR", "yen": "JPY",
}  # fmt: skip
_BANKNOTES = {"fiver": 5, "tenner": 10}
_BOUNDS = (("no", "more", "than"), ("not", "more", "than"), ("not", "over"), ("nothing", "over"), ("nothing", "above"))
_UNITS_WITH_CENTS = ("dollar", "pound", "euro")
_CENTS = ("cent", "cents", "penny", "pence", "p")


def singular(word: str) -> str:
    """The word without the "s" of its plural: "day" for "days"."""
    return word[:-1] if word.endswith("s") and len(word) > 2 else word


# -- Durations


def _period(word: str) -> str:
    return PERIODS.get(singular(word.removesuffix("'s").removesuffix("'")), "")


def single_duration_at(tokens: Sequence[Token], place: int) -> tuple[dict[str, int], int] | None:
    """Reads one duration: "three days", "half an hour", "two and a half hours", "an hour and a half", "a fortnight",
    "the whole week", "overnight". Returns the amount of each unit, such as {"D": 3}, and the index of the token after
    the duration. None if no duration begins here."""
    words = [token.word for token in tokens] + [""] * 5
    if words[place] == "overnight":
        return {"D": 1}, place + 1
    if (quarters := _quarters_at(words, place)) is not None:
        return quarters
    if (half := _half_at(words, place)) is not None:
        return half
    count: int | float
    is_one = words[place] in ("a", "an") and (_period(words[place + 1]) or words[place + 1] == "fortnight")
    if is_one or (words[place] in ("a", "an", "the") and words[place + 1] in _WHOLE):
        count, at = 1, place + 1
    else:
        found = number_at(tokens, place)
        if found is None:
            return None
        count, at = found
    at += words[at] in (*_WHOLE, "more")
    if words[at].startswith("fortnight"):
        return ({"W": 2 * count}, at + 1) if isinstance(count, int) else None
    unit = _period(words[at])
    if not unit:
        return None
    at += 1
    parts = {unit: int(count)}
    if words[at : at + 3] == ["and", "a", "half"] and isinstance(count, int):
        count, at = count + 0.5, at + 3
    elif unit == "H" and (small := _two_digits(tokens, at)) is not None and small[0] < 60 and _ends(tokens, small[1]):
        parts["M"], at = small  # "an hour fifteen"
    if count != int(count):
        if count % 1 != 0.5 or unit not in _HALVES:
            return None
        lower, amount = _HALVES[unit]
        parts[lower] = parts.get(lower, 0) + amount
    return parts, at


def duration_at(tokens: Sequence[Token], place: int) -> tuple[dict[str, int], int] | None:
    """Reads one duration, or two that belong together: "an hour and twenty minutes". In "two hours a day", only "two
    hours" is read. Returns the amount of each unit, such as {"H": 2}, and the index of the token after the duration.
    None if no duration begins here."""
    found = single_duration_at(tokens, place)
    if found is None:
        return None
    parts, after = found
    has_and = after < len(tokens) and tokens[after].word == "and"
    is_each = after < len(tokens) and tokens[after].word in ("a", "an", "the")
    more = single_duration_at(tokens, after + has_and) if not is_each else None
    return (parts | more[0], more[1]) if more is not None and not set(more[0]) & set(parts) else found


def _half_at(words: Sequence[str], place: int) -> tuple[dict[str, int], int] | None:
    """Reads "half an hour", "a half hour", "half a day"."""
    begun = place + (words[place] == "a")
    if words[begun] != "half":
        return None
    at = begun + 1 + (begun == place and words[begun + 1] in ("a", "an"))
    unit = _period(words[at])
    is_said = unit == "H" or (unit in _HALVES and at == begun + 2)  # "half day" may be a kind of ticket
    return ({_HALVES[unit][0]: _HALVES[unit][1]}, at + 1) if is_said else None


def _quarters_at(words: Sequence[str], place: int) -> tuple[dict[str, int], int] | None:
    """Reads "a quarter of an hour", "three quarters of an hour"."""
    is_three = words[place : place + 2] == ["three", "quarters"]
    begun = place + (is_three or words[place] == "a")
    if words[begun] != ("quarters" if is_three else "quarter") or words[begun + 1 : begun + 4] != ["of", "an", "hour"]:
        return None
    return {"M": 45 if is_three else 15}, begun + 4


def _duration_text(parts: dict[str, int]) -> str:
    """The duration as ISO 8601 text. If it has weeks and another unit, the weeks are written as days."""
    if set(parts) == {"W"}:
        return f"P{parts['W']}W"
    parts = dict(parts)
    if "W" in parts:
        parts["D"] = parts.get("D", 0) + 7 * parts.pop("W")
    date = "".join(f"{parts[unit]}{unit[0]}" for unit in ("Y", "Mo", "D") if parts.get(unit))
    time = "".join(f"{parts[unit]}{unit}" for unit in ("H", "M", "S") if parts.get(unit))
    return f"P{date}T{time}" if time else f"P{date or '0D'}"


def find_durations(tokens: Sequence[Token], *, takes_another: bool = False) -> Iterator[Match]:
    """Every duration in a reply. "Another week" is included only with `takes_another`, which is for a question like
    "how much longer?"."""
    if takes_another:
        tokens = [token._replace(word="a") if token.word == "another" else token for token in tokens]
    place = 0
    while place < len(tokens):
        found = duration_at(tokens, place)
        if found is None:
            place += 1
            continue
        parts, after = found
        has_another = takes_another and place > 0 and tokens[place - 1].text.casefold() == "another"
        yield Match(place - has_another, after, (_duration_text(parts),))
        place = after


# -- Money


def _money(amount: int | float, currency: str | None) -> dict[str, str | int | float | None]:
    cents = round(amount * 100)
    return {"amount": cents // 100 if cents % 100 == 0 else cents / 100, "currency": currency}


def _two_digits(tokens: Sequence[Token], at: int, *, is_written: bool = False) -> tuple[int, int] | None:
    """Reads a number from 10 to 99 right after an amount or an hour: the "fifty" in "twelve fifty". The number must be
    in words; with `is_written`, digits are read too. None if there is no such number."""
    is_cents = at < len(tokens) and (tokens[at].word in SMALL or (is_written and tokens[at].word.isdigit()))
    found = number_at(tokens, at) if is_cents and not tokens[at].pause else None
    return (found[0], found[1]) if found and isinstance(found[0], int) and 10 <= found[0] <= 99 else None


def _ends(tokens: Sequence[Token], at: int) -> bool:
    """Does the phrase with an amount end before the token at index `at`? If it goes on, the amount may in fact count
    something, as in "twenty people"."""
    return at == len(tokens) or bool(tokens[at].pause) or tokens[at].word in ("please", "then", "thanks")


def _banknote_at(words: Sequence[str], place: int) -> tuple[tuple[int | float, ...], str | None, int] | None:
    """Reads "a tenner", "a fiver"."""
    begun = place + (words[place] in ("a", "one"))
    return ((_BANKNOTES[words[begun]],), "GBP", begun + 1) if begun > place and words[begun] in _BANKNOTES else None


def _money_at(
    tokens: Sequence[Token], place: int, is_asked: bool
) -> tuple[tuple[int | float, ...], str | None, int] | None:
    """The amounts that the words from the token `place` on may mean, their currency, and the index of the token after
    them. None if no amount begins here. With `is_asked`, a number without a currency is an amount too."""
    words = [token.word for token in tokens] + [""] * 4
    if (note := _banknote_at(words, place)) is not None:
        return note
    currency = CURRENCIES.get(words[place]) if words[place] in ("$", "£", "€") else None
    is_one = words[place] in ("a", "one") and singular(words[place + 1]) in _UNITS_WITH_CENTS
    found = (1, place + 1) if is_one else number_at(tokens, place + bool(currency))
    if found is None:
        return None
    amount, at = found
    amount = thousands_at(tokens, place + bool(currency)) or amount  # an amount of money never has three decimals
    amounts: tuple[int | float, ...] = (amount,)
    if (cents := _two_digits(tokens, at)) is not None and amount == int(amount) < 100:
        pair = (amount + cents[0] / 100, amount * 100 + cents[0])
        amounts, at = (pair[:1] if currency else pair), cents[1]
    if words[at] in _CENTS and currency is None:
        return tuple(amount / 100 for amount in amounts), "USD" if words[at].startswith("c") else None, at + 1
    unit = CURRENCIES.get(singular(words[at]))
    if currency is None and unit is not None:
        currency, at = unit, at + 1
        after = at + (words[at] == "and")
        small = number_at(tokens, after)
        if small is not None and small[0] < 100 and words[small[1]] in _CENTS:
            amounts, at = tuple(amount + small[0] / 100 for amount in amounts), small[1] + 1
        elif (small := _two_digits(tokens, at, is_written=True)) is not None and _ends(tokens, small[1]):
            amounts, at = (amount + small[0] / 100,), small[1]  # "twelve pounds fifty"
        elif len(amounts) > 1:
            amounts = amounts[:1]  # "twelve fifty dollars" means 12.50
    elif currency is None and not is_asked:
        return None
    return amounts, currency, at


def _bound_before(tokens: Sequence[Token], place: int) -> int:
    """The index of the first token of an amount, including words for an upper limit before it, as in "no more than
    eighty". If there are no such words, the result is `place`."""
    for words in _BOUNDS:
        said = tokens[max(0, place - len(words)) : place]
        if words_of(said) == words and not any(token.pause for token in said[1:]):  # not "no, more than eighty"
            return place - len(words)
    return place


def find_money(tokens: Sequence[Token], *, is_asked: bool = False) -> Iterator[Match]:
    """Every amount of money in a reply. With `is_asked`, a number without a currency is an amount too."""
    place = 0
    while place < len(tokens):
        found = _money_at(tokens, place, is_asked)
        if found is None:
            place += 1
            continue
        amounts, currency, after = found
        yield Match(_bound_before(tokens, place), after, tuple(_money(amount, currency) for amount in amounts))
        place = after
