"""Numbers as people say them: "twenty one", "a couple of", "1,110", "two and a half", "the twenty-first".

Each count comes with the word for what is counted (without its ending), so that a number of rooms isn't mistaken for a
number of nights. Rule: number words are joined only if they make one number, as in "twenty one" but not in "five six".
The pronoun in "find one in town" isn't a count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..language.match import Match
from .tokens import Token, stem

UNITS = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen""".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
} | {"fourty": 40}
SCALES = {"hundred": 100, "thousand": 1_000, "grand": 1_000, "k": 1_000, "million": 1_000_000, "billion": 10**9}
SMALL = UNITS | TENS
ORDINALS = {
    word: value
    for value, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50}
_HALVED = {"dozen": 12, "thousand": 1_000, "million": 1_000_000, "billion": 10**9}
_ONE_OF = ("hundred", "thousand", "million", "billion", "grand")
GROUPS = {"couple": 2, "pair": 2, "dozen": 12}

_POINTED = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")  # the point separates thousands, or three decimals
_COMMA_FRACTION = re.compile(r"\d+,\d\d|\d{1,3}(?:\.\d{3})+,\d\d?")
NUMBER_MAX = 10**12
WORDS_MAX = 16
DIGITS_MIN = 3  # fewer digits aren't joined: "two three" may mean two or three
_REPEATS = {"double": 2, "triple": 3, "treble": 3}

# Words before and after "one" when it is a pronoun rather than a count.
_THING_BEFORE = frozenset(
    """a the this that another any some which good nice great best better each every new book find get me need want see
    for:me make have schedule reserve rent buy got is try choose take pick prefer like""".split()
)
_SEEKING = frozenset(("look", "search", "hunt", "ask"))  # "look for one in town"
_THING_AFTER = frozenset(
    """in at near around by close from to on that which is would will works sounds for with please if there i you
    it's that's and or located""".split()
)


def number_at(tokens: Sequence[Token], place: int) -> tuple[int | float, int] | None:
    """The number that begins at the token `place`, and the index of the token after it. None if no number begins
    there."""
    if place >= len(tokens):
        return None
    return _digits_at(tokens, place) or _group_at(tokens, place) or _words_at(tokens, place)


def _digits_at(tokens: Sequence[Token], place: int) -> tuple[int | float, int] | None:
    word = tokens[place].word
    if not word[0].isdigit() or not word[-1].isdigit() or ":" in word or not word.isascii():
        return None
    plain = _plain_digits(word)
    if plain.count(".") > 1:
        return None
    value: int | float = float(plain) if "." in plain else int(plain)
    after = place + 1
    if after < len(tokens) and tokens[after].word in SCALES:
        value, after = value * SCALES[tokens[after].word], after + 1
    value, after = _and_a_half(tokens, after, value)
    value, after = _and_point(tokens, after, value)
    return (_whole(value), after) if value <= NUMBER_MAX else None


def _plain_digits(word: str) -> str:
    """The number with a point before the fraction and no other mark: 1200.50 for "1,200.50" and for "1.200,50"."""
    if _COMMA_FRACTION.fullmatch(word) or (word.count(".") > 1 and _POINTED.fullmatch(word)):
        return word.replace(".", "").replace(",", ".")
    return word.replace(",", "")


def thousands_at(tokens: Sequence[Token], place: int) -> int | None:
    """The number 1200 for "1.200", where the point may separate thousands. None if the point can only be a decimal
    point."""
    is_scaled = place + 1 < len(tokens) and tokens[place + 1].word in SCALES
    return (
        int(tokens[place].word.replace(".", "")) if _POINTED.fullmatch(tokens[place].word) and not is_scaled else None
    )


def _group_at(tokens: Sequence[Token], place: int) -> tuple[int | float, int] | None:
    """Reads "a couple", "a dozen", "half a dozen", "two dozen"."""
    words = [token.word for token in tokens[place : place + 4]]
    if words[:2] == ["half", "a"] and words[2:3] and words[2] in _HALVED:
        return _HALVED[words[2]] // 2, place + 3
    begun = place + (words[0] in ("a", "the"))
    if begun < len(tokens) and tokens[begun].word in GROUPS and (begun > place or tokens[begun].word == "couple"):
        after = begun + 1
        if after < len(tokens) - 1 and tokens[after].word == "of":
            after += 1
        return GROUPS[tokens[begun].word], after
    if words[0] in UNITS and words[1:2] == ["dozen"]:
        return UNITS[words[0]] * 12, place + 2
    return None


