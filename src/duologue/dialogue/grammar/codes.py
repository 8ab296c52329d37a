"""Codes, phone numbers and e-mail addresses, spelled or written: "A wie Anton 3 7", "ce de casa", "null drei null".

Rule: a code is an unbroken series of characters. If a reply has two such series with other words between them, it
contains two codes, and so it gives no value.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..language.match import Match
from ..language.tokens import Token
from .lexicon import Lexicon, phrase_at
from .numbers import cardinal_at

PHONE_DIGITS = range(6, 16)
_MAIL = re.compile(r"[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}")
_LETTERS_MAX = 3  # a group of lower-case letters before digits has at most this many
_WRITTEN_DIGITS = re.compile(r"\d+(?:[-/.]\d+)*")


def find_code(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Match]:
    """Every spelled code in a reply."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        after, code = place, ""
        while after < len(tokens) and (part := _characters_at(lexicon, tokens, after)) is not None:
            if after > place and tokens[after].pause in (".", "?"):
                break
            code, after = code + part[0], part[1]
        if _is_code(tokens, place, after, code):
            found.append(Match(place, after, (code.upper(),)))
        place = max(after, place + 1)
    return found


def _is_code(tokens: Sequence[Token], place: int, after: int, code: str) -> bool:
    if len(code) < 2:
        return False
    is_word = after - place == 1 and tokens[place].word.isalpha()
    return any(char.isdigit() for char in code) or (len(code) >= 3 and not is_word)


def _characters_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """The characters that the token at `place` stands for, and the index of the token after them. None if the token
    can't be part of a code."""
    token = tokens[place]
    if token.word in lexicon.double and place + 1 < len(tokens):
        part = _characters_at(lexicon, tokens, place + 1)
        return (part[0] * 2, part[1]) if part is not None and len(part[0]) == 1 else None
    if token.word in lexicon.hyphen and place and place + 1 < len(tokens):
        return "", place + 1
    letter = _letter(lexicon, token) if not _is_small_word(lexicon, tokens, place) else None
    if letter is not None:
        return letter, _past_example(lexicon, tokens, place, letter)
    if token.word[0].isdigit() and token.word.isascii():
        if token.word.isalnum():
            return token.word, place + 1
        return (
            ("".join(char for char in token.word if char.isdigit()), place + 1)
            if _WRITTEN_DIGITS.fullmatch(token.word)
            else None
        )
    if any(char.isdigit() for char in token.word):
        return (token.word, place + 1) if token.word.isascii() and token.word.isalnum() else None
    if token.text.isupper() and 2 <= len(token.text) <= 5 and token.word.isascii():
        return token.word, place + 1
    if _are_letters(lexicon, tokens, place):
        return token.word, place + 1
    number = cardinal_at(lexicon, tokens, place)
    return (str(number[0]), number[1]) if number is not None and number[0] < 100 else None


