"""German numbers that are written as one word: "einundzwanzig", "zweihundertfünfzig", "neunzehnhundertachtzig"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

_HUNDRED, _THOUSAND, _AND = "hundert", "tausend", "und"


def compound_numbers(known: Mapping[str, int]) -> Callable[[str], int | None]:
    """Returns a function that takes a word and returns the number that the word means, or None if it isn't a number.
    `known` maps the words for simple numbers to these numbers; all other numbers are composed from them."""
    simple = {**known, "ein": 1}

    def below_hundred(word: str) -> int | None:
        if word in simple:
            return simple[word]
        unit, joint, tens = word.partition(_AND)
        if not joint or simple.get(unit, 10) >= 10 or not simple.get(unit) or simple.get(tens, 0) < 20:
            return None
        return simple[tens] + simple[unit]

    def rest(word: str, below: int) -> int | None:
        """The number in the text after "hundert" or "tausend", with or without an "und" before it: 0 if the text is
        empty, otherwise a number smaller than `below`. None if the text isn't such a number."""
        if not word:
            return 0
        value = number(word)
        if value is None and word.startswith(_AND):
            value = number(word[len(_AND) :])
        return value if value is not None and 0 < value < below else None

    def scaled(word: str, scale: str, size: int) -> int | None:
        before, _, after = word.partition(scale)
        count = below_hundred(before) if scale == _HUNDRED else number(before)
        count, more = (count if before else 1), rest(after, size)
        return count * size + more if count and more is not None else None

    @lru_cache(maxsize=4096)
    def number(word: str) -> int | None:
        if word in simple:
            return simple[word]
        if _THOUSAND in word:
            return scaled(word, _THOUSAND, 1000)
        if _HUNDRED in word:
            return scaled(word, _HUNDRED, 100)
        return below_hundred(word)

    def number_of_word(word: str) -> int | None:
        """The number that a whole word means; None if the word isn't a number. The result is also None for "ein" (an
        article), "hundert" and "tausend" alone."""
        return None if word in ("ein", _HUNDRED, _THOUSAND) else number(word)

    return number_of_word
