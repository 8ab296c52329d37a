"""Phone numbers and codes, spelled as people spell them.

People say "double five", "oh" for zero, "A as in alpha", "B for Bravo", "dash" and "zed". STT writes digits as other
words ("ate one for"), and spelled letters in lower case ("pq 7781"). Rule: a code is an unbroken series of spelled
pieces. A piece that could be a letter or a digit ("oh" between letters) leads to two
candidates, one with the letter and one with the digit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..language.match import DOUBTED, Match
from .carrier_words import POLITE, is_carrier, is_negation
from .numbers import SMALL, TENS, UNITS
from .tokens import HESITATIONS, Token, words_of

_NATO = """alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec
romeo sierra tango uniform victor whiskey xray yankee zulu""".split()
NATO = {word: word[0].upper() for word in _NATO} | {"alfa": "A", "juliett": "J", "x-ray": "X", "whisky": "W"}
SIGNS = {
    "dash": "-", "hyphen": "-", "minus": "-", "slash": "/", "dot": ".", "period": ".", "point": ".", "underscore": "_",
    "plus": "+", "+": "+", "-": "-", "/": "/", "hash": "#", "#": "#",
}  # fmt: skip
TIMES = {"double": 2, "triple": 3, "treble": 3}
_AS_IN = ("for", "like")
_ZERO_OR_O = ("oh", "o")
NOUGHT = ("nought", "naught")
_LETTER_NAMES = {"zed": "Z", "zee": "Z", "aitch": "H"}
_HEARD_AS = {
    "ate": "8",
    "for": "4",
    "fore": "4",
    "to": "2",
    "too": "2",
    "won": "1",
    "tree": "3",
}  # words that sound like digits
_DIGITS = "?0123456789"
_DIGITS_BEFORE_HEARD = 2  # a word that sounds like a digit is a digit only after this many spelled pieces
_ENDINGS = frozenset(
    "ct dd ds ff ft gg ks ld lk ll lm lt ms nd nk ns nt ps pt rc rd rk rm rn rt sh sk sp ss st ts".split()
)
_LETTERS_MAX = 3  # a group of lower-case letters before digits has at most this many: "abc 123"
CODE_CHARS_MIN = 2
CODE_CHARS_MAX = 40
CANDIDATES_MAX = 4
_SAME = re.compile(r"(?<=[0-9])\?{2,}(?=[A-Z])|(?<=[A-Z])\?{2,}(?=[0-9])")
PHONE_DIGITS = range(7, 16)

Piece = tuple[str, int]  # the text that is spelled ("?" is a zero or an O), and the place after


def piece_at(tokens: Sequence[Token], place: int) -> Piece | None:
    """Reads one spelled piece: a letter, digits, a sign, a word for a letter ("bravo"), or a double ("double five")."""
    words = [token.word for token in tokens[place : place + 5]] + [""] * 5
    word = words[0]
    if word in TIMES:
        inner = piece_at(tokens, place + 1) if place + 1 < len(tokens) else None
        return (inner[0] * TIMES[word], inner[1]) if inner and len(inner[0]) == 1 else None
    if word in ("capital", "uppercase", "letter", "number", "digit") and words[1]:
        return piece_at(tokens, place + 1)
    if len(word) == 1 and word.isalpha() and word.isascii():
        return _letter(tokens, place, words)
    if word == "oh":
        return None if _is_exclamation(tokens, place) else ("?", place + 1)
    if word in NOUGHT:
        return "0", place + 1
    if word in UNITS and words[1] == "hundred" and 1 <= UNITS[word] <= 9:
        return (f"{UNITS[word]}00", place + 2) if _ends_hundred(tokens, place + 2) else None
    if word in UNITS:
        return str(UNITS[word]), place + 1
    if word in TENS:
        unit = UNITS.get(words[1], 0)
        return (str(TENS[word] + unit), place + 2) if 1 <= unit <= 9 else (str(TENS[word]), place + 1)
    if word.isascii() and word.replace(",", "").isdigit():
        return word.replace(",", ""), place + 1
    if word in NATO or word in _LETTER_NAMES:
        return NATO.get(word) or _LETTER_NAMES[word], place + 1
    if word in SIGNS:
        return SIGNS[word], place + 1
    text = tokens[place].text
    is_written = text.isascii() and text.isalpha()
    if is_written and ((text.isupper() and len(text) <= 4) or (len(text) <= 6 and _is_next_to_digits(tokens, place))):
        return text.upper(), place + 1
    return (text.upper(), place + 1) if is_written and _are_letters(tokens, place) else None


def _is_exclamation(tokens: Sequence[Token], place: int) -> bool:
    """Does this "oh" begin a new remark, instead of being a zero? True for "six eight two. Oh and one more thing": it
    follows a pause, and no digit follows it."""
    after = place + 1
    if not tokens[place].pause or after == len(tokens):
        return tokens[place].pause == "." and place > 0
    follows = tokens[after].word
    is_spelled = follows in UNITS or follows in TENS or follows in TIMES or follows in _ZERO_OR_O or follows in NOUGHT
    is_spelled = is_spelled or len(follows) == 1 or follows[0].isdigit() or follows in NATO
    return not is_spelled or (tokens[place].pause == "." and bool(tokens[after].pause))


def _are_letters(tokens: Sequence[Token], place: int) -> bool:
    """Do these two or three lower-case letters spell part of a code, instead of being a word? Yes, if digits
    follow directly, as in "pq 7781" or "lm double three", or if they end a clause after digits, as in "gh 17 lmn". But
    never if they are a carrier word (a word around a value, such as "to")."""
    word, after = tokens[place].word, place + 1
    if (
        not 2 <= len(word) <= _LETTERS_MAX
        or _is_like_a_word(word)
        or is_carrier(word)
        or word in _HEARD_AS
        or word in HESITATIONS
        or is_negation(word)
    ):
        return False
    if after >= len(tokens) or tokens[after].pause:
        before = tokens[place - 1].word if place and not tokens[place].pause else ""
        return before[:1].isdigit() or before in UNITS or before in TENS
    follows = tokens[after].word
    return follows in TIMES or follows in UNITS or follows in TENS or follows == "oh" or follows[0].isdigit()


def _is_like_a_word(word: str) -> bool:
    """May these three letters be a word, such as "ask" or "mum"? No, if they have no vowel, if they have a q, x or z,
    or if no word ends like this. Two letters never count as a word here."""
    has_vowel = any(char in "aeiouy" for char in word)
    if len(word) < _LETTERS_MAX or not has_vowel or any(char in "qxz" for char in word):
        return False
    return word[-2] in "aeiouy" or word[-1] in "aeiouy" or word[-2:] in _ENDINGS


def _ends_hundred(tokens: Sequence[Token], at: int) -> bool:
    """Does the number end with the "hundred" before the token at index `at`? In "eight hundred five five five" it does,
    because single digits follow. In "nine hundred ninety nine" it doesn't."""
    words = ([token.word for token in tokens[at : at + 2]] + [""] * 2)[:2]
    if words[0] not in SMALL or tokens[at].pause:
        return words[0] != "and"
    return all(word in TIMES or word in _ZERO_OR_O or word == "hundred" or UNITS.get(word, 10) < 10 for word in words)


