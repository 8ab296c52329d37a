"""Phone numbers, e-mail addresses and codes, spelled as people spell them.

People say "double five", "oh" for zero, "A as in alpha", "B for Bravo", "dash", "dot" and "at". Rule: a code is an
unbroken series of spelled pieces. A piece that could be a letter or a digit ("oh" between letters) leads to two
candidates, one with the letter and one with the digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.match import Match
from .carrier_words import AUXILIARIES, DISSENT, MARKERS, POLITE, PREPOSITIONS, PRONOUNS, is_carrier, is_negation
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
_NOUGHT = ("nought", "naught")
CODE_CHARS_MIN = 2
CODE_CHARS_MAX = 40
CANDIDATES_MAX = 4
PHONE_DIGITS = range(7, 16)

Piece = tuple[str, int]  # the text that is spelled ("?" is a zero or an O), and the place after


def _piece_at(tokens: Sequence[Token], place: int) -> Piece | None:
    """Reads one spelled piece: a letter, digits, a sign, a word for a letter ("bravo"), or a double ("double five")."""
    words = [token.word for token in tokens[place : place + 5]] + [""] * 5
    word = words[0]
    if word in TIMES:
        inner = _piece_at(tokens, place + 1) if place + 1 < len(tokens) else None
        return (inner[0] * TIMES[word], inner[1]) if inner and len(inner[0]) == 1 else None
    if word in ("capital", "uppercase", "letter", "number", "digit") and words[1]:
        return _piece_at(tokens, place + 1)
    if len(word) == 1 and word.isalpha() and word.isascii():
        return _letter(tokens, place, words)
    if word == "oh":
        return "?", place + 1
    if word in _NOUGHT:
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
    if word in NATO:
        return NATO[word], place + 1
    if word in SIGNS:
        return SIGNS[word], place + 1
    text = tokens[place].text
    is_written = text.isascii() and text.isalpha()
    if is_written and ((text.isupper() and len(text) <= 4) or (len(text) <= 6 and _is_next_to_digits(tokens, place))):
        return text.upper(), place + 1
    return None


def _ends_hundred(tokens: Sequence[Token], at: int) -> bool:
    """Does the number end with this "hundred"? In "eight hundred five five five" it does, because single digits follow.
    In "nine hundred ninety nine" the number goes on after it."""
    words = ([token.word for token in tokens[at : at + 2]] + [""] * 2)[:2]
    if words[0] not in SMALL or tokens[at].pause:
        return words[0] != "and"
    return all(word in TIMES or word in _ZERO_OR_O or word == "hundred" or UNITS.get(word, 10) < 10 for word in words)


def _is_next_to_digits(tokens: Sequence[Token], place: int) -> bool:
    """Are there digits right before or after these letters, without a space: "abc123"?"""
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
        if pieces and tokens[at].word in HESITATIONS:  # "nine zero zero, uh, one two three"
            at += 1
            continue
        piece = _piece_at(tokens, at)
        if piece is None or (pieces and _is_pronoun_i(tokens, at)):
            break
        spelled, at, pieces = spelled + piece[0], piece[1], pieces + 1
    return (spelled, at, pieces) if pieces else None


def _is_pronoun_i(tokens: Sequence[Token], place: int) -> bool:
    """Is this "I" the pronoun, as in "AB 12, I think"? It is if the next word isn't part of a spelled code."""
    after = place + 1
    is_word = after < len(tokens) and len(tokens[after].word) > 1 and tokens[after].word not in POLITE
    return tokens[place].word == "i" and is_word and _piece_at(tokens, after) is None


def _spellings(spelled: str) -> tuple[str, ...]:
    """Every text that `spelled` may mean. `spelled` contains a "?" for each "oh" or "o" that was said. A "?" next to a
    digit is a zero; elsewhere it may be a zero or the letter O."""
    texts = [""]
    for place, char in enumerate(spelled):
        neighbours = spelled[max(0, place - 1) : place] + spelled[place + 1 : place + 2]
        options = (char,) if char != "?" else ("0",) if any(c.isdigit() for c in neighbours) else ("0", "O")
        texts = [text + option for text in texts for option in options][:CANDIDATES_MAX]
    return tuple(texts)


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
            found.append(Match(place, after, _spellings(spelled)))
        place = after
    return found


def find_phone(tokens: Sequence[Token]) -> list[Match]:
    """Every phone number in a reply: seven to fifteen digits, with a plus in front if it was said."""
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        run = run_at(tokens, place)
        if run is None:
            place += 1
            continue
        spelled, after, _ = run
        digits = "".join("0" if char == "?" else char for char in spelled if char not in "-./")
        number, plus = digits.removeprefix("+"), "+" if digits.startswith("+") else ""
        if number.isdigit() and len(number) in PHONE_DIGITS:
            has_area = words_of(tokens[max(0, place - 2) : place]) == ("area", "code")
            found.append(Match(place - 2 * has_area, after, (plus + number,)))
        place = after
    return found


