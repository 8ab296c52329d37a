"""Splits a reply into tokens, and finds the stems by which words are compared. A stem is a word without its ending.

In this package, the place of a token is its index among the tokens, and the position of a token is the index of its
first character in the reply: in "for two", the token "two" has place 1 and position 4. Hesitations such as "um" are
dropped, except between two numbers, or if a reply has no other words. A reply that is longer than any plain answer gets
no tokens, so that all later functions stay fast. Rule: each token knows its position, so the position of each value is
known too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ..language.tokens import Token as Token
from ..language.tokens import joint_in
from ..language.tokens import span_of as span_of
from ..language.tokens import words_of as words_of

REPLY_CHARS_MAX = 500
TOKENS_MAX = 100

_TOKEN = re.compile(
    r"""(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    |(?P<half_day>[ap]\.\s?m\b\.?)             # p.m.
    |(?P<ordinal>\d{1,2}(?:st|nd|rd|th)\b)
    |(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?
        |\d{1,3}(?:\.\d{3})+,\d\d?(?!\d)       # 1.200,50
        |\d+,\d\d(?=\s?(?:€|eur))               # 12,50 €
        |\d+(?:[.:]\d+)*)
    |(?P<clock>o\W{0,2}clock\b)
    |(?P<hummed_yes>\b(?:uh[-\s]?huh|m+-?hm+)\b)
    |(?P<hummed_no>\b(?:nuh[-\s]|uh-)uh\b)
    |(?P<word>(?:[^\W\d_]\.){2,}|[^\W\d_]+(?:'[^\W\d_]+)*)
    |(?P<sign>[$£€#&@+%/_-])""",
    re.VERBOSE | re.IGNORECASE,
)
_STOPS = ("?", ".!;:", ",")
HESITATIONS = frozenset("uh um er erm uhm ehm hmm hm".split())
_HESITATION = re.compile(rf",?\s*\b(?:{'|'.join(sorted(HESITATIONS))})\b,?(?=\s|$)", re.IGNORECASE)
_COUNTS = frozenset(
    """oh zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand""".split()
)
_SPLIT_WORDS = {
    ("to", "morrow"): "tomorrow",
    ("to", "day"): "today",
    ("to", "night"): "tonight",
    ("week", "end"): "weekend",
    ("good", "bye"): "goodbye",
}
SHORT_TITLES = frozenset("mr mrs ms dr prof".split())  # a full stop after these doesn't end a sentence


def plain(text: str) -> str:
    """The text with straight apostrophes instead of curly ones and backticks. Its length stays the same."""
    return text.replace("\u2019", "'").replace("\u2018", "'").replace("`", "'")


_SHORTENED = frozenset(
    """one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty monday tuesday
    wednesday thursday friday saturday sunday""".split()
)  # "ten's fine" is "ten is fine"


def tokens_of(reply: str) -> tuple[Token, ...]:
    """The tokens of a reply. Empty if the reply has more than REPLY_CHARS_MAX characters or TOKENS_MAX tokens."""
    return _tokens_of(reply) if len(reply) <= REPLY_CHARS_MAX else ()


@lru_cache(maxsize=256)  # many grammars read the same message
def _tokens_of(reply: str) -> tuple[Token, ...]:
    found: list[Token] = []
    text, end = plain(reply), 0
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "sign" and match.group() in "-_/" and not _means_something(text, match.start()):
            continue
        word = match.group().casefold()
        if kind == "half_day":
            word = word[0] + "m"
        elif kind in ("hummed_yes", "hummed_no"):
            word = "mhm" if kind == "hummed_yes" else "uh-uh"
        elif kind == "clock":
            word = "o'clock"
        elif kind == "word" and "." in word:
            word = word.replace(".", "")
        gap, is_short = text[end : match.start()], kind == "word" and word.endswith("'s") and word[:-2] in _SHORTENED
        if found and found[-1].word in SHORT_TITLES:
            gap = gap.removeprefix(".")
        if is_short:  # "ten's fine"
            middle = match.end() - 2
            found.append(Token(match.group()[:-2], word[:-2], match.start(), middle, _pause(gap)))
            found.append(Token(match.group()[-2:], "is", middle, match.end(), ""))
        else:
            found.append(Token(match.group(), word, match.start(), match.end(), _pause(gap), joint_in(gap)))
        end = match.end()
    return _without_hesitation_tokens(_rejoined(text, found)) if len(found) <= TOKENS_MAX else ()


def _rejoined(text: str, tokens: Sequence[Token]) -> list[Token]:
    """The tokens, after words that STT wrote in two parts were joined again: "to Morrow", "To-morrow", "week end"."""
    found: list[Token] = []
    for token in tokens:
        before = found[-1] if found else None
        whole = _SPLIT_WORDS.get((before.word, token.word)) if before is not None and not token.pause else None
        if before is None or whole is None or (token.word == "day" and text[before.end : token.start] != "-"):
            found.append(token)
        else:
            said = text[before.start : token.end]
            found[-1] = Token(said, whole, before.start, token.end, before.pause)
    return found


def _without_hesitation_tokens(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens without hesitations: "March third" for "March, um, third". A hesitation is kept between two numbers,
    where the user may be changing the number, and in a reply that has no other words."""
    said = [place for place, token in enumerate(tokens) if token.word not in HESITATIONS]
    if not said or len(said) == len(tokens):
        return tuple(tokens)
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if token.word not in HESITATIONS:
            found.append(token._replace(pause=_joined(tokens, found, place)))
        elif found and found[-1].word not in HESITATIONS and _is_count(found[-1].word):
            after = next((other for other in said if other > place), None)
            if after is not None and _is_count(tokens[after].word):
                found.append(token)
    return tuple(found)


def without_hesitations(text: str) -> str:
    """The text without hesitations and the commas around them. A text that has only hesitations isn't changed."""
    return " ".join(_HESITATION.sub(" ", text).split()) or text


def _joined(tokens: Sequence[Token], found: Sequence[Token], place: int) -> str:
    """The pause mark before the word at `place` (a comma, a full stop, a question mark or nothing), after hesitations
    before this word and the commas around them were removed."""
    first = place
    while first and tokens[first - 1].word in HESITATIONS and (not found or tokens[first - 1] is not found[-1]):
        first -= 1
    pauses = [token.pause for token in tokens[first : place + 1]]
    if len(pauses) > 1 and all(pause == "," for pause in (pauses[0], pauses[-1])) and "." not in pauses:
        return ""
    return next((mark for mark in ("?", ".", ",") if mark in pauses), "")


def _is_count(word: str) -> bool:
    return word[0].isdigit() or word in _COUNTS


def _means_something(text: str, place: int) -> bool:
    """Is the sign at the character with the index `place` part of a number or date? True for a dash or a slash between
    digits, and for a minus before a number."""
    before, after = text[:place][-1:], text[place + 1 : place + 2]
    if not after.isdigit():
        return False
    return (text[place] in "-/" and before.isdigit()) or (text[place] == "-" and not before.strip())


def _pause(gap: str) -> str:
    if len(gap) <= 1:
        return ""
    for stop in _STOPS:
        if any(mark in gap for mark in stop):
            return "." if stop == ".!;:" else stop
    return ""


# Without its ending, each of these would be another word: "busy" would be "bus".
_WHOLE = {
    "suite": "suite", "suites": "suite", "busy": "busy", "quite": "quite", "movie": "movie", "movies": "movie",
}  # fmt: skip
_ENDINGS = ("ings", "ing", "ies", "ied", "ed", "es", "s", "e", "y")
_VOWELS = "aeiou"


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The word without its ending: "bookings" and "booked" both become "book"."""
    word = word.removesuffix("'s").removesuffix("'")
    if word in _WHOLE:
        return _WHOLE[word]
    for ending in _ENDINGS:
        if not word.endswith(ending) or len(word) - len(ending) < 3 or word.endswith("ss"):
            continue
        if ending == "y" and word[-2] in _VOWELS:
            continue
        word = word[: -len(ending)]
        if ending in ("ings", "ing", "ed") and len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":
            word = word[:-1]
        return word.removesuffix("e") if ending != "s" else stem(word)
    return word


def stems_of(*texts: str) -> frozenset[str]:
    """The stems of all words in these texts. An identifier may have several words: "pickup_date" has two."""
    words = (token.word for text in texts for token in tokens_of(text[:REPLY_CHARS_MAX].replace("_", " ")))
    return frozenset(stem(word) for word in words)
