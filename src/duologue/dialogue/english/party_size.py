"""The number of people, when the user lists them: "just me", "me and my wife", "two adults and a child".

Rule: the people are counted only if it is clear who comes. "Me and my friends" goes to NLU. So does "my wife and two
kids", because the user may come too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..language.match import Match
from ..language.readings import Question
from .numbers import number_at
from .tokens import Token, stem, tokens_of, words_of
from .units import PERSON, classes_asked, counts_children

_SELF = frozenset(("me", "myself", "i"))
_ALONE = tuple(
    tuple(phrase.split())
    for phrase in "just me|only me|just myself|only myself|by myself|for myself|just for me|only for me".split("|")
)
_BY_ONESELF = (("alone",), ("on", "my", "own"), ("solo",))
_BOTH = (("both", "of", "us"), ("us", "both"))
_OTHERS = frozenset(("her", "him"))
_WHOSE = frozenset("my our a an one the his her".split())
_MINE = frozenset(("my", "our"))
_COUNTED = _MINE | {"the"}  # "the three kids"
_LITTLE = frozenset("little small older younger elder old young baby teenage".split())
_ONE_PERSON = frozenset(
    """wife husband spouse partner girlfriend boyfriend fiance fiancee friend mate buddy colleague coworker boss
    client mother mom mum father dad parent son daughter sister brother sibling cousin aunt uncle nephew niece
    grandmother grandma grandfather grandpa grandson granddaughter child kid baby infant toddler boy girl man woman
    adult teenager senior person guest visitor companion driver guide nurse carer nanny helper assistant""".split()
)
_SEVERAL_PEOPLE = _ONE_PERSON | frozenset("children people men women wives babies folks".split())
_AGE_GROUPS = frozenset(("adult", "child", "children", "kid", "infant", "baby"))
_INCLUDING = frozenset(("including", "counting", "incl"))
_PARTY = frozenset(("party", "group"))
# Words for the whole party: "two people, me and my wife" are two.
_NAMED_ALL = frozenset(("people", "person", "persons", "guests", "visitors"))


def counts_people(question: Question) -> bool:
    """Does the question ask for the number of all people, and not, for example, only of the adults?"""
    said = words_of(tokens_of(f"{question.text} {question.slot.name.replace('_', ' ')}"))
    words = set(said)
    if any(stem(word) in map(stem, _AGE_GROUPS) for word in words):
        return False
    if any(counts_children(other.name) for other in question.others):
        return False
    return "people" in classes_asked(question) or bool(words & _PARTY) or ("of", "you") in pairwise(said)


def find_party(tokens: Sequence[Token]) -> Match | None:
    """A match with the number of people, if the reply lists them; otherwise None."""
    for place in range(len(tokens)):
        if words_of(tokens[place:]) in _BY_ONESELF:
            return Match(place, len(tokens), (1,), PERSON)
        for phrase in _BOTH:
            if words_of(tokens[place : place + len(phrase)]) == phrase:
                return Match(place, place + len(phrase), (2,), PERSON)
        if (found := _party_at(tokens, place)) is not None:
            return found
    return None


def repeats_count(tokens: Sequence[Token], counts: Sequence[Match], company: Match) -> bool:
    """Does the user say the number of people first, and then who they are? True for "two, my wife and me"."""
    (count, *more) = counts
    is_next = count.after == company.first and bool(tokens[company.first].pause)
    return not more and is_next and count.candidates == company.candidates


def with_company(tokens: Sequence[Token], matches: Sequence[Match]) -> list[Match]:
    """The matches, each extended by words which say who is counted: "four with the baby", "six including the driver".
    After "with", only a person is counted, because "four with a view" asks for something else."""
    return [match._replace(after=_after_company(tokens, match.after)) for match in matches]


def _after_company(tokens: Sequence[Token], place: int) -> int:
    words = [*words_of(tokens[place:]), "", "", ""]
    at = 1 + (words[1] in _WHOSE)
    if words[0] in _INCLUDING and words[1]:
        return min(place + at + 1, len(tokens))
    is_person = at == 2 and words[0] == "with" and (words[at] in _ONE_PERSON or words[at + 1] in _ONE_PERSON)
    if not is_person or number_at(tokens, place + 1) is not None:
        return place
    return place + at + 1 + (words[at] not in _ONE_PERSON)


def _party_at(tokens: Sequence[Token], place: int) -> Match | None:
    count = terms = 0
    at, has_self, is_mine = place, False, False
    while (term := _term_at(tokens, at)) is not None:
        more, after = term
        has_self = has_self or tokens[at].word in _SELF
        is_mine = is_mine or tokens[at].word in _MINE
        count, terms, at = count + more, terms + 1, after
        joined = at + (at < len(tokens) and tokens[at].word in ("and", "plus", "with"))
        if joined == at and not (at < len(tokens) and tokens[at].pause == ","):
            break
        if _term_at(tokens, joined) is None:
            return None  # the next person or thing in the list can't be counted
        at = joined
    is_alone = terms == 1 and any(words_of(tokens[max(0, place - back) : at]) in _ALONE for back in (1, 2))
    is_twice = has_self and any(token.word in _NAMED_ALL for token in tokens[place:at])
    is_all = terms > 1 and (has_self or not is_mine) and not is_twice
    return Match(place, at, (count,), PERSON) if is_alone or is_all else None


def _term_at(tokens: Sequence[Token], place: int) -> tuple[int, int] | None:
    """Reads one entry of a list of people: "my wife", "two kids". Returns the number of people and the index of the
    token after the entry. None if no entry begins here."""
    if place >= len(tokens):
        return None
    word = tokens[place].word
    if word in _SELF:
        is_subject = word == "i" and place + 1 < len(tokens) and not tokens[place + 1].pause
        return None if is_subject else (1, place + 1)
    if word in _OTHERS and (place + 1 == len(tokens) or tokens[place + 1].pause or tokens[place + 1].word == "and"):
        return 1, place + 1  # "her, me and my husband"
    if word in _WHOSE and not (word in _COUNTED and number_at(tokens, place + 1)):
        at = place + 1
        at += at + 1 < len(tokens) and tokens[at].word in _LITTLE
        is_person = at < len(tokens) and tokens[at].word in _ONE_PERSON
        return (1, at + 1) if is_person else None
    found = number_at(tokens, place + (word in _COUNTED))
    if found is None:
        return None
    count, at = found
    if not isinstance(count, int):
        return None
    at += at + 1 < len(tokens) and tokens[at].word in _LITTLE
    is_people = at < len(tokens) and (tokens[at].word in _SEVERAL_PEOPLE or tokens[at].word[:-1] in _ONE_PERSON)
    return (count, at + 1) if is_people else None
