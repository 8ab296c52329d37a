"""What a number counts. Words are grouped in classes: nights and rooms are different classes, but "tickets" and
"guests" are in the same class, because both count people.

Rule: a reply that counts two different things, or something that the agent didn't ask for, goes to NLU. If the agent
asked for days, "two weeks" are fourteen days, and never two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..language.match import Match, overlaps
from ..language.readings import Question
from .amounts import PERIODS, single_duration_at
from .tokens import Token, stem, stems_of, tokens_of, words_of

_CLASSES = {
    "time": "day night week month year hour minute",
    "people": """people person passenger guest traveler traveller rider adult ticket seat attendee member individual
        customer friend folk head diner visitor participant""",
    "rooms": "room",
    "beds": "bed bedroom",
    "baths": "bath bathroom",
    "bags": "bag luggage suitcase",
    "money": "dollar buck euro pound cent usd quid rupee $ £ €",
    "stars": "star",
    "children": "child children kid baby infant",
    "things": "thing item",
}
CLASS_OF = {stem(word): name for name, words in _CLASSES.items() for word in words.split()}
PERSON = stem("people")
_PERIOD_OF = {stem(word): code for word, code in PERIODS.items()}  # the code of a unit of time, by the stem of its word
_MINUTES = {"M": 1, "H": 60, "D": 1_440, "W": 10_080}
_MONTHS = {"Mo": 1, "Y": 12}
_OF_RATES = frozenset("half quarter once twice times per most part".split())
_ADDING = frozenset(("and", "plus", "&"))
_SIGNS = ("$", "£", "€")
_SELF = frozenset(("me", "myself", "i"))
_AFTER_UNIT = {"bed": "room", "bath": "room"}


def with_units(tokens: Sequence[Token], matches: Sequence[Match]) -> list[Match]:
    """The matches, each extended by the word for what is counted: "$40", "three bed rooms", "two whole days"."""
    return [_with_unit(tokens, match) for match in matches]


def _with_unit(tokens: Sequence[Token], match: Match) -> Match:
    first, after = match.first, match.after
    if first and tokens[first - 1].word in _SIGNS:
        return match._replace(first=first - 1, unit="$")
    at = after + (after + 1 < len(tokens) and tokens[after].word in ("whole", "full", "more", "different"))
    if at < len(tokens) and not tokens[at].pause and stem(tokens[at].word) in CLASS_OF:
        unit = stem(tokens[at].word)
        more = at + 1 < len(tokens) and stem(tokens[at + 1].word) == _AFTER_UNIT.get(unit)
        return match._replace(after=at + 1 + more, unit=unit)
    of_us = [token.word for token in tokens[after : after + 2]] in (["of", "us"], ["of", "them"], ["of", "you"])
    return match._replace(after=after + 2, unit=PERSON) if of_us else match._replace(unit="")


def period_asked(question: Question) -> str:
    """The code of the unit of time that the question asks to count: "D" for "how many days?", or for a slot `days`.
    Empty if it asks for no such unit, or for several."""
    words = [token.word for token in tokens_of(question.text)]
    near = [words[place + 1 : place + 4] for place, word in enumerate(words) if word in ("many", "number")]
    for named in ([word for few in near for word in few], question.slot.name.casefold().split("_")):
        found = {_PERIOD_OF[stem(word)] for word in named if stem(word) in _PERIOD_OF}
        if found:
            return found.pop() if len(found) == 1 else ""
    return ""


def in_asked_period(
    tokens: Sequence[Token], matches: Sequence[Match], question: Question, *, is_asked: bool = True
) -> list[Match]:
    """The matches, with each duration counted in the unit that the question asks for: 14 for "two weeks", after "for
    how many days?". A duration that isn't a whole number of this unit is left out. If the question asks for no unit of
    time, `matches` is returned unchanged. If `is_asked` is False, "a week" is used only after "for"."""
    asked = period_asked(question)
    if not asked:
        return list(matches)
    found: list[Match] = []
    place = 0
    while place < len(tokens):
        said = single_duration_at(tokens, place)
        is_length = said is not None and _is_length(tokens, place, is_asked=is_asked)
        count = _counted(said[0], asked) if said is not None and is_length else None
        if said is not None:
            found.append(Match(place, said[1], () if count is None else (count,), "day"))
        place = said[1] if said is not None else place + 1
    rest = [match for match in matches if not any(overlaps(match, other) for other in found)]
    return sorted([*rest, *(match for match in found if match.candidates)])


def _is_length(tokens: Sequence[Token], place: int, *, is_asked: bool) -> bool:
    """Is this a length of time? False for rates ("two hours a day", "twice a week") and for parts ("half a day")."""
    before = tokens[place - 1].word if place else ""
    if tokens[place].word not in ("a", "an", "the"):
        return before not in ("per", "every", "each")
    return before not in _OF_RATES and stem(before) not in CLASS_OF and (is_asked or before == "for")


def _counted(parts: dict[str, int], asked: str) -> int | None:
    """A duration as a whole number of the unit `asked`. None if the number isn't whole or can't be known, such as the
    number of days in a month."""
    for sizes in (_MINUTES, _MONTHS):
        if asked in sizes and all(unit in sizes for unit in parts):
            count, rest = divmod(sum(sizes[unit] * number for unit, number in parts.items()), sizes[asked])
            return count if not rest else None
    return None


def classes_asked(question: Question) -> Iterator[str]:
    """The classes of what the question asks to count. Those named after "how many" come first, then those in the slot's
    name."""
    words = [token.word for token in tokens_of(question.text)]
    for place, word in enumerate(words):
        if word == "long" and words[max(0, place - 1)] == "how":
            yield "time"
        if word in ("many", "number", "amount"):
            near = (CLASS_OF[stem(other)] for other in words[place + 1 : place + 4] if stem(other) in CLASS_OF)
            yield from near
    yield from classes_of(question.slot.name)


def counts_children(slot: str) -> bool:
    """Does a slot with this name count children? A slot for child seats doesn't."""
    return classes_of(slot)[-1:] == ["children"]