def _words_at(tokens: Sequence[Token], place: int) -> tuple[int | float, int] | None:
    """Reads a number in words. An "and" is part of the number only if it follows a word such as "hundred" or
    "thousand"."""
    total = part = 0
    at, last = place, 0  # `last` is the value of the word before, 0 at the beginning
    while at < min(len(tokens), place + WORDS_MAX):
        word = tokens[at].word
        if tokens[at].pause and last:
            break
        if word in SMALL and _may_follow(last, SMALL[word]):
            part, last = part + SMALL[word], SMALL[word] or -1
        elif word in SCALES and last and part:
            part, total, last = _scaled(part, total, SCALES[word])
        elif word in ("a", "an") and not last and _is_one_of(tokens, at):
            part = last = 1
        elif word in ("hundred", "thousand") and not last:  # "hundred" for "a hundred"
            part, total, last = _scaled(1, total, SCALES[word])
        elif not (word == "and" and last >= 100 and at + 1 < len(tokens) and tokens[at + 1].word in SMALL):
            break
        at += 1
    if not last:
        return None
    value, at = _and_a_half(tokens, at, total + part)
    value, at = _and_point(tokens, at, value)
    if (
        value != int(value) and at < len(tokens) and SCALES.get(tokens[at].word, 0) >= 1_000
    ):  # "two and a half thousand"
        value, at = value * SCALES[tokens[at].word], at + 1
    return (_whole(value), at) if value <= NUMBER_MAX else None


def _is_one_of(tokens: Sequence[Token], place: int) -> bool:
    """Do the words at this index mean one hundred, one million or the like, as in "a hundred"? False for "thanks a
    million"."""
    neighbours = {token.word for token in (*tokens[max(0, place - 1) : place], *tokens[place + 2 : place + 3])}
    return place + 1 < len(tokens) and tokens[place + 1].word in _ONE_OF and not neighbours & {"thanks", "thank"}


def _may_follow(last: int, value: int) -> bool:
    """Can a word that means `value` follow a word that means `last` within one number? True for "twenty one" and "one
    hundred five", False for "five six"."""
    return last in (0, 100) or last >= 1000 or (20 <= last < 100 and 0 < value < 10)


def _scaled(part: int, total: int, scale: int) -> tuple[int, int, int]:
    if scale == 100:
        return part * 100, total, 100
    return 0, total + part * scale, scale


def _and_a_half(tokens: Sequence[Token], place: int, value: int | float) -> tuple[int | float, int]:
    is_small = value < 100  # "two thousand and a half" may be half a thousand more
    if is_small and [token.word for token in tokens[place : place + 3]] == ["and", "a", "half"]:
        return value + 0.5, place + 3
    return value, place


def _and_point(tokens: Sequence[Token], place: int, value: int | float) -> tuple[int | float, int]:
    """Reads the fraction in "two point five" or "two point two five". Returns `value` (the "two") plus the fraction,
    and the index of the token after it. Without a fraction, `value` and `place` are returned unchanged."""
    digits, at = "", place + 1
    while at < len(tokens) and len(digits) < 6 and (digit := _digit(tokens[at])) is not None and not tokens[at].pause:
        digits, at = digits + str(digit), at + 1
    is_said = place < len(tokens) and tokens[place].word == "point" and digits and value == int(value)
    return (float(f"{int(value)}.{digits}"), at) if is_said else (value, place)


def _whole(value: int | float) -> int | float:
    return int(value) if value == int(value) else value


