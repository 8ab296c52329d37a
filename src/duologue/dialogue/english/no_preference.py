"""Replies that say that any value will do: "I don't mind", "whatever", "no preference".

Rule: the whole reply has to say this and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from .tokens import Token
from .yes_no import is_yes_no_filler, where_phrase

_PHRASES = """anything|any|anyone|anywhere|any time|anytime|whatever|whichever|whoever|whenever|wherever|
    no preference|no preferences|no particular|doesn't matter|does not matter|don't care|do not care|
    don't mind|do not mind|doesn't mind|doesn't care|not matter|
    either|either one|you choose|you decide|you pick|your choice|up to you|
    surprise me|not picky|not important|no matter|makes no difference|no limit|no limits|no maximum|no minimum|
    no restrictions|not bothered|not fussed|not fussy|all the same to me|all the same|i'm easy|don't have a preference|
    no favourite|no favorite"""
_LONGEST_FIRST = sorted((tuple(phrase.split()) for phrase in _PHRASES.split("|")), key=len, reverse=True)
_MORE = frozenset(
    """one ones is are works fine do does will me it i've got have really time day to which at free available
    there suits suit you best easiest easier quieter quickest cheapest nearest soonest else am i'm bothered""".split()
)


_WHICH = frozenset("when what which where how who".split())
_NAMED = ((), ("time",), ("one",), ("day",))  # the words after "which"


def has_no_preference(tokens: Sequence[Token], echo: frozenset[str]) -> bool:
    """Does the whole reply say that any value will do?"""
    words = [token.word.removesuffix("'s") for token in tokens]
    where = where_phrase(words, _LONGEST_FIRST)
    if where is None:
        return False
    asks_which = (
        words[where.stop] if where.stop < len(words) and tuple(words[where.stop + 1 : where.stop + 2]) in _NAMED else ""
    )  # "I don't mind when", "I don't care what time"
    return all(
        place in where
        or (place == where.stop and asks_which in _WHICH and not tokens[place].pause)
        or words[place] in _MORE
        or words[place] in echo
        or is_yes_no_filler(tokens, place)
        for place in range(len(tokens))
    )