# -- E-mail


def _mail_part(tokens: Sequence[Token], first: int, after: int) -> str | None:
    """The text of one part of an e-mail address, joined from words and spelled pieces: "john dot smith" is john.smith.
    None if a word can't be part of an address."""
    text, at = "", first
    while at < after:
        word = tokens[at].word
        if word in TIMES or word in SIGNS or len(word) == 1 or word in SMALL or word in _NOUGHT or word == "oh":
            piece = _piece_at(tokens[:after], at)
            if piece is None:
                return None
            text, at = text + ("o" if word == "o" else piece[0].casefold()), piece[1]
        elif word.replace("'", "").isalnum() and word.isascii():
            text, at = text + word.replace("'", ""), at + 1
        elif word.replace(".", "").isalnum() and word.isascii():
            text, at = text + word, at + 1
        else:
            return None
    return text or None


_MAIL_TAILS = (
    ("all", "lower", "case"), ("all", "lowercase"), ("all", "in", "lower", "case"), ("all", "one", "word"),
    ("all", "together"), ("no", "spaces"),
)  # fmt: skip
_KNOWN_DOMAINS = {"gmail": "gmail.com", "icloud": "icloud.com"}  # people say these without ".com"
_OF_SENTENCES = AUXILIARIES | PREPOSITIONS | PRONOUNS | MARKERS | {"and", "or"}
_MAIL_LIGHT = frozenset(
    "my email email's e mail mail's address is it's its that's that would be the sure yes um uh okay please".split()
)


def find_email(tokens: Sequence[Token]) -> list[Match]:
    """The e-mail addresses that are written in a reply. If the reply has none in writing, the spoken address is
    returned: "anna at example dot com"."""
    written = [place for place, token in enumerate(tokens) if "@" in token.word and len(token.word) > 1]
    if written:
        return [Match(place, place + 1, (tokens[place].word,)) for place in written]
    ats = [place for place, token in enumerate(tokens) if token.word in ("@", "at")]
    if len(ats) != 1:
        return []
    first, after = 0, len(tokens)
    while first < ats[0] and tokens[first].word in _MAIL_LIGHT | DISSENT and tokens[first].text != "e":
        first += 1
    if _is_sentence(tokens[first : ats[0]]):
        return []
    after = _domain_end(tokens, ats[0] + 1)
    local, domain = _mail_part(tokens, first, ats[0]), _mail_part(tokens, ats[0] + 1, after)
    if domain in _KNOWN_DOMAINS and not any(is_carrier(token.word) for token in tokens[first : ats[0]]):
        domain, after = _KNOWN_DOMAINS[domain], after + (words_of(tokens[after : after + 1]) == ("com",))
    if not local or not domain or "." not in domain.strip(".") or "." in (local[0], local[-1], domain[-1]):
        return []
    after += next((len(words) for words in _MAIL_TAILS if words_of(tokens[after : after + len(words)]) == words), 0)
    return [Match(first, after, tuple(text.casefold() for text in _spellings(f"{local}@{domain}")))]


def _domain_end(tokens: Sequence[Token], place: int) -> int:
    """The index of the token after a domain name. The domain name ends with the word, or the spelled letters, after its
    last dot. Words that follow don't belong to it: "... dot com, all lower case"."""
    dots = (at for at in range(place, len(tokens)) if SIGNS.get(tokens[at].word) == "." or "." in tokens[at].word)
    at = next(dots, None)
    if at is None:
        return min(len(tokens), place + 1 + (words_of(tokens[place : place + 1]) in (("g",), ("i",))))
    at += "." not in tokens[at].word
    while at < len(tokens):
        is_spelled = len(tokens[at].word) == 1
        at += 1
        if at < len(tokens) and (tokens[at].word in SIGNS or (is_spelled and len(tokens[at].word) == 1)):
            at += tokens[at].word in SIGNS
        else:
            break
    return min(at, len(tokens))


def _is_sentence(tokens: Sequence[Token]) -> bool:
    """Do words of a sentence come before the address, as in "you can send it to anna at …"? A word next to a sign is
    part of the address: "will dot smith"."""
    return any(
        (token.word in _OF_SENTENCES or is_negation(token.word))
        and len(token.word) > 1
        and token.word not in SIGNS
        and after.word not in SIGNS
        for token, after in pairwise(tokens)
    )
