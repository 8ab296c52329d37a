"""Counts words, in the same way everywhere in Duologue, and finds the phrases of a language in a text.

A substantial word is a word that may interrupt the agent: it is neither a filler ("uh") nor a backchannel ("mhm"). A
command such as "stop" interrupts on its own. Rule: the count depends only on the text and its language, not on the STT
or the time.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from functools import cache, lru_cache
from typing import NamedTuple

from .language import ENGLISH, Language
from .language import language as language_of

# Thai, Lao, Burmese, Khmer, Japanese and Chinese have no spaces, so every two characters are counted as a word.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LETTERS = rf"[^\W_{_UNSPACED}]+"
_SPACED_WORD = rf"{_LETTERS}(?:['’.-]{_LETTERS})*"  # noqa: RUF001 - both apostrophes occur
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|{_SPACED_WORD}")
_TOKEN = re.compile(rf"[{_UNSPACED}]+|{_SPACED_WORD}")  # a word, or everything up to the next space or punctuation
_RUN = re.compile(f"[{_UNSPACED}]")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")  # "yeahhh"
_LONG_VOWEL = "\u30fc"  # of Japanese
_KATAKANA = range(0x30A1, 0x30F7)
_FOLDED = {0x2019: "'"} | {letter: letter - 0x60 for letter in _KATAKANA}  # one apostrophe, and hiragana only
PARTS_MAX = 24  # a longer text is more than a command, or more than a phrase

FILLERS = ENGLISH.fillers
BACKCHANNELS = ENGLISH.backchannels


class Count(NamedTuple):
    """How many words a text has, and how many of them are substantial. `is_command` says whether the text is nothing
    but a command, such as "stop please"."""

    words: int
    substantial: int
    is_command: bool = False


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case, without punctuation."""
    return _WORD.findall(_normal(text))


def count(text: str, language: Language | str = ENGLISH, is_final: bool = True) -> Count:
    """How many words a text has, how many of them are substantial, and whether the text is nothing but a command.
    `language` is a language or its code. If the text isn't final, its last words may be the beginning of a backchannel
    (such as "of" in "of course"). Such words aren't counted as substantial yet."""
    return _count(_book_of(language), _TOKEN.findall(_normal(text)), is_final)[0]


def count_and_attention(text: str, language: Language | str, is_final: bool) -> tuple[Count, bool]:
    """The results of `count` and `is_call_for_attention` for this text. This is faster than calling both."""
    book = _book_of(language)
    counted, parts = _count(book, _TOKEN.findall(_normal(text)), is_final)
    return counted, _is_attention(book, parts, is_final)


def _count(book: _Phrasebook, tokens: list[str], is_final: bool) -> tuple[Count, list[str]]:
    """The number of words in these tokens, and the parts of the tokens."""
    parts, owners = _split(tokens, book.vocabulary)
    sizes = [1 if token.isascii() else _size(token) for token in tokens]
    substantial = {owners[place] for place in _uncovered(parts, book, is_final)}
    counted = sum([sizes[place] for place in substantial if not _is_noise(tokens[place], book.letters)])
    return Count(sum(sizes), counted, _is_only(parts, book.commands)), parts


def is_call_for_attention(text: str, language: Language | str = ENGLISH, is_final: bool = True) -> bool:
    """Does this text only ask whether the agent is there, or ask it to hurry ("hello?", "hurry up")? Such a text
    contains no new request. The phrases may be repeated, and hesitations may stand between them: "uh, hello? Are you
    there?". If the text isn't final, it may end in the middle of such a phrase: "hello? Are you"."""
    book = _book_of(language)
    parts, _ = _split(_TOKEN.findall(_normal(text)), book.vocabulary)
    return _is_attention(book, parts, is_final)


def _is_attention(book: _Phrasebook, parts: list[str], is_final: bool) -> bool:
    if is_final or len(parts) > PARTS_MAX:
        return _is_only(parts, book.attention)
    if parts and parts[0] not in book.attention:
        return False
    return any(
        (not rest or _begins_phrase(rest, book.attention)) and (not before or _is_only(before, book.attention))
        for cut in range(len(parts) + 1)
        for before, rest in ((parts[:cut], parts[cut:]),)
        if parts
    )


def _begins_phrase(parts: list[str], index: _Index) -> bool:
    """Do these parts form the beginning of one of the wanted phrases?"""
    return any(kind is _Kind.WANTED and list(phrase[: len(parts)]) == parts for phrase, kind in index.get(parts[0], ()))


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _size(token: str) -> int:
    """The number of words in a token. In a text without spaces, such as Chinese, two characters are counted as one
    word."""
    return 1 if token.isascii() or not _RUN.match(token) else (len(token) + 1) // 2


def _is_noise(token: str, letters: frozenset[str]) -> bool:
    """Is this a single letter that isn't a word? An STT model may write noise as single letters."""
    return len(token) == 1 and "a" <= token <= "z" and token not in letters


# -- Phrases. They are compared part by part. A part is a word, a piece of a word between hyphens, or one character of
# Japanese or Chinese.


class _Kind(IntEnum):
    """What a phrase counts as when a text is checked. WANTED is the kind that the check looks for. If a phrase is of
    two kinds, the kind with the greater number is used."""

    NEGATION = 0
    BACKCHANNEL = 1
    FILLER = 2
    BESIDE = 3
    WANTED = 4


_Phrase = tuple[str, ...]
_Index = dict[str, tuple[tuple[_Phrase, _Kind], ...]]  # phrases by their first part