def _are_letters(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    """Do these two or three lower-case letters spell part of a code, instead of being a word? Yes, if digits follow
    directly ("pq 7781"), unless they are a number or a carrier word (a word around a value, such as "to")."""
    word, after = tokens[place].word, place + 1
    is_short = 2 <= len(word) <= _LETTERS_MAX and word.isascii() and word.isalpha()
    if not is_short or after >= len(tokens) or tokens[after].pause or not tokens[after].word[0].isdigit():
        return False
    known = lexicon.carriers | lexicon.fillers | lexicon.polite | lexicon.assent | lexicon.dissent | lexicon.markers
    known |= lexicon.negations | lexicon.articles | lexicon.from_words | lexicon.to_words | lexicon.clock_leads
    return word not in known and lexicon.number_of_word(word) is None


def _is_small_word(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    """Is a single letter a word here, and not part of a code? True for the "o" in "AB123 o AB124" and the "y" in "uno y
    dos". Always False for a capital letter."""
    token = tokens[place]
    if len(token.word) > 1 or token.text[0].isupper():
        return False
    near = [tokens[at].word for at in (place - 1, place + 1) if 0 <= at < len(tokens)]
    if token.word in lexicon.or_words | lexicon.joiner:
        return len(near) == 2
    is_word = token.word in lexicon.carriers | lexicon.markers
    return is_word and not any(
        len(word) == 1 or word in lexicon.spelled_as or word in lexicon.as_in | lexicon.double for word in near
    )


def _letter(lexicon: Lexicon, token: Token) -> str | None:
    if len(token.word) == 1 and token.word.isalpha() and token.word.isascii():
        return token.word
    is_written = len(token.text) > 1 and token.text.isupper()  # "KA" is two letters, and "ka" the name of one
    return lexicon.spelled_as.get(token.word) if not is_written else None


def _past_example(lexicon: Lexicon, tokens: Sequence[Token], place: int, letter: str) -> int:
    """The index of the token after the letter at `place` and, if there is one, after the example word for this letter:
    "A wie Anton"."""
    at = place + 1
    is_example = at + 1 < len(tokens) and tokens[at].word in lexicon.as_in and tokens[at + 1].word.startswith(letter)
    return place + 3 if is_example and len(tokens[at + 1].word) > 1 else at


def find_phone(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Match]:
    """Every phone number in a reply."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        after, digits = place, ""
        if tokens[place].word in lexicon.plus or tokens[place].word == "+":
            digits, after = "+", place + 1
        while after < len(tokens) and (part := _digits_at(lexicon, tokens, after)) is not None:
            digits, after = digits + part[0], part[1]
        if sum(char.isdigit() for char in digits) in PHONE_DIGITS:
            found.append(Match(place, after, (digits,)))
        place = max(after, place + 1)
    return found


def _digits_at(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    token = tokens[place]
    if _WRITTEN_DIGITS.fullmatch(token.word) and token.word.isascii():
        return "".join(char for char in token.word if char.isdigit()), place + 1
    if token.word == "-":
        return "", place + 1
    if token.word in lexicon.double and place + 1 < len(tokens):
        part = _digits_at(lexicon, tokens, place + 1)
        return (part[0] * 2, part[1]) if part is not None and len(part[0]) == 1 else None
    number = cardinal_at(lexicon, tokens, place)
    return (str(number[0]), number[1]) if number is not None and number[0] < 1000 else None


def find_email(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Match]:
    """The e-mail addresses that are written in a reply. If the reply has none in writing, the spoken address is
    returned."""
    written = [
        Match(at, at + 1, (token.text.casefold().rstrip("?"),))
        for at, token in enumerate(tokens)
        if "@" in token.text[1:]
    ]
    written = [match for match in written if _MAIL.fullmatch(str(match.candidates[0]))]
    if written:
        return written
    found = [*_spoken_address(lexicon, tokens), *_spoken_address(lexicon, _without_doubtful_joints(tokens))]
    if len(found) == 2 and found[0][:2] == found[1][:2]:
        candidates = dict.fromkeys((*found[0].candidates, *found[1].candidates))
        return [found[0]._replace(candidates=tuple(candidates))]
    return found[:1]


def _without_doubtful_joints(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without the joints that STT also writes where the user has spoken no sign: in double names
    ("Anna-Lena") and between spelled letters ("b.o.b")."""
    return [
        token._replace(joint="") if token.joint == "-" or (len(token.word) == len(before.word) == 1) else token
        for before, token in zip((*tokens[:1], *tokens[:-1]), tokens, strict=True)
    ]


def _spoken_address(lexicon: Lexicon, tokens: Sequence[Token]) -> list[Match]:
    words = [token.word for token in tokens]
    signs = [
        (at, size)
        for at in range(1, len(words))
        if words[at - 1] not in lexicon.dot  # "gmx punkt at"
        and (size := phrase_at(words, at, lexicon.at_sign) or (words[at] == "@"))
    ]
    if len(signs) != 1:
        return []
    at, size = signs[0]
    first, local = _local_part(lexicon, tokens, at)
    after, host = _host(lexicon, tokens, at + size)
    address = f"{local}@{host}"
    if any(_is_joint(lexicon, tokens, place) or phrase_at(words, place, lexicon.underscore) for place in range(first)):
        return []  # "peter punkt wald, also Wald wie der Baum, at …": a comment interrupts the address
    return [Match(first, after, (address,))] if _MAIL.fullmatch(address) else []


def _piece(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[str, int] | None:
    """The characters of an e-mail address that begin at `place`, and the index of the token after them. None if the
    token can't be part of an address."""
    words = [token.word for token in tokens]
    if size := phrase_at(words, place, lexicon.underscore):
        return "_", place + size
    if words[place] in lexicon.dot:
        return ".", place + 1
    if words[place] in lexicon.hyphen or words[place] == "-":
        return "-", place + 1
    text = tokens[place].text.casefold().rstrip("?")
    if lexicon.number_of_word(words[place]) is not None and not words[place].isdigit():
        return None  # "zwei" may be the digit or the word
    return (text, place + 1) if text.isascii() and text.replace(".", "").isalnum() else None


def _local_part(lexicon: Lexicon, tokens: Sequence[Token], sign: int) -> tuple[int, str]:
    """The part of an e-mail address before the @: the index of its first token, and its text. The part begins right
    after the last word that can't belong to an address."""
    first = sign
    while first > 0:
        word = tokens[first - 1].word
        joins = first < sign and _is_joint(lexicon, tokens, first)
        is_around = word in lexicon.carriers | lexicon.fillers | lexicon.polite | lexicon.assent and len(word) > 1
        is_end = first < sign and tokens[first].pause and not tokens[first].joint
        if (is_around and not joins) or is_end or _is_stop(tokens[first - 1]):
            break
        first -= 1
    return first, _spelled(lexicon, tokens, first, sign)


def _is_joint(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> bool:
    return tokens[place].word in lexicon.dot | lexicon.hyphen


def _is_stop(token: Token) -> bool:
    return not token.word.isalnum() and token.word not in ("-", "_")


def _spelled(lexicon: Lexicon, tokens: Sequence[Token], first: int, after: int) -> str:
    text, at = "", first
    while at < after:
        piece = _piece(lexicon, tokens, at)
        if piece is None:
            return ""
        joint = tokens[at].joint if at > first and not text.endswith((".", "-", "_")) else ""
        text, at = text + joint + piece[0], piece[1]
    return text


def _host(lexicon: Lexicon, tokens: Sequence[Token], place: int) -> tuple[int, str]:
    text, at = "", place
    while at < len(tokens) and not (at > place and tokens[at].pause and tokens[at].pause != "."):
        piece = _piece(lexicon, tokens, at)
        joint = tokens[at].joint if at > place else ""
        is_after_name = text and not text.endswith((".", "-")) and piece is not None and piece[0] not in ".-"
        if is_after_name and joint:
            is_after_name, text = False, text + joint
        if piece is None or (is_after_name and "." in text):
            break
        text, at = text + piece[0], piece[1]
    return at, text