def ordinal_at(tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """The ordinal that begins at the token `place`, and the index of the token after it: "21st", "twenty first". None
    if no ordinal begins there."""
    if place >= len(tokens):
        return None
    word = tokens[place].word
    if word[0].isdigit() and word[-2:] in ("st", "nd", "rd", "th") and word[:-2].isascii():
        return int(word[:-2]), place + 1
    if word in ORDINALS:
        return ORDINALS[word], place + 1
    if word in TENS and place + 1 < len(tokens) and ORDINALS.get(tokens[place + 1].word, 10) < 10:
        return TENS[word] + ORDINALS[tokens[place + 1].word], place + 2
    return None


def is_pronoun_one(tokens: Sequence[Token], place: int) -> bool:
    """Is this "one" a pronoun, as in "find one in town", rather than a count?"""
    if tokens[place].word not in ("one", "ones"):
        return False
    before = tokens[place - 1].word if place else ""
    ends = place + 1 == len(tokens) or bool(tokens[place + 1].pause) or tokens[place + 1].word in _THING_AFTER
    is_sought = before == "for" and place > 1 and stem(tokens[place - 2].word) in _SEEKING
    return (before in _THING_BEFORE or is_sought) and ends


def find_digit_run(tokens: Sequence[Token]) -> Match | None:
    """A number that is read out digit by digit, as from a meter ("two three four one one"), or in groups ("12 345").
    None if the reply has no such number."""
    if (grouped := _spaced_thousands(tokens)) is not None:
        return grouped
    runs = [run for run in _digit_runs(tokens) if len(run[0]) > 1]
    if len(runs) != 1 or len(runs[0][0]) < DIGITS_MIN or _has_other_digit(tokens, runs[0]):
        return None
    digits, first, after = runs[0]
    run = tokens[first:after]
    is_spelled = not any(token.pause == "." for token in run[1:]) and not all(token.pause for token in run[1:])
    return Match(first, after, (int(digits),)) if is_spelled and int(digits) <= NUMBER_MAX else None


def _digit_runs(tokens: Sequence[Token]) -> Iterator[tuple[str, int, int]]:
    """The digits that follow each other in a reply, with the index of the first token and that of the token after the
    last: "three oh nine", "double four one"."""
    digits, first, place = "", 0, 0
    while place < len(tokens):
        piece = _digits_in_row(tokens, place)
        if piece is None:
            if digits:
                yield digits, first, place
            digits, place, first = "", place + 1, place + 1
            continue
        digits, place = digits + piece[0], piece[1]
    if digits:
        yield digits, first, place


def _digits_in_row(tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """The digits at `place` and the index of the token after them: "7", "oh", "double four". An "oh" with a pause after
    it isn't a digit."""
    word, after = tokens[place].word, place + 1
    goes_on = after < len(tokens) and not tokens[after].pause
    if word in _REPEATS:
        digit = _digits_in_row(tokens, after) if goes_on else None
        return (digit[0] * _REPEATS[word], digit[1]) if digit is not None and len(digit[0]) == 1 else None
    if word in ("oh", "o", "nought"):
        is_last = after == len(tokens) or bool(tokens[after].pause)
        follows = place > 0 and _digit(tokens[place - 1]) is not None and not tokens[place].pause
        is_zero = follows if is_last else tokens[after].word in _REPEATS or _digit(tokens[after]) is not None
        return ("0", after) if is_zero or (goes_on and tokens[after].word in ("oh", "o")) else None
    digit_said = _digit(tokens[place])
    return (str(digit_said), after) if digit_said is not None else None


def _has_other_digit(tokens: Sequence[Token], run: tuple[str, int, int]) -> bool:
    """Is there another number outside this run of digits? Then the digits may be only a part of the number."""
    return any(
        (token.word in SMALL or token.word in SCALES or token.word[:1].isdigit()) and not is_pronoun_one(tokens, place)
        for place, token in enumerate(tokens)
        if not run[1] <= place < run[2]
    )


def _spaced_thousands(tokens: Sequence[Token]) -> Match | None:
    """Reads a number with spaces between its thousands: "12 345"."""
    groups = [place for place, token in enumerate(tokens) if token.word.isascii() and token.word.isdigit()]
    is_run = len(groups) > 1 and groups[-1] - groups[0] + 1 == len(groups)
    texts = [tokens[place].word for place in groups]
    if not is_run or not 1 <= len(texts[0]) <= 3 or any(len(text) != 3 for text in texts[1:]):
        return None
    is_one = not any(tokens[place].pause for place in groups[1:]) and len(texts) <= 4
    return Match(groups[0], groups[-1] + 1, (int("".join(texts)),)) if is_one else None


def _digit(token: Token) -> int | None:
    value = UNITS.get(token.word, int(token.word) if token.word in "0123456789" else 10)
    return value if value < 10 else None


def find_numbers(tokens: Sequence[Token]) -> Iterator[Match]:
    """Every number in a reply that may be a count, with the stem of the next word (the word without its ending). "6:30"
    and "5th" are left out."""
    place = 0
    while place < len(tokens):
        found = number_at(tokens, place)
        if found is None:
            place += 1
            continue
        value, after = found
        thousands = thousands_at(tokens, place)
        either = (value,) if thousands in (None, value) else (thousands, value)
        unit = stem(tokens[after].word) if after < len(tokens) and tokens[after].pause in ("", ",") else ""
        yield Match(place, after, either, unit)
        place = after
