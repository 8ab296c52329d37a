"""Choices and names from a list: by name, by another form of a word, or by position ("der zweite", "la última").

Rule: if several names match, the longest is used. Another form of a word is accepted only if it belongs to just one
choice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from ..english.names import NameList
from ..language.match import Match, Span
from ..language.readings import Choice
from ..language.tokens import Token
from .lexicon import Lexicon


@lru_cache(maxsize=256)
def folded_names(lexicon: Lexicon, names: NameList) -> NameList:
    """The list of names, with each word in the form in which words are compared: in lower case, with its special
    letters replaced."""
    values = {tuple(lexicon.fold(word) for word in key): value for key, value in names.values.items()}
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for key in values:
        lengths[key[0]].add(len(key))
    joined = tuple((" ".join(key), value) for key, value in values.items())
    grams: defaultdict[str, list[int]] = defaultdict(list)
    for number, (text, _) in enumerate(joined if names.grams else ()):
        padded = f" {text} "
        for gram in {padded[at : at + 2] for at in range(len(padded) - 1)}:
            grams[gram].append(number)
    return NameList(
        values,
        {word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()},
        {gram: tuple(found) for gram, found in grams.items()},
        joined,
    )


@lru_cache(maxsize=256)
def names_of_choices(lexicon: Lexicon, choices: tuple[Choice, ...]) -> NameList:
    """The choices and their aliases as a list of names."""
    aliases = {other: choice.value for choice in choices for other in choice.also}
    return folded_names(lexicon, NameList.of((choice.value for choice in choices), aliases))


def find_names(lexicon: Lexicon, tokens: Sequence[Token], names: NameList) -> list[Match]:
    """Every listed name in a reply, with the title before it if there is one."""
    found = folded_names(lexicon, names).find(tokens)
    return [
        match._replace(first=match.first - (match.first > 0 and tokens[match.first - 1].word in lexicon.titles))
        for match in found
        if not all(token.word in lexicon.carriers for token in tokens[match.first : match.after]) or len(tokens) == 1
    ]


def find_choices(lexicon: Lexicon, tokens: Sequence[Token], choices: tuple[Choice, ...]) -> list[Match]:
    """Every choice that a reply names. If the reply names none, but points to a choice by its position ("der zweite"),
    this choice is returned."""
    found = named_choices(lexicon, tokens, choices)
    if found or (pointed := find_pointed(lexicon, tokens, len(choices))) is None:
        return found
    return [Match(*pointed[1], (choices[pointed[0]].value,))]


def named_choices(lexicon: Lexicon, tokens: Sequence[Token], choices: tuple[Choice, ...]) -> list[Match]:
    """Every choice that a reply names exactly. If it names no choice exactly, every choice that it names in another
    form, such as the plural."""
    return list(names_of_choices(lexicon, choices).find(tokens)) or _by_stem(lexicon, tokens, choices)


def _by_stem(lexicon: Lexicon, tokens: Sequence[Token], choices: tuple[Choice, ...]) -> list[Match]:
    stems: defaultdict[str, set[str]] = defaultdict(set)
    for choice in choices:
        for name in (choice.value, *choice.also):
            words = name.split()
            if len(words) == 1:
                stems[lexicon.stem(lexicon.fold(words[0]))].add(choice.value)
    found = []
    for place, token in enumerate(tokens):
        values = stems.get(lexicon.stem(token.word), set())
        if len(values) == 1 and len(lexicon.stem(token.word)) >= 4:
            found.append(Match(place, place + 1, tuple(values)))
    return found


def find_pointed(lexicon: Lexicon, tokens: Sequence[Token], count: int) -> tuple[int, Span] | None:
    """Reads which of `count` choices is meant by its position. Returns the index of the choice and the span of the
    words that name the position. None if the reply names no position."""
    for place, token in enumerate(tokens):
        number = lexicon.ordinals.get(token.word)
        if token.word in lexicon.last:
            number = count
        elif token.word in lexicon.first_of_two:
            number = 1
        if number is None or not 1 <= number <= count:
            continue
        first = place - (place > 0 and tokens[place - 1].word in lexicon.articles)
        after = place + 1
        after += after < len(tokens) and tokens[after].word in lexicon.ordinal_nouns
        content = sum(one.word not in lexicon.polite | lexicon.fillers for one in tokens)
        if first < place or after > place + 1 or content == 1:
            return number - 1, Span(first, after)
    return None