def _is_next_to_digits(tokens: Sequence[Token], place: int) -> bool:
    """Are there digits right before or after these letters, without a space? True for "abc123"."""
    before = place > 0 and tokens[place - 1].end == tokens[place].start and tokens[place - 1].word[-1].isdigit()
    after = place + 1 < len(tokens) and tokens[place].end == tokens[place + 1].start
    return before or (after and tokens[place + 1].word[0].isdigit())


def _letter(tokens: Sequence[Token], place: int, words: list[str]) -> Piece:
    """Reads a letter, with or without a word that explains it: "A", "A as in alpha"."""
    letter = words[0].upper()
    if words[1:3] == ["as", "in"] and words[3].startswith(words[0]):
        return letter, place + 4
    if words[1] in _AS_IN and words[2].startswith(words[0]) and len(words[2]) > 1:
        return letter, place + 3
    return ("?" if letter == "O" and tokens[place].text == "o" else letter), place + 1


def run_at(tokens: Sequence[Token], place: int) -> tuple[str, int, int] | None:
    """Reads spelled pieces in a row. Returns the text that they spell, the index of the token after them, and the
    number of pieces. None if no spelled piece begins here."""
    spelled, at, pieces = "", place, 0
    while at < len(tokens):
        if pieces and (between := _between_pieces(tokens, at)):
            at += between
            continue
        piece = piece_at(tokens, at)
        if piece is None and pieces >= _DIGITS_BEFORE_HEARD and spelled[-1] in _DIGITS:
            piece = _heard_at(tokens, at)
        if piece is None or (pieces and _is_pronoun_i(tokens, at)):
            break
        spelled, at, pieces = spelled + piece[0], piece[1], pieces + 1
    return (spelled, at, pieces) if pieces else None


def _between_pieces(tokens: Sequence[Token], place: int) -> int:
    """The number of words at `place` that stand between two spelled pieces and spell nothing: "nine zero zero, uh, one
    two three", "07700 and then 900". 0 if there are no such words."""
    if tokens[place].word in HESITATIONS:
        return 1
    size = 2 if words_of(tokens[place : place + 2]) == ("and", "then") else int(tokens[place].word == "then")
    goes_on = size and place + size < len(tokens) and piece_at(tokens, place + size) is not None
    return size if goes_on else 0


