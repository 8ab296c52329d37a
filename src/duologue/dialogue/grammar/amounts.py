"""Durations and money: "anderthalb Stunden", "hora y media", "12,50 Euro", "doce euros con cincuenta".

A duration is ISO 8601 text, which keeps the unit that was said. Money is an amount and, if it was said, a currency.
Rule: an amount without a currency is money only if the agent asked for money.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..language.match import Match
from ..language.tokens import Token
from .lexicon import Lexicon, phrase_at
from .numbers import Number, number_at

_HALVES = {"M": ("S", 30), "H": ("M", 30), "D": ("H", 12), "Mo": ("D", 15), "Y": ("Mo", 6)}
_ORDER = ("Y", "Mo", "W", "D", "H", "M", "S")


def find_durations(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Match]:
    """Every duration in a reply, except those that say when something happens, as in "in two hours"."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        match = _duration_at(lexicon, tokens, place)
        if match is None:
            place += 1
            continue
        before = tokens[place - 1].word if place else ""
        follows = tokens[match.after].word if match.after < len(tokens) else ""
        if before not in lexicon.duration_moments and follows not in lexicon.duration_moments:
            found.append(match)
        place = match.after
    return found


def _duration_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> Match | None:
    words = [token.word for token in tokens]
    for size in (4, 3, 2, 1):
        said = lexicon.durations.get(" ".join(words[place : place + size]))
        if said is not None and place + size <= len(words):
            return Match(place, place + size, (said,))
    amounts: dict[str, int] = {}
    at = place
    while (part := _one_unit_at(lexicon, tokens, at)) is not None:
        if set(part[0]) & set(amounts):
            return None
        amounts, at = amounts | part[0], part[1]
        joint = at + (at < len(words) and words[at] in lexicon.joiner)
        if _one_unit_at(lexicon, tokens, joint) is None:
            break
        at = joint
    return Match(place, at, (iso_of(amounts),)) if amounts else None


def _one_unit_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[dict[str, int], int] | None:
    """Reads a number and its unit: "three days", "eineinhalb Stunden", "dos horas y media". Returns the amount of each
    unit, and the index of the token after them. None if no duration begins here."""
    if place >= len(tokens):
        return None
    words = [token.word for token in tokens]
    half = words[place] in lexicon.halves
    number: tuple[Number, int] | None
    if half:
        number = (lexicon.halves[words[place]], place + 1)
    elif words[place] in lexicon.articles_as_one:
        number = (1, place + 1)
    elif size := phrase_at(words, place, lexicon.pair):
        number = (2, place + size)
    else:
        number = number_at(lexicon, tokens, place)
    if number is None or number[1] >= len(words):
        return None
    unit = lexicon.periods.get(words[number[1]])
    if unit is None:
        return None
    after = number[1] + 1
    count = number[0]
    if isinstance(count, float):
        half, count = count % 1 == 0.5, int(count)
        if not half:
            return None
    elif not half and after < len(words) and (size := phrase_at(words, after, lexicon.half_unit)):
        half, after = True, after + size
    if not half:
        return {unit: count}, after
    if unit not in _HALVES:
        return None
    smaller, amount = _HALVES[unit]
    return ({unit: count} if count else {}) | {smaller: amount}, after


def iso_of(amounts: dict[str, int]) -> str:
    """The duration as ISO 8601 text."""
    days = "".join(f"{amounts[unit]}{unit[0]}" for unit in _ORDER[:4] if unit in amounts)
    times = "".join(f"{amounts[unit]}{unit}" for unit in _ORDER[4:] if unit in amounts)
    return f"P{days}" + (f"T{times}" if times else "")


def find_money(lexicon: Lexicon, tokens: Sequence[Token], *, is_asked: bool) -> list[Match]:
    """Every amount of money in a reply. With `is_asked`, a number without a currency is an amount too."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        match = _money_at(lexicon, tokens, place, is_asked=is_asked)
        if match is not None:
            found.append(match)
        place = match.after if match is not None else place + 1
    return found


def _money_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, *, is_asked: bool) -> Match | None:
    words = [token.word for token in tokens]
    sign = lexicon.currencies.get(words[place]) if tokens[place].text in ("€", "$", "£") else None
    number = number_at(lexicon, tokens, place + (sign is not None))
    if number is None and words[place] in lexicon.articles_as_one and place + 1 < len(words):
        number = (1, place + 1) if words[place + 1] in lexicon.currencies else None
    before = words[place - 1] if place else ""
    if number is None or before in lexicon.about:
        return None
    amount, after = number
    if after < len(words) and words[after] in lexicon.cents:
        return Match(place, after + 1, ({"amount": round(amount / 100, 2), "currency": "EUR"},))
    if sign is None and after < len(words) and words[after] in lexicon.currencies:
        sign, after = lexicon.currencies[words[after]], after + 1
        amount, after = _with_cents(lexicon, tokens, amount, after)
    elif sign is None and after + 1 < len(words) and words[after] in lexicon.cents_joint - lexicon.joiner and is_asked:
        amount, after = _with_cents(lexicon, tokens, amount, after)
    if _is_rate(lexicon, tokens, after):
        return None
    if sign is None and (not is_asked or _counts(lexicon, tokens, after) or before in lexicon.labelled):
        return None
    return Match(place, after, ({"amount": amount, "currency": sign},))


def _is_rate(lexicon: Lexicon, tokens: Sequence[Token], after: int) -> bool:
    """Is the amount a rate, that is, an amount for each person or period? True for "cien euros por persona" and "80
    Euro im Monat"."""
    if after + 1 >= len(tokens) or tokens[after].pause or tokens[after].word not in lexicon.rate_words:
        return False
    word = tokens[after + 1].word
    return word in lexicon.periods or lexicon.stem(word) in lexicon.counted


def _counts(lexicon: Lexicon, tokens: Sequence[Token], after: int) -> bool:
    if after >= len(tokens) or tokens[after].pause:
        return False
    word = tokens[after].word
    return word in lexicon.periods or lexicon.stem(word) in lexicon.counted or word in lexicon.clock | {"%"}


def _with_cents(lexicon: Lexicon, tokens: Sequence[Token], amount: Number, place: int) -> tuple[Number, int]:
    """The amount plus the cents that follow it ("fünf Euro fünfzig", "doce euros con cincuenta céntimos"), and the
    index of the token after them. Without cents, `amount` and `place` are returned unchanged."""
    if place >= len(tokens) or tokens[place].pause or not isinstance(amount, int):
        return amount, place
    at = place + (tokens[place].word in lexicon.cents_joint)
    cents = number_at(lexicon, tokens, at)
    if cents is None or not isinstance(cents[0], int) or not 0 < cents[0] < 100:
        return amount, place
    after = cents[1] + (cents[1] < len(tokens) and tokens[cents[1]].word in lexicon.cents)
    return round(amount + cents[0] / 100, 2), after
