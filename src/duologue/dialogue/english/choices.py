"""A choice from a short list: by name, by alias, or by position ("the second one", "the last").

Rule: if several names match, the longest is used. Another form of a word ("sport" for "sports") is accepted only if no
name matches exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..language.match import Match, Span
from ..language.readings import Choice
from .carrier_words import FILLERS, POLITE
from .names import NameList
from .numbers import SMALL, ordinal_at
from .other_words import other_words
from .tokens import Token, stem

_NOUNS = ("one", "option", "choice", "item", "answer")
_NOT_CHOICES = frozenset(
    "name names letter letters digit digits character word words part half bit day week month time thing line".split()
)  # "the last name" is no position in a list
_PRONOUN_WORDS_MAX = 3
_LETTERS = "abcdefgh"


def find_choices(tokens: Sequence[Token], choices: tuple[Choice, ...], *, is_asked: bool = False) -> list[Match]:
    """Every choice that a reply names. With `is_asked`, a reply that names no choice may also refer to one by its
    position ("the second one" is about the open question), and other everyday words for a choice are accepted."""
    found = list(names_of(choices).find(tokens)) or list(_by_stem(tokens, choices))
    if is_asked:
        found = sorted([*found, *_by_other_words(tokens, choices, found)])
    found = [_with_one(tokens, match) for match in found if not _is_pronoun(tokens, match)]
    pointed = find_pointed(tokens, len(choices)) if is_asked else None
    if pointed is None or not all(_is_pronoun_in(tokens, match, pointed[1]) for match in found):
        return found
    return [Match(*pointed[1], (choices[pointed[0]].value,))]


def _is_pronoun_in(tokens: Sequence[Token], match: Match, position: Span) -> bool:
    """Is this choice only the "one" of a position? In "the last one", it isn't the choice "one"."""
    is_one = match.after - match.first == 1 and tokens[match.first].word in ("one", "ones")
    return is_one and position.first < match.first < position.after


def _is_pronoun(tokens: Sequence[Token], match: Match) -> bool:
    """Does "one" stand for a thing here, as in "the early one"? Then it isn't the choice "one"."""
    if match.after - match.first > 1 or tokens[match.first].word not in ("one", "ones"):
        return False
    before = tokens[max(0, match.first - _PRONOUN_WORDS_MAX) : match.first]
    return len(before) > 1 and any(token.word in ("the", "that", "this", "which") for token in before[:-1])


def _with_one(tokens: Sequence[Token], match: Match) -> Match:
    """The match, extended by a "one" right after it, as in "the large one". Such a "one" isn't the number 1."""
    has_one = (
        match.after < len(tokens) and tokens[match.after].word in ("one", "ones") and not tokens[match.after].pause
    )
    return match._replace(after=match.after + 1) if has_one else match


@lru_cache(maxsize=256)
def names_of(choices: tuple[Choice, ...]) -> NameList:
    """The choices and their aliases as a list of names. A name of several words is listed in the plural too: "city
    bikes" for "city bike"."""
    aliases = {
        f"{name}s": choice.value
        for choice in choices
        for name in (choice.value, *choice.also)
        if " " in name and name[-1:].isalpha() and not name.endswith("s")
    } | {other: choice.value for choice in choices for other in choice.also}
    return NameList.of((choice.value for choice in choices), aliases)


def _by_stem(tokens: Sequence[Token], choices: Sequence[Choice]) -> Iterator[Match]:
    """The words in the reply that have the same stem (the word without its ending) as a choice of one word: "sport" for
    "sports". The stem must belong to only one choice and have at least four letters, unless the word is only the plural
    of the choice."""
    stems: dict[str, set[str]] = {}
    for choice in choices:
        for name in (choice.value, *choice.also):
            words = name.casefold().split()
            if len(words) == 1:
                stems.setdefault(stem(words[0]), set()).add(choice.value)
    for place, token in enumerate(tokens):
        values = stems.get(stem(token.word), set())
        if len(values) == 1 and (len(stem(token.word)) >= 4 or _is_plural(token.word, choices)):
            yield Match(place, place + 1, tuple(values))


def _is_plural(word: str, choices: Sequence[Choice]) -> bool:
    """Is this the plural of a choice? True for "cats", if "cat" is a choice."""
    return any(word == f"{name.casefold()}s" for choice in choices for name in (choice.value, *choice.also))


def _by_other_words(tokens: Sequence[Token], choices: tuple[Choice, ...], found: Sequence[Match]) -> Iterator[Match]:
    """Choices that the reply names by other everyday words, such as "a concert" for "music". Words in which a choice
    was already found are skipped."""
    meant = other_words(choices)
    for place, token in enumerate(tokens):
        value = meant.get(stem(token.word)) if meant else None
        if value is not None and not any(match.first <= place < match.after for match in found):
            yield Match(place, place + 1, (value,))


def find_pointed(tokens: Sequence[Token], count: int) -> tuple[int, Span] | None:
    """Reads which of `count` choices is meant by its position: "the second one", "the last", "number two", "option b",
    "the former". Returns the index of the choice, counted from 0, and the span of the words. None if the reply names no
    position."""
    words = [token.word for token in tokens] + [""] * 3
    for place in range(len(tokens)):
        begun = place + (words[place] == "the")
        number: int | None = None
        after = begun + 1
        if (ordinal := ordinal_at(tokens, begun)) is not None:
            number, after = ordinal
        elif words[begun] in ("last", "latter", "later") and begun > place:
            number = count
        elif words[begun] in ("former", "earlier") and begun > place:
            number = 1
        elif words[begun] == "middle" and begun > place and count % 2:
            number = count // 2 + 1
        elif words[begun] in ("number", "option", "choice"):
            number, after = _numbered(words[begun + 1]), begun + 2
        if words[after] in _NOT_CHOICES and not tokens[after].pause:
            continue
        is_pointing = begun > place or after > begun + 1 or words[after] in _NOUNS or _is_short(tokens)
        if number is not None and 1 <= number <= count and is_pointing:
            return number - 1, Span(place, after + (words[after] in _NOUNS))
    return None


def _is_short(tokens: Sequence[Token]) -> bool:
    """Is the reply only one word, apart from politeness and fillers?"""
    return sum(token.word not in POLITE | FILLERS for token in tokens) == 1


def _numbered(word: str) -> int | None:
    if word in SMALL:
        return SMALL[word]
    if word.isascii() and word.isdigit() and len(word) < 3:
        return int(word)
    return _LETTERS.index(word) + 1 if len(word) == 1 and word in _LETTERS else None
