"""Names that are spelled: "Meier, M E I E R", "Anna, that's A double N A".

The spelled letters come at the end of the reply, after the name or alone. Rule: if the letters are similar to the name
that was said, the name is written as it was spelled. But if the said and the spelled name differ only in letters that
sound alike, such as M and N, then either of them may have been misheard, and both are candidates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ..language.match import Match
from .carrier_words import ASSENT, DISSENT, MARKERS, NAMELESS, POLITE, is_negation
from .codes import run_at
from .free_text import bare_name, without_filler
from .tokens import Token, span_of, without_hesitations

LETTERS_MIN = 3
_DOTTED = re.compile(r"(?:[A-Za-z]\.){2,}[A-Za-z]\.?")  # spelled letters as some STT services write them: "A.B.C."
_CONFUSED = ("bcdegptvz", "mn", "fsx", "ahjk", "iy", "quw")  # letters whose names sound alike
_AGAIN_MIN = 2  # after the name itself, this many letters are enough: "Ng, N G"
_NO_NAMES = NAMELESS | ASSENT | DISSENT
_VOWELS = frozenset("AEIOUY")
_CALLED = frozenset("charlie juliet mike oscar papa romeo victor".split())  # these are given names too
_SPELLING = frozenset("spelled spelt spelling spell that's that is it's its written which i it as and with".split())
_I_AM = ("i", "am", "i'm", "im")
_ALIKE_MIN = 0.5


class Spelled(NamedTuple):
    """The spelled letters, the index of the first token of the spelling, and the index of the token after the
    spelling."""

    letters: str
    first: int
    after: int


def find_spelled(tokens: Sequence[Token]) -> Spelled | None:
    """The spelled letters at the end of a reply; polite words after them are ignored. None if the reply doesn't end
    with spelled letters."""
    end = len(tokens)
    while end and tokens[end - 1].word in POLITE:
        end -= 1
    if end and _DOTTED.fullmatch(tokens[end - 1].text):
        return Spelled(tokens[end - 1].word.upper(), end - 1, end)
    for place in range(end):
        run = run_at(tokens[:end], place)
        if run is None or run[1] != end:
            continue
        letters = run[0].replace("?", "O").replace("-", "")
        is_spelled = letters.isalpha() and all(_is_letter(one) for one in tokens[place:end])
        if is_spelled and len(letters) >= _AGAIN_MIN and not _is_article(tokens, place):
            return Spelled(letters, place, end)
    return None


def spelled_name(reply: str, tokens: Sequence[Token], *, is_person: bool) -> Match | None:
    """The name in a reply, written as it was spelled; None if no name is spelled. Spelled letters such as "I B M",
    which may be something other than a person's name, are written in capitals."""
    spelled = find_spelled(tokens)
    if spelled is None or any(token.word in MARKERS or is_negation(token.word) for token in tokens[1 : spelled.first]):
        return None
    if all(token.word in _CALLED for token in tokens[spelled.first : spelled.after]):
        return None
    before = spelled.first
    while before and tokens[before - 1].word in _SPELLING:
        before -= 1
    written = spelled.letters.capitalize()
    lead = without_filler(tokens[tokens[0].word in DISSENT : before])
    if all(token.word in _I_AM for token in tokens[tokens[0].word in DISSENT : before][lead.first : lead.after]):
        if len(written) < LETTERS_MIN or written.casefold() in _NO_NAMES:
            return None
        is_spoken = (is_person or len(written) > LETTERS_MIN) and _VOWELS & set(spelled.letters)
        return Match(spelled.first, spelled.after, (written if is_spoken else spelled.letters,))
    said = bare_name(tokens[:before])
    if said is None:
        return None
    start, end = span_of(tokens, *said)
    words = without_hesitations(reply[start:end]).split()
    groups = _groups(tokens, spelled)
    if len(words) > 1 and _spells_all(words, groups):
        parts = [_mended(*pair) for pair in zip(words, groups, strict=True)] if len(groups) > 1 else words
        return Match(said.first, spelled.after, (" ".join(parts),))
    if len(groups) > 1:
        return None  # the letters of several words, but not of the words that were said
    alike = max(range(len(words)), key=lambda at: (_likeness(words[at], written), at))
    if _likeness(words[alike], written) < _ALIKE_MIN:
        return None
    whole, heard = " ".join(words), _folded(words[alike])
    if heard == written.casefold():
        return Match(said.first, spelled.after, (whole,))
    if len(written) < LETTERS_MIN or heard.startswith(written.casefold()):
        return None  # "Anna, A N N": the user may not be finished
    words[alike] = written
    mended = " ".join(words)
    return Match(said.first, spelled.after, (whole, mended) if _sounds_like(heard, written) else (mended,))


def _groups(tokens: Sequence[Token], spelled: Spelled) -> list[str]:
    """The spelled letters, divided at the pauses: "SUNITA" and "RAO" for "S U N I T A, R A O". If there is a pause
    after nearly every letter, the letters aren't divided."""
    starts = [place for place in range(spelled.first + 1, spelled.after) if tokens[place].pause]
    parts = [range(*ends) for ends in pairwise((spelled.first, *starts, spelled.after))]
    runs = [run_at(tokens[part.start : part.stop], 0) for part in parts]
    letters = ["" if run is None else run[0].replace("?", "O").replace("-", "") for run in runs]
    return letters if all(len(one) >= _AGAIN_MIN for one in letters) else [spelled.letters]


def _spells_all(words: Sequence[str], groups: Sequence[str]) -> bool:
    """Does each group of letters spell the word at the same place, or do the letters together spell all the words?"""
    if len(groups) == 1:
        return _folded("".join(words)) == groups[0].casefold()
    return len(words) == len(groups) and all(
        _likeness(word, letters) >= _ALIKE_MIN for word, letters in zip(words, groups, strict=True)
    )


def _mended(word: str, letters: str) -> str:
    return word if _folded(word) == letters.casefold() else letters.capitalize()


def _is_letter(token: Token) -> bool:
    """Is this token one letter, or a word that stands for one letter? False for capitals such as "IBM", because STT
    also writes them when they weren't spelled."""
    return len(token.text) == 1 or not token.text.isupper()


def _sounds_like(said: str, written: str) -> bool:
    """Do the two names differ only in letters that sound alike when spelled?"""
    pairs = list(zip(said.casefold(), written.casefold(), strict=False))
    return len(said) == len(written) and all(
        left == right or any({left, right} <= set(group) for group in _CONFUSED) for left, right in pairs
    )


def _likeness(said: str, written: str) -> float:
    """How similar two names are, from 0 to 1: the share of equal letters, counted from the beginning and from the end.
    0 if their first letters differ."""
    one, other = _folded(said), written.casefold()
    if not one or one[0] != other[0]:
        return 0.0
    same = _shared(one, other)
    return (same + min(_shared(one[::-1], other[::-1]), min(len(one), len(other)) - same)) / max(len(one), len(other))


def _folded(said: str) -> str:
    """Only the letters of a name, in lower case: "obrien" for "O'Brien"."""
    return "".join(filter(str.isalpha, said.casefold()))


def _is_article(tokens: Sequence[Token], place: int) -> bool:
    """Is this "a" an article before capital letters? True for "a V I P"."""
    after = tokens[place + 1].text if place + 1 < len(tokens) else ""
    return tokens[place].text == "a" and len(after) == 1 and after.isupper()


def _shared(one: str, other: str) -> int:
    """The number of equal letters at the beginning of both texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))