class _Phrasebook(NamedTuple):
    """The phrases of a language, with one index for each check of a text. Examples of such checks: is the text only a
    backchannel (like "mhm"), or is it a command?"""

    vocabulary: frozenset[str]
    passing: _Index
    commands: _Index
    attention: _Index
    letters: frozenset[str]


@lru_cache(maxsize=64)
def _book_of(language: Language | str) -> _Phrasebook:
    return _book(language_of(language) if isinstance(language, str) else language)


@cache
def _book(language: Language) -> _Phrasebook:
    fillers = {_Kind.FILLER: language.fillers}
    passing = {_Kind.BACKCHANNEL: language.backchannels, _Kind.NEGATION: language.negations}
    indexes = (
        _index(fillers | passing),
        _index(fillers | {_Kind.WANTED: language.commands, _Kind.BESIDE: language.beside}),
        _index(fillers | {_Kind.WANTED: language.presence | language.hurry}),
    )
    vocabulary = {part for index in indexes for same in index.values() for phrase, _ in same for part in phrase}
    return _Phrasebook(frozenset(vocabulary), *indexes, language.letters)


def _index(kinds: dict[_Kind, frozenset[str]]) -> _Index:
    found: dict[str, list[tuple[_Phrase, _Kind]]] = {}
    for kind, phrases in kinds.items():
        for phrase in sorted(phrases):
            parts, _ = _split(_TOKEN.findall(_normal(phrase)), frozenset())
            found.setdefault(parts[0], []).append((tuple(parts), kind))
    return {first: tuple(same) for first, same in found.items()}


def _split(tokens: list[str], vocabulary: frozenset[str]) -> tuple[list[str], list[int]]:
    """The parts of all tokens, and for each part the index of the token that it comes from."""
    parts: list[str] = []
    owners: list[int] = []
    for place, token in enumerate(tokens):
        if token in vocabulary or (token.isascii() and token.isalnum()):  # one piece, as nearly every token
            parts.append(_unstretched(token, vocabulary))
            owners.append(place)
            continue
        pieces = _pieces(token.translate(_FOLDED))
        parts += [_unstretched(piece, vocabulary) for piece in pieces]
        owners += [place] * len(pieces)
    return parts, owners


def _pieces(token: str) -> list[str]:
    return list(token) if _RUN.match(token) else token.replace(".", "-").split("-")


def _unstretched(part: str, vocabulary: frozenset[str]) -> str:
    """If this part is a known word with a stretched letter ("yeahhh"), returns the known word ("yeah"). Otherwise
    returns the part itself."""
    if part in vocabulary or not _STRETCHED.search(part):
        return part
    for letters in (r"\1", r"\1\1"):
        if (short := _STRETCHED.sub(letters, part)) in vocabulary:
            return short
    return part


def _longest(parts: list[str], start: int, index: _Index) -> tuple[int, _Kind]:
    """The index after the longest phrase that begins at `start`, and the kind of this phrase. The index is 0 if no
    phrase begins at `start`."""
    known = index.get(parts[start])
    return max((_end_of(parts, start, phrase), kind) for phrase, kind in known) if known else (0, _Kind.NEGATION)


def _end_of(parts: list[str], start: int, phrase: _Phrase) -> int:
    """The index after this phrase if the phrase begins at `start`; otherwise 0. If the text has long vowel marks (ー)
    where the phrase has none, they are skipped."""
    place = start
    for part in phrase:
        while place < len(parts) and parts[place] == _LONG_VOWEL != part:
            place += 1
        if place == len(parts) or parts[place] != part:
            return 0
        place += 1
    while place < len(parts) and parts[place] == _LONG_VOWEL:
        place += 1
    return place


def _uncovered(parts: list[str], book: _Phrasebook, is_final: bool) -> list[int]:
    """The indexes of the parts that belong neither to a filler nor to a backchannel. A backchannel next to a negation
    is an objection ("that's not right"), so the indexes of its parts are included."""
    uncovered: list[int] = []
    place, negated = 0, -1  # `negated` is where the last negation ended
    while place < len(parts) and (is_final or place == negated or not _is_begun(parts, place, book.passing)):
        if parts[place] not in book.passing:  # most words begin no phrase
            uncovered.append(place)
            place += 1
            continue
        end, kind = _longest(parts, place, book.passing)
        if not end:
            end = place + 1
            uncovered.append(place)
        elif kind is _Kind.NEGATION:
            negated = end
            uncovered += range(place, end)
        elif kind is _Kind.BACKCHANNEL and (place == negated or _is_negation(parts, end, book)):
            uncovered += range(place, end)
        place = end
    return uncovered


def _is_begun(parts: list[str], start: int, index: _Index) -> bool:
    """Are the parts from `start` on the beginning of a longer filler or backchannel?"""
    if parts[start] not in index or len(parts) - start > PARTS_MAX:
        return False
    rest = tuple(parts[start:])
    begun = (kind for phrase, kind in index[parts[start]] if rest == phrase[: len(rest)] != phrase)
    return any(kind is not _Kind.NEGATION for kind in begun)


def _is_negation(parts: list[str], place: int, book: _Phrasebook) -> bool:
    end, kind = _longest(parts, place, book.passing) if place < len(parts) else (0, _Kind.NEGATION)
    return end > 0 and kind is _Kind.NEGATION


def _is_only(parts: list[str], index: _Index) -> bool:
    """Does the text contain a wanted phrase and nothing else? Fillers, and phrases that may stand beside the wanted
    phrase, are allowed."""
    place, found = 0, False
    while place < len(parts) <= PARTS_MAX:
        place, kind = _longest(parts, place, index)
        if not place:
            return False
        found = found or kind is _Kind.WANTED
    return found
