"""English number words: cardinals, ordinals, decimals, years and digits one by one."""

from __future__ import annotations

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
NUMBER_MAX = 10**15


def cardinal(number: int) -> str:
    """A whole number below NUMBER_MAX, in words."""
    if number < 0:
        return f"minus {cardinal(-number)}"
    if number < 20:
        return ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return TENS[tens - 2] + (f"-{ONES[ones]}" if ones else "")
    scale, name = next((scale, name) for scale, name in _SCALES if number >= scale)
    count, rest = divmod(number, scale)
    return f"{cardinal(count)} {name}" + (f" {cardinal(rest)}" if rest else "")


def ordinal(number: int) -> str:
    words = cardinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[cut:]
    if last in _ORDINALS:
        return words[:cut] + _ORDINALS[last]
    return f"{words[:-1]}ieth" if last.endswith("y") else f"{words}th"


def year(number: int) -> str:
    """A year from 1000 to 2999 in words, as people say it: "nineteen eighty-four"."""
    high, low = divmod(number, 100)
    if number // 10 in (200, 100) or number % 1000 == 0:
        return cardinal(number)
    if low == 0:
        return f"{cardinal(high)} hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def digits(text: str) -> str:
    """Each digit of a text as a word: "four oh seven" for "407"."""
    return " ".join(ONES[int(digit)] for digit in text if digit in "0123456789")


def decimal(text: str) -> str:
    """A number such as "3.50", in words. Every digit after the point is said."""
    whole, _, fraction = text.partition(".")
    if len(whole) > 15:
        return digits(text)
    said = cardinal(int(whole or "0"))
    return f"{said} point {digits(fraction)}" if fraction else said
