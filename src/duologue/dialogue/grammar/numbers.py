"""Numbers in digits and in words: "1.500", "3,5", "einundzwanzig", "treinta y uno", "dos mil".

Rule: words are joined into one number only where the language does so. "Veinte cinco" is two numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..language.match import Match
from ..language.tokens import Token
from .lexicon import Lexicon, phrase_at

_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_DECIMAL = re.compile(r"\d+,\d+|\d+\.\d{1,2}")
Number = int | float
_ANY_SIZE = 10**12


def number_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[Number, int] | None:
    """The number that begins at `place`, and the index of the token after it. None if there is no number."""
    if place >= len(tokens):
        return None
    if (digits := digits_of(tokens[place].word)) is not None:
        scale = lexicon.scales.get(tokens[place + 1].word) if place + 1 < len(tokens) else None
        if scale is not None and not tokens[place + 1].pause:
            return _whole(digits * scale), place + 2
        return digits, place + 1
    found = cardinal_at(lexicon, tokens, place)
    if found is None or found[1] + 1 >= len(tokens) or tokens[found[1]].word not in lexicon.decimal_words:
        return found
    return _with_decimals(lexicon, tokens, found)


def digits_of(word: str) -> Number | None:
    """The number that is written in digits; None for any other word."""
    if not word[0].isdigit() or not word.isascii():
        return None
    if _GROUPED.fullmatch(word):
        return _whole(float(word.replace(".", "").replace(",", ".")))
    if _DECIMAL.fullmatch(word):
        return _whole(float(word.replace(",", ".")))
    return int(word) if word.isdigit() and len(word) <= 15 else None


def _whole(number: float) -> Number:
    return int(number) if number == int(number) else number


def _with_decimals(lexicon: Lexicon, tokens: Sequence[Token], found: tuple[int, int]) -> tuple[Number, int]:
    digits, at = "", found[1] + 1
    while at < len(tokens) and (more := cardinal_at(lexicon, tokens, at)) is not None and more[0] < 100:
        digits, at = digits + str(more[0]), more[1]
    return (float(f"{found[0]}.{digits}"), at) if digits else found


def cardinal_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """The whole number in words that begins at `place`, and the index of the token after it. None if no such number
    begins there."""
    total, group, room, at = 0, 0, _ANY_SIZE, place
    while at < len(tokens) and (at == place or not tokens[at].pause):
        word = tokens[at].word
        scale = lexicon.scales.get(word)
        if scale is not None and (scale > group or group == 0) and room and (total == 0 or scale < total):
            total, group, room = (total, (group or 1) * scale, 100) if scale == 100 else _scaled(total, group, scale)
            at += 1
            continue
        joined = _joined_at(lexicon, tokens, at, room)
        if joined is None or (at > place and joined[0] == 0):
            break
        value, at = joined
        group, room = group + value, _room_after(value)
    return (total + group, at) if at > place else None


def _scaled(total: int, group: int, scale: int) -> tuple[int, int, int]:
    return total + (group or 1) * scale, 0, scale


def _room_after(value: int) -> int:
    """The limit below which a number word must be, so that it can belong to the same number as the words before it,
    which mean `value`. A limit of 1 means that only a word such as "hundred" may follow."""
    if value >= 100 and value % 100 == 0:
        return 100
    return 1


def _joined_at(lexicon: Lexicon, tokens: Sequence[Token], place: int, room: int) -> tuple[int, int] | None:
    """Reads one word for a number, or two that are joined: "treinta y uno", "ein und zwanzig"."""
    first = lexicon.number_of_word(tokens[place].word)
    if first is None and tokens[place].word in lexicon.articles_as_one and _may_begin(lexicon, tokens, place):
        first = 1
    if first is None and tokens[place].word in lexicon.articles_as_one and room in (100, 1000):
        first = 1 if not lexicon.unit_first else None  # "trescientos un euros"
    if first is None:
        return None
    words = [token.word for token in tokens[place : place + 3]]
    if len(words) == 3 and words[1] in lexicon.joiner and not tokens[place + 1].pause and not tokens[place + 2].pause:
        second = lexicon.number_of_word(words[2])
        if second is None and words[2] in lexicon.articles_as_one and not lexicon.unit_first:
            second = 1  # "treinta y un euros"
        low, high = (first, second) if lexicon.unit_first else (second, first)
        if low is not None and high is not None and 0 < low < 10 < high < 100 and high % 10 == 0 and high + low < room:
            return high + low, place + 3
    return (first, place + 1) if first < room else None


def _may_begin(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    """Is the article at `place` the beginning of a number, as in "ein und zwanzig" or "ein hundert"?"""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if after in lexicon.joiner and place + 2 < len(tokens) and lexicon.unit_first:
        tens = lexicon.number_of_word(tokens[place + 2].word)
        return tens is not None and 20 <= tens < 100 and tens % 10 == 0
    return after in lexicon.scales


def find_numbers(lexicon: Lexicon, tokens: Sequence[Token], *, is_asked: bool) -> list[Match]:
    """Every count in a reply. An article ("eine") is the number one only before the word for what is counted, or if it
    is the whole reply."""
    words = [token.word for token in tokens]
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        number = number_at(lexicon, tokens, place)
        if number is not None and not _is_no_count(lexicon, tokens, place, number[1]):
            found.append(_with_unit(lexicon, tokens, Match(place, number[1], (number[0],))))
        elif (unit := _counted_after(lexicon, tokens, place)) and words[place] in lexicon.articles_as_one:
            found.append(Match(place, place + 2, (1,), unit))
            number = (1, place + 2)
        elif size := phrase_at(words, place, lexicon.pair):
            found.append(_with_unit(lexicon, tokens, Match(place, place + size, (2,))))
            number = (2, place + size)
        place = number[1] if number is not None else place + 1
    return found or list(_ones(lexicon, tokens, is_asked=is_asked))


def _with_unit(lexicon: Lexicon, tokens: Sequence[Token], match: Match) -> Match:
    """The match, extended by the word for what is counted, if this word follows directly. Otherwise the match
    itself."""
    if match.after < len(tokens) and not tokens[match.after].pause:
        stem = lexicon.stem(tokens[match.after].word)
        if stem in lexicon.counted:
            return match._replace(after=match.after + 1, unit=stem)
    return match


def _counted_after(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> str:
    """The stem of the next word, if that word names what is counted; otherwise empty."""
    stem = lexicon.stem(tokens[place + 1].word) if place + 1 < len(tokens) and not tokens[place + 1].pause else ""
    return stem if stem in lexicon.counted else ""


def _is_no_count(lexicon: Lexicon, tokens: Sequence[Token], place: int, after: int) -> bool:
    """Is this number something other than a count, namely a label ("room 5"), a limit ("over 80"), a time ("at 8") or a
    day ("3. Mai")?"""
    before = tokens[place - 1].word if place else ""
    if (before in lexicon.labelled or before in lexicon.about) and not tokens[place].pause:
        return True
    follows = tokens[after].word if after < len(tokens) else ""
    if before in lexicon.clock_leads and lexicon.stem(follows or ".") not in lexicon.counted:
        return True
    return follows in lexicon.clock or follows in lexicon.months or follows in lexicon.minute_words


def _ones(lexicon: Lexicon, tokens: Sequence[Token], *, is_asked: bool) -> Iterator[Match]:
    """Matches for words that can be the whole count: the articles that mean one ("eine" as the whole reply), and the
    words for zero. Yields nothing unless the agent asked for a count (`is_asked`)."""
    for place, token in enumerate(tokens):
        follows = lexicon.stem(tokens[place + 1].word) if place + 1 < len(tokens) else ""
        if is_asked and token.word in lexicon.articles_as_one and _is_rest_polite(lexicon, tokens, place):
            yield Match(place, place + 1, (1,))
        elif is_asked and token.word in lexicon.none and (follows in lexicon.counted or not follows):
            yield Match(place, place + 1 + (follows in lexicon.counted), (0,))


def _is_rest_polite(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    around = lexicon.polite | lexicon.fillers
    return all(token.word in around for at, token in enumerate(tokens) if at != place)