def classes_of(slot: str) -> list[str]:
    """The classes of the words in a slot's name, in the order of the words."""
    return [CLASS_OF[stem(word)] for word in slot.casefold().split("_") if stem(word) in CLASS_OF]


def asks_how_many(question: Question) -> bool:
    """Does the question ask for a count?"""
    return "many" in words_of(tokens_of(question.text))


def find_zero(tokens: Sequence[Token], question: Question) -> Match | None:
    """A match with the value 0, if the reply says that there is nothing to count: "none", "no children". Otherwise
    None. A "no" with a pause after it isn't a zero, because it doesn't belong to the word after it."""
    if not asks_how_many(question):
        return None
    for place, token in enumerate(tokens):
        if token.word == "none":
            return Match(place, place + 1, (0,))
        after = place + 1
        if token.word == "no" and after < len(tokens) and not tokens[after].pause:
            asked, said = set(classes_asked(question)), CLASS_OF.get(stem(tokens[after].word))
            if said in asked or stem(tokens[after].word) in stems_of(question.slot.name):
                return Match(place, after + 1, (0,))
    return None


def find_rate(tokens: Sequence[Token], match: Match, echo: frozenset[str]) -> range:
    """The indexes of words that make an amount a rate, such as "each" or "a month". Empty if there are no such words,
    or if the question itself asked for a rate."""
    after = match.after
    words = [token.word for token in tokens[after : after + 2]] + [""] * 2
    if words[0] in ("each", "apiece"):
        return range(after, after + 1) if not echo & {"each", "per"} else range(0)
    is_rate = words[0] in ("a", "an", "every") and CLASS_OF.get(stem(words[1])) in ("time", "people")
    return range(after, after + 2) if is_rate and stem(words[1]) not in echo else range(0)


def units_disagree(tokens: Sequence[Token], matches: Sequence[Match], question: Question) -> bool:
    """Does the number in the reply count something other than what was asked for? True also if the reply counts two
    different things, or if the number leaves out the speaker ("me and two friends" are three people)."""
    if any(_has_others_to_add(tokens, match) for match in matches) or counts_twice(tokens, matches):
        return True
    said = {CLASS_OF[match.unit] for match in matches if match.unit in CLASS_OF}
    asked = set(classes_asked(question))
    if said & {"time", "money"} and not asked and (asks_how_many(question) or not question.text):
        return True  # "two weeks", after "how many bikes?" or as a change of a slot `bikes`
    return len(said) > 1 or bool(said and asked and not said & asked)


def counts_twice(tokens: Sequence[Token], matches: Sequence[Match]) -> bool:
    """Does the reply give two counts that have to be added? True for "two city bikes and two mountain bikes"."""
    return any(
        bool(_ADDING & set(words_of(tokens[one.after : other.first]))) and other.first - one.after > 1
        for one, other in pairwise(matches)
    )


def _has_others_to_add(tokens: Sequence[Token], match: Match) -> bool:
    """Does this number leave out the speaker? In "me and two friends", the "two" doesn't count "me"."""
    before = [token.word for token in tokens[max(0, match.first - 3) : match.first]]
    after = [token.word for token in tokens[match.after : match.after + 6]]
    is_added = any(one == "and" and other in _SELF for one, other in pairwise(after))
    return ("and" in before[-2:] and bool(_SELF & set(before))) or is_added
