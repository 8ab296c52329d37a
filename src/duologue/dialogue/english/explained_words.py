"""Checks that every word of a reply is accounted for. Only then is the reply a plain answer.

A word is accounted for in four cases: it is part of the value, it is a carrier word (a word that people put around an
answer, such as "please"), it was in the question, or only a verb can stand in its position, as after "I'd like to".
Rule: a word that may mean something else isn't accounted for, and NLU has to read the reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ..language.match import Match
from ..language.readings import Question, Unclear, Why
from .carrier_words import ALTERNATIVES, DISSENT, MARKERS, WISHES, is_carrier, is_negation
from .dates import MONTHS, WEEKDAYS
from .numbers import ORDINALS, SCALES, SMALL, is_pronoun_one
from .questions import OPENINGS, SPEAKERS, asks, is_suggestion
from .tokens import Token, stem, stems_of

_NUMBERS = frozenset(SMALL) | frozenset(SCALES)
_DATED = frozenset(ORDINALS) | frozenset(WEEKDAYS) | frozenset(MONTHS)
_VALUE_WORDS = _NUMBERS | _DATED
_NEVER_ECHOED = frozenset(stem(word) for word in _VALUE_WORDS | MARKERS | ALTERNATIVES | {"any", "what", "how", "why"})
_TO_VERB = frozenset(("need", "going", "have", "has", "got", "used", "able", "ready"))
_MODALS = frozenset("will would should must can could might i'll we'll they'll he'll she'll it'll".split())
_AVERSE = frozenset(
    stem(word) for word in "hate avoid dislike refuse decline reject dread lose skip quit stop complain".split()
)  # a verb that denies what follows, so it is never skipped
_SLIP_CHARS_MIN = 5
_BEING = frozenset("am is are be been i'm we're it's im they're was were".split())


def echo_of(question: Question) -> frozenset[str]:
    """The stems (words without their endings) that a reply may repeat from the question, the name of the slot and the
    description of the flow."""
    return echo_of_texts(question.text, question.slot.name, question.about)


@lru_cache(maxsize=512)
def echo_of_texts(*texts: str) -> frozenset[str]:
    """The stems (words without their endings) that a reply may repeat from these texts. Values, denials and words for a
    change aren't included."""
    return frozenset(word for word in stems_of(*texts) - _NEVER_ECHOED if not is_negation(word))


def covered_by(matches: Iterable[Match]) -> frozenset[int]:
    """The indexes of all tokens that these matches cover."""
    return frozenset(place for match in matches for place in range(match.first, match.after))


def objection(tokens: Sequence[Token], covered: frozenset[int]) -> Why | None:
    """The reason why a reply can't be a plain answer: a word changes or denies something, or the reply asks something.
    None if it may be a plain answer. `covered` holds the indexes of the tokens that are part of a value; they aren't
    checked."""
    opening = True
    for place, token in enumerate(tokens):
        if place in covered:
            opening = False
            continue
        if token.word in MARKERS:
            return Why.MARKER
        if is_negation(token.word) and not (
            opening and token.word in DISSENT and not _denies_value(tokens, place, covered)
        ):
            return Why.NEGATED
        opening = opening and token.word in OPENINGS
    return Why.QUESTION if asks(tokens) else None


def _denies_value(tokens: Sequence[Token], place: int, covered: frozenset[int]) -> bool:
    """Does a "no" deny the value right after it? True for "no bar" and "no one". False if a
    pause follows the "no": "no, the bar"."""
    after = place + 1
    return after < len(tokens) and after in covered and not tokens[after].pause


def leftover(tokens: Sequence[Token], covered: frozenset[int], echo: frozenset[str]) -> list[int]:
    """The indexes of the words that are neither covered by a value nor accounted for in another way."""
    return [place for place in range(len(tokens)) if place not in covered and not is_explained(tokens, place, echo)]


def is_explained(tokens: Sequence[Token], place: int, echo: frozenset[str]) -> bool:
    """Is this word accounted for, either by itself or by its position in the reply?"""
    word = tokens[place].word
    if word in _VALUE_WORDS or word[0].isdigit():
        return is_pronoun_one(tokens, place) or _is_adverb(tokens, place)
    if is_carrier(word) or stem(word) in echo:
        return True
    if word in DISSENT:
        return all(token.word in OPENINGS for token in tokens[:place])
    if word in ("what", "how"):
        return is_suggestion(tokens, place) or _is_relative(tokens, place)
    if word == "close":
        return place + 1 < len(tokens) and tokens[place + 1].word == "to"
    return _is_verb(tokens, place) or is_slip(word)


def _is_relative(tokens: Sequence[Token], place: int) -> bool:
    """Does a "what" join clauses instead of asking? True for "what I need is" and "see what is on"."""
    before, after = (tokens[at].word if 0 <= at < len(tokens) else "" for at in (place - 1, place + 1))
    return tokens[place].word == "what" and (after in SPEAKERS or before in ("see", "check", "find", "show"))


@lru_cache(maxsize=2048)
def is_slip(word: str) -> bool:
    """Is this a carrier word with one typing error: two letters swapped ("pelase"), or one letter doubled ("greaat")?
    Short words are never accepted, because one error turns them into other words."""
    if len(word) < _SLIP_CHARS_MIN or not word.isalpha():
        return False
    pairs = range(len(word) - 1)
    swapped = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in pairs)
    single = (word[:at] + word[at + 1 :] for at in pairs if word[at] == word[at + 1])
    return any(is_carrier(other) for other in (*swapped, *single))


def is_dated(word: str) -> bool:
    """Is this word part of a date: a month, a weekday or an ordinal?"""
    return word in _DATED or (word[0].isdigit() and not word.isdigit())


def is_number(word: str) -> bool:
    """Is this a number, in digits or in words?"""
    return word in _NUMBERS or word[0].isdigit()


def _is_adverb(tokens: Sequence[Token], place: int) -> bool:
    """Is this word "first" used as an adverb? Yes, if it begins or ends the reply, unless a word such as "the" or a
    month stands before it."""
    if tokens[place].word != "first" or place not in (0, len(tokens) - 1):
        return False
    return place == 0 or tokens[place - 1].word not in ("the", "on", "of", *MONTHS)


def _is_verb(tokens: Sequence[Token], place: int) -> bool:
    """Is this word in a position where only a verb can be, as after "I'd like to"? Also yes if the word ends in "ing"
    and follows a word such as "I'm"."""
    token, before = tokens[place], tokens[place - 1].word if place else ""
    if token.pause or not token.word.isalpha() or len(token.word) < 3 or token.text[0].isupper():
        return False
    if stem(token.word) in _AVERSE:
        return False
    if before == "to" and place > 1:
        wishing = tokens[place - 2].word
        return stem(wishing) in WISHES or wishing in _TO_VERB
    if before in _MODALS and place > 1:
        return True
    return token.word.endswith("ing") and len(token.word) > 5 and before in _BEING


def unread(reply: str) -> Unclear:
    """The result for a reply that has no tokens, because it is empty or too long."""
    return Unclear(Why.LONG if any(char.isalnum() for char in reply) else Why.EMPTY)


def unclear(why: Why, tokens: Sequence[Token] = (), places: Iterable[int] = ()) -> Unclear:
    """The result for a reply that NLU has to read. `places` holds the indexes of the words that weren't understood."""
    return Unclear(why, tuple(tokens[place].text for place in places))
