"""Finds a wish beside a yes: "yes and the movers should use the back door", "yes, leave it with my neighbour".

Such a wish may be a value or a condition of what the user says yes to. Rule: a yes with a wish isn't used before the
agent has dealt with the wish. Thanks, and remarks such as "it's getting dark", are no wishes.
"""

from __future__ import annotations

from collections.abc import Sequence

from .language.pack import LanguageWords, Signs
from .language.tokens import Token, words_of


def adds_wish(words: LanguageWords, signs: Signs, rest: Sequence[Token], question: str) -> bool:
    """May the words after a yes be a wish? True if they begin with "and", say what has to be done, or begin with a verb
    such as "leave", and mean more than the words of the question."""
    ands = next((at for at, token in enumerate(rest) if token.word not in words.ands), 0)
    if not has_content(words, rest, question) or signs.courtesy_of(rest[ands:]) is not None:
        return False
    first = next((at for at, token in enumerate(rest) if token.word not in words.fillers), 0)
    known = words.common | words.polite
    is_known = rest[first].word in known or rest[first].word.partition("'")[0] in known
    is_order = not is_known and signs.courtesy_of(rest[first : first + 1]) is None
    return rest[first].word in words.ands or is_order or says_what_to_do(words, rest, question)


def has_wish(words: LanguageWords, signs: Signs, tokens: Sequence[Token], question: str) -> bool:
    """May a part of this message be a wish beside a yes?"""
    starts = [at for at, token in enumerate(tokens) if at and token.word in words.ands]
    return says_what_to_do(words, tokens, question) or any(
        adds_wish(words, signs, tokens[at:], question) for at in starts
    )


def says_what_to_do(words: LanguageWords, tokens: Sequence[Token], question: str) -> bool:
    """Do these words say that something has to be done, as in "they should ring twice"?"""
    said = words_of(tokens)
    return any(
        has_content(words, tokens[at + len(one) :], question) or has_content(words, tokens[:at], question)
        for at in range(len(said))
        for one in words.duties
        if said[at : at + len(one)] == one
    )


def has_content(words: LanguageWords, tokens: Sequence[Token], question: str) -> bool:
    """Do these words mean something, and aren't they only words of the question?"""
    known, echo = words.common | words.polite | words.fillers, words.stems_of(question)
    return any(
        token.word not in known and token.word.partition("'")[0] not in known and words.stem(token.word) not in echo
        for token in tokens
    )