def _heard_at(tokens: Sequence[Token], place: int) -> Piece | None:
    """Reads a digit that STT wrote as another word: the "ate" and "for" in "nine zero zero, ate one for". The reply
    must end after it, or go on with a digit. None for any other word."""
    digit, after = _HEARD_AS.get(tokens[place].word), place + 1
    if digit is None:
        return None
    goes_on = after < len(tokens) and (tokens[after].word in UNITS or tokens[after].word in TIMES)
    goes_on = goes_on or (after < len(tokens) and _heard_at(tokens, after) is not None)
    return (digit, after) if after == len(tokens) or goes_on else None


def _is_pronoun_i(tokens: Sequence[Token], place: int) -> bool:
    """Is this "I" the pronoun, as in "AB 12, I think"? Yes, if the next word isn't part of a spelled code."""
    after = place + 1
    is_word = after < len(tokens) and len(tokens[after].word) > 1 and tokens[after].word not in POLITE
    return tokens[place].word == "i" and is_word and piece_at(tokens, after) is None


def spellings(spelled: str) -> tuple[str, ...]:
    """Every text that `spelled` may mean. In `spelled`, each "oh" and each lower-case "o" is written as a "?". Two or
    more "?" between a digit and a letter are all zeros or all the letter O: "1??P" (said as "one oh oh P") is 100P or
    1OOP. Any other "?" is a zero if it is next to a digit ("1?P" is 10P), and otherwise a zero or an O ("A?B" is A0B or
    AOB)."""
    texts = [""]
    if _SAME.search(spelled):
        return tuple(dict.fromkeys(text for one in ("0", "O") for text in spellings(_all_as(spelled, one))))
    for place, char in enumerate(spelled):
        neighbours = spelled[max(0, place - 1) : place] + spelled[place + 1 : place + 2]
        options = (char,) if char != "?" else ("0",) if any(c.isdigit() for c in neighbours) else ("0", "O")
        texts = [text + option for text in texts for option in options][:CANDIDATES_MAX]
    return tuple(texts)


def _all_as(spelled: str, char: str) -> str:
    """The text with `char` in place of each "?" of every run of two or more "?" between a digit and a letter: "1??P"
    becomes "1OOP" if `char` is "O"."""
    return _SAME.sub(lambda run: char * len(run[0]), spelled)


def find_code(tokens: Sequence[Token]) -> list[Match]:
    """Every spelled code in a reply: 2 to 40 characters, with at least one letter or digit."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        run = run_at(tokens, place)
        if run is None:
            place += 1
            continue
        spelled, after, _ = run
        if len(spelled) < CODE_CHARS_MIN and spelled in ("A", "I"):
            place += 1
            continue
        if CODE_CHARS_MIN <= len(spelled) <= CODE_CHARS_MAX and any(char.isalnum() for char in spelled):
            found.append(Match(place, after, spellings(spelled)))
        place = after
    return found


def _goes_on(tokens: Sequence[Token]) -> bool:
    """Could these words, which follow a phone number, be further digits of the number that weren't understood?"""
    return any(
        token.word in TIMES or token.word in ("ate", "won", "tree") or (token.word in SMALL and token.word != "one")
        for token in tokens
    )


def _is_one_of_several(tokens: Sequence[Token], place: int) -> bool:
    """Does "one" stand for a phone here, as in "my work one, oh six one"? Then it isn't the first digit."""
    after = tokens[place + 1].word if place + 1 < len(tokens) else ""
    if tokens[place].word != "one" or not place or (after not in ("oh", "zero", "0", "plus", "+") and after[:1] != "0"):
        return False
    before = tokens[place - 1].word
    return before.isalpha() and before not in _BEFORE_DIGITS and before not in SMALL


_BEFORE_DIGITS = frozenset("is its it's number phone mobile yes yeah um uh and then was that's oh so".split())


def find_phone(tokens: Sequence[Token]) -> list[Match]:
    """Every phone number in a reply: seven to fifteen digits, with a plus in front if it was said."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        skipped = int(_is_one_of_several(tokens, place))
        place += skipped
        run = run_at(tokens, place)
        if run is None:
            place += 1
            continue
        spelled, after, _ = run
        digits = "".join("0" if char == "?" else char for char in spelled if char not in "-./")
        number, plus = digits.removeprefix("+"), "+" if digits.startswith("+") else ""
        if number.isdigit() and len(number) in PHONE_DIGITS:
            has_area = words_of(tokens[max(0, place - 2) : place]) == ("area", "code")
            unit = DOUBTED if _goes_on(tokens[after:]) else ""
            found.append(Match(place - 2 * has_area - skipped, after, (plus + number,), unit))
        place = after
    return found
