"""Replies about a list of items: "two large margheritas and a cola", "remove the cola", "make the second one small",
"that's all".

An item is a set of values, at most one for each slot. Rule: a word fills one slot of one item. Words that aren't
understood are returned too, so that the agent can say which words it left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ..language.days import Today, today_of
from ..language.list_reply import LAST, ItemValues, ListReply, divided, divides
from ..language.match import Match, overlaps
from ..language.readings import Json, Slot, SlotKind
from .carrier_words import FILLERS, POLITE, is_carrier
from .choices import find_pointed
from .numbers import SMALL, number_at
from .several_slots import find_all_values
from .tokens import Token, stem, stems_of, tokens_of
from .yes_no import where_nothing_more

_PLACES_MAX = 50

_JOINTS = frozenset("and plus also then".split())
_ARTICLES = frozenset("a an another".split())
_UNCOUNTED = frozenset("few bunch lot load bit handful bundle some several".split())  # "a few tulips" has no number
_WORDS = _JOINTS | _ARTICLES | frozenset("add with more one ones each of them those other else too as well it".split())
_FILLING = (
    *"oh uh um ah please well and yes yeah yep ok okay sure hm hmm so just".split(),
    *("can you", "could you", "can i", "can we", "could i", "could we", "may i", "let's", "let me", "you can"),
    *("i want to", "we want to", "i need to", "i'd like to", "we'd like to", "i would like to", "i have to"),
)
_MIND = ("no", "nope", "sorry", "wait", "actually", "i mean", "i meant", "hold on", "on second thoughts?", "rather")
_OPENING = re.compile(
    rf"^(?:(?:{'|'.join(_FILLING)})\b[,.!]?\s*)*"
    rf"(?P<mind>(?:(?:{'|'.join(_MIND)})\b[,.!]?\s+(?:make (?=that\b|it\b))?)*)"
    rf"(?:(?:{'|'.join(_FILLING)})\b[,.!]?\s*)*",
    re.IGNORECASE,
)
_REMOVE = re.compile(
    r"^(?:remove|delete|drop|scratch|cancel|forget(?: about)?|take (?:off|out|away)|leave out|get rid of|skip|minus"
    r"|without|(?:i |we )?(?:don't|do not) (?:want|need)|not|no)\s+(?P<old>.+)$",
    re.IGNORECASE,
)
_REMOVE_AFTER = re.compile(r"^take (?P<old>.+?) (?:off|out|away|back)\b(?: again)?[.!]*$", re.IGNORECASE)
_CHANGE_TO = re.compile(
    r"^(?:change|switch|turn|make|set|update|swap|replace|exchange)\s+(?P<old>.+?)\s+(?:to be|to|into|for|with|by)\s+"
    r"(?P<new>.+)$",
    re.IGNORECASE,
)
_SHOULD_BE = re.compile(r"^(?P<old>.+?)\s+(?:should be|must be|needs? to be|(?:is|are) supposed to be)\s+(?P<new>.+)$")
_INSTEAD = re.compile(r"^(?:make (?:that|it)\s+)?(?P<new>.+?),? (?:instead of|rather than) (?P<old>.+?)[.!]*$", re.I)
_MAKE = re.compile(r"^(?:change|switch|turn|make|set|update)\s+(?P<both>.+)$", re.IGNORECASE)
_IT = re.compile(r"^(?:it|that|this|that one|this one)\b[,.]?\s*", re.IGNORECASE)
_ONE_OF = re.compile(r"^one of (?:the |those |these )?", re.IGNORECASE)
_ADD = re.compile(r"^(?:also )?(?:add|give me|get me|i'll have|i'll take|i'd like|i want|we'd like)\s+", re.IGNORECASE)
_ADDS = re.compile(r"^(?:(?:oh|and|ok|okay|please|wait|sorry|actually)[,.]?\s+)*(?:add|also|and|plus)\b", re.IGNORECASE)
_WANTS_MORE = re.compile(r"^and\b|\b(?:another|more|extra|additional|further|also|add|plus|on top)\b", re.IGNORECASE)
_CONTRAST = re.compile(
    r",?\s+(?:and )?not (?P<denied>[a-z0-9 -]+?)(?: please)?[.!]*$", re.IGNORECASE
)  # "two, not four"
_REPLACES = frozenset("or rather no wait sorry actually make that it i mean meant better".split())
_DONE = frozenset(
    "that's it|that is it|i'm done|we're done|done|finished|i'm finished|that's the lot|that would be all".split("|")
)
_NO_THING = re.compile(r"\bno \w$", re.IGNORECASE)  # without a pause: "wait, no funghi"


class _Reading(NamedTuple):
    """The values that some words give, in the order in which they were said, and the words that weren't understood."""

    values: tuple[tuple[str, Json, int], ...]  # slot, value, place of the first token
    leftover: tuple[str, ...]
    is_begun: bool  # the words begin a new item: "a cola", "another one", "two …"


def read_list_reply(text: str, slots: tuple[Slot, ...], about: str, count: int, today: str) -> ListReply | None:
    """What a reply does to a list of `count` items; None if the reply isn't about the list. `slots` are the slots of
    each item. `about` is a text about the list, for example its question; the reply may repeat words of this text."""
    said = " ".join(text.split())
    reader = _ListReader(slots, stems_of(about), today_of(today))
    if _is_done(said):
        return ListReply("done", is_done=True)
    rest, is_over = _without_end(said)
    told = _without_contrast(rest)
    opening = _OPENING.match(told)
    assert opening is not None, "every part of the opening is optional"
    body, has_mind = told[opening.end() :], bool(opening["mind"])
    found = None
    if count:
        found = reader.removal(body, count) or reader.change(body, count)
        if found is None and told == rest and _NO_THING.search(rest[: opening.end() + 1]):
            found = reader.refusal(body, count)
        if found is None and has_mind and not _ADDS.match(body):
            found = reader.new_mind(body)
    if found is None:
        found = reader.addition(_ADD.sub("", body))
    if found is None:
        return ListReply("done", is_done=True) if is_over and reader.is_empty(body) else None
    return ListReply(
        found.kind,
        found.items,
        found.old,
        found.new,
        found.position,
        found.is_one_of,
        is_over,
        _WANTS_MORE.search(said) is not None,
        found.leftover,
    )


def _without_contrast(text: str) -> str:
    """The text without a number that is denied at its end: "two colas" for "two colas, not four"."""
    found = _CONTRAST.search(text)
    if found is None:
        return text
    denied = tokens_of(found["denied"])
    number = number_at(denied, 0) if denied else None
    return text[: found.start()] if number is not None and number[1] == len(denied) else text


def is_explicit(text: str) -> bool:
    """Do the words say that something is added, removed or changed? True for "also a cola", "remove it" and "make the
    second one small"."""
    opening = _OPENING.match(" ".join(text.split()))
    assert opening is not None, "every part of the opening is optional"
    body = " ".join(text.split())[opening.end() :]
    patterns = (_REMOVE, _REMOVE_AFTER, _CHANGE_TO, _SHOULD_BE, _INSTEAD, _MAKE, _ADDS)
    if _NO_THING.search(" ".join(text.split())[: opening.end() + 1]):
        return True
    return any(pattern.match(body) for pattern in patterns) or _ADDS.match(text.strip()) is not None


def asks_for_list(text: str, called: str) -> bool:
    """Does the text ask what is on a list? True for "what's on my order?" and "what do I have so far?"."""
    tokens = tokens_of(text)
    words = [token.word for token in tokens if token.word not in POLITE | FILLERS | {"wait", "sorry", "and"}]
    if not words or not (words[0] in ("what", "what's", "which") or words[:2] in (["read", "me"], ["read", "it"])):
        return False
    own = {"my", "our", "i", "we"} & set(words)
    return bool(own) and ("far" in words or any(stem(word) in stems_of(called) for word in words))


def _is_done(text: str) -> bool:
    words = [token.word for token in tokens_of(text) if token.word not in POLITE | FILLERS]
    words = ["that's" if word == "thats" else word for word in words]
    plain = " ".join(words).removeprefix("no ").removeprefix("nope ")
    if plain in _DONE:
        return True
    found = where_nothing_more(tokens_of(text))
    outside = [token.word for place, token in enumerate(tokens_of(text)) if found is None or place not in found]
    return found is not None and all(word in POLITE | FILLERS | {"no", "nope", "and", "i", "think"} for word in outside)


def _without_end(text: str) -> tuple[str, bool]:
    """The text without a "that's all" at its end, and whether it had one."""
    tokens = tokens_of(text)
    for place in range(len(tokens) - 1, 0, -1):
        if tokens[place].word in ("and", "that's", "that", "then", "nothing") and _is_done(text[tokens[place].start :]):
            return text[: tokens[place].start].rstrip(" ,.;"), True
    return text, False


class _ListReader:
    """Reads one reply about a list."""

    def __init__(self, slots: tuple[Slot, ...], about: frozenset[str] | set[str], today: Today) -> None:
        self._slots = slots
        self._about = frozenset(about)
        self._today = today
        names = [name for slot in slots for choice in slot.choices for name in (choice.value, *choice.also)]
        self._choices = frozenset(word for name in names for word in name.casefold().split())
        self._counts = next((slot.name for slot in slots if slot.kind is SlotKind.NUMBER), "")

    # -- Adding

    def addition(self, text: str) -> ListReply | None:
        """The items that a text adds; None if it names no item, or begins with a word that isn't understood."""
        if self._begins_unclear(tokens_of(text)):
            return None
        items: list[dict[str, Json]] = []
        total: int | None = None  # the index of an item that the next words may divide: "two colas, one small"
        leftover: list[str] = []
        takes_back = False  # the words before this clause take back the number of the last item
        for clause, is_joined in _clauses(tokens_of(text)):
            if items and clause and all(token.word in _REPLACES for token in clause) and _replaces_before(clause):
                takes_back = True  # "or rather make that", in front of a number
                continue
            replaces, takes_back = bool(items) and (takes_back or _replaces_before(clause)), False
            reading = self._read([token for token in clause if token.word not in _REPLACES] if replaces else clause)
            leftover += reading.leftover
            new = self._one_item(reading)
            if new is None:
                continue
            if replaces and not _differs(items[-1], new, self._counts):
                items[-1] |= new  # "four colas, or rather five"
                continue
            if items and not is_joined and _says_again(items[-1], new, self._counts):
                items[-1] |= new  # "a cola, one large cola"
                continue
            is_its_rest = is_joined and total == len(items) - 1
            if total is not None and not is_its_rest and divides(items[total], new, self._counts):
                items.append(divided(items, total, new, self._counts))
                continue
            if items and not reading.is_begun and not set(new) & set(items[-1]):
                items[-1] |= new
                continue
            if reading.is_begun and self._counts:
                new = {self._counts: 1, **new}
            items.append(new)
            is_many = isinstance(new.get(self._counts), int) and int(str(new[self._counts])) > 1
            total = len(items) - 1 if self._counts and is_many else None
        items = [item for at, item in enumerate(items) if not self._is_named_again(item, items[at + 1 :])]
        items = _with_counts_before(items, self._counts)
        kept = [self._in_order(item) for item in items if item.get(self._counts, 1) != 0 and set(item) - {self._counts}]
        bare = [self._in_order(item) for item in items if item.get(self._counts, 1) != 0]
        items_said = bare if any(set(item) - {self._counts} for item in bare) or self._names_thing(text) else kept
        return ListReply("add", items=tuple(items_said), leftover=tuple(leftover)) if items_said else None

    def _is_named_again(self, item: ItemValues, later: Sequence[ItemValues]) -> bool:
        """Is this thing only mentioned, and ordered later in the same reply? True for the first coat in "the coat is
        missing! One coat for cleaning"."""
        is_mention = bool(self._counts) and self._counts not in item
        return is_mention and any(item.items() <= other.items() for other in later)

    def is_empty(self, text: str) -> bool:
        """Do the words name no item and nothing else of which the meaning is unknown? True for "yes, right"."""
        tokens = tokens_of(text)
        reading = self._read(tokens)
        return _is_done(text) or not (reading.values or reading.leftover or any(one.word == "not" for one in tokens))

    def _begins_unclear(self, tokens: Sequence[Token]) -> bool:
        """Does the text begin with a word that isn't understood? True for "swap the funghi". Articles and numbers are
        always understood."""
        for place, token in enumerate(tokens):
            if token.word in _ARTICLES or _is_number(token.word):
                return False
            if token.word not in POLITE | FILLERS | _WORDS and not is_carrier(token.word):
                rest = tokens[place : place + 3]
                return bool(self._read(rest).leftover) and self._read(rest).leftover[0].startswith(token.text)
        return False

    def _names_thing(self, text: str) -> bool:
        """Does the text name what the list consists of? True for "two pizzas", if it is a list of pizzas."""
        return any(stem(token.word) in self._about for token in tokens_of(text))

    def _in_order(self, item: ItemValues) -> dict[str, Json]:
        return {slot.name: item[slot.name] for slot in self._slots if slot.name in item}

    # -- Removing and changing

    def removal(self, text: str, count: int) -> ListReply | None:
        said = _REMOVE.match(text) or _REMOVE_AFTER.match(text)
        if said is None:
            return None
        one_of, old, position, leftover = self._meant(said["old"], count)
        if leftover or (not old and position is None):
            return None
        if set(old) == {self._counts} and position is None and text.casefold().startswith(("not ", "no ")):
            return None  # "not twenty" corrects a number; it doesn't remove an item
        return ListReply("remove", old=old, position=position, is_one_of=one_of)

    def refusal(self, text: str, count: int) -> ListReply | None:
        """The removal of an item by a "no" before its name: "no funghi". None for other words, and for "no two funghi",
        because there the user corrects the number."""
        one_of, old, position, leftover = self._meant(text, count)
        if leftover or not old or self._counts in old or self._read(tokens_of(text)).is_begun:
            return None
        return ListReply("remove", old=old, position=position, is_one_of=one_of)

    def change(self, text: str, count: int) -> ListReply | None:
        """A change of one item: "make the funghi large", "change the second one to small", "large instead of small"."""
        for pattern in (_INSTEAD, _CHANGE_TO, _SHOULD_BE):
            if (said := pattern.match(text)) is not None:
                one_of, old, position, unclear = self._meant(said["old"], count)
                new = self._one_item(reading := self._read(tokens_of(said["new"])))
                if new and (old or position is not None) and not unclear and not reading.leftover:
                    return ListReply("change", old=old, new=new, position=position, is_one_of=one_of)
        said = _MAKE.match(text)
        if said is None:
            return None
        if (it := _IT.match(said["both"])) is not None:
            return self.new_mind(said["both"][it.end() :])
        return self._described(said["both"], count)

    def _described(self, text: str, count: int) -> ListReply | None:
        """A change in which the new values stand right after the item: "the second one small", "the funghi large". If
        the values also describe the item ("funghi"), only a comparison with the list can show which of them are new. So
        all the values are returned as `old`, and are compared with the list later."""
        one_of, old, position, leftover = self._meant(text, count)
        if leftover or not old:
            return None
        if position is not None:
            return ListReply("change", new=old, position=position, is_one_of=one_of)
        repeated = self._repeated(text)
        return ListReply("change", old=old, new=repeated, is_one_of=one_of) if len(old) + len(repeated) > 1 else None

    def _repeated(self, text: str) -> dict[str, Json]:
        """The values that contradict an earlier value for the same slot in the same text: "small" in "the large one
        small"."""
        seen: dict[str, Json] = {}
        new: dict[str, Json] = {}
        for slot, value, _ in self._read(tokens_of(text)).values:
            if slot in seen and seen[slot] != value:
                new[slot] = value
            seen.setdefault(slot, value)
        return new

    def new_mind(self, text: str) -> ListReply | None:
        """A change of the item that the user named last, by new values alone: "no, three", "make it large". None if the
        text has no such values."""
        found = self.addition(_IT.sub("", text))
        if found is not None and len(found.items) == 1 and not found.leftover:
            return ListReply("change", new=found.items[0], position=LAST)
        only = self._one_item(reading := self._read(tokens_of(_IT.sub("", text))))
        return ListReply("change", new=only, position=LAST) if only and not reading.leftover else None

    def _meant(self, text: str, count: int) -> tuple[bool, dict[str, Json], int | None, tuple[str, ...]]:
        """Reads which item the words mean. Returns four results: whether only one of several equal things is meant
        ("one of the colas"), the values that describe the item, its index in the list, and the words that weren't
        understood."""
        one_of = _ONE_OF.match(text) is not None
        text = _ONE_OF.sub("", text)
        if _IT.fullmatch(f"{text.rstrip(' .!')} ") or _IT.fullmatch(text.rstrip(" .!")):
            return one_of, {}, LAST, ()
        tokens = tokens_of(text)
        pointed = find_pointed(tokens, count)
        if pointed is not None and any(
            token.word in SMALL for token in tokens[pointed[1].first : pointed[1].after][:1]
        ):
            pointed = None
        if pointed is not None:
            tokens = (*tokens[: pointed[1].first], *tokens[pointed[1].after :])
        reading = self._read(tokens)
        values: dict[str, Json] = {}
        for slot, value, _ in reading.values:
            values.setdefault(slot, value)
        return one_of, values, pointed[0] if pointed is not None else None, reading.leftover

    # -- Reading values

    def _one_item(self, reading: _Reading) -> dict[str, Json] | None:
        item: dict[str, Json] = {}
        for slot, value, _ in reading.values:
            item.setdefault(slot, value)
        if not item and not reading.is_begun:
            return None
        if not item and not self._counts:
            return None
        return item

    def _read(self, said: Sequence[Token]) -> _Reading:
        tokens = [token._replace(word=self._singular(token.word)) for token in said]
        found: list[tuple[Match, Slot]] = []
        pointed = find_pointed(tokens, _PLACES_MAX)  # "the second one" is an item of the list, and never a choice
        for match, fitting in find_all_values(tokens, self._slots, self._today):
            is_place = pointed is not None and overlaps(match, pointed[1])
            if len(fitting) == 1 and len(match.candidates) == 1 and not is_place:
                found.append((match, fitting[0]))
        found.sort(key=lambda entry: entry[0].first)
        taken = {place for match, _ in found for place in range(match.first, match.after)}
        leftover = _phrases(tokens, [place for place in range(len(tokens)) if not self._is_plain(tokens, place, taken)])
        values = tuple((slot.name, match.candidates[0], match.first) for match, slot in found)
        first = next((token.word for token in tokens if token.word not in POLITE | FILLERS | _JOINTS | {"add"}), "")
        counts = any(slot == self._counts for slot, _, _ in values)
        has_thing = any(slot != self._counts for slot, _, _ in values) or any(
            stem(token.word) in self._about or token.word == "one" for token in tokens
        )
        is_one = first in _ARTICLES and not any(token.word in _UNCOUNTED for token in tokens)
        return _Reading(values, leftover, counts or (is_one and has_thing))

    def _singular(self, word: str) -> str:
        """The word as it is written in the name of a choice: "coke" for "cokes"."""
        return word[:-1] if word.endswith("s") and word[:-1] in self._choices and word not in self._choices else word

    def _is_plain(self, tokens: Sequence[Token], place: int, taken: set[int]) -> bool:
        word = tokens[place].word
        return (
            place in taken
            or word in POLITE | FILLERS | _WORDS
            or stem(word) in self._about
            or (is_carrier(word) and word not in ("without", "not"))
        )


def _clauses(tokens: Sequence[Token]) -> Iterator[tuple[tuple[Token, ...], bool]]:
    """The parts of a reply that may each be an item. For each part, the result also says whether an "and" stands before
    it. A new part begins after a pause, after an "and", at an article and at a number."""
    start, is_joined = 0, False
    for place in range(1, len(tokens) + 1):
        is_end = place == len(tokens)
        if not is_end and not _begins_clause(tokens, place):
            continue
        part = tuple(tokens[start:place])
        joined_here = any(token.word in _JOINTS for token in part[:1]) or is_joined
        yield tuple(token for token in part if token.word not in _JOINTS), joined_here
        is_joined = bool(part) and part[-1].word in _JOINTS
        start = place


def _begins_clause(tokens: Sequence[Token], place: int) -> bool:
    token, before = tokens[place], tokens[place - 1]
    is_half = token.word == "half" and [one.word for one in tokens[place + 1 : place + 3]] == ["a", "dozen"]
    if before.word == "half" and token.word == "a":
        return False  # "half a dozen"
    if is_half and before.word not in _JOINTS:
        return True
    if token.pause or token.word in _JOINTS:
        return True
    is_number = _is_number(token.word) and token.word != "one"
    is_counted = _is_number(before.word) or before.word in _ARTICLES  # "twenty five", "a four cheese"
    return (is_number and not is_counted) or token.word in _ARTICLES or _is_count_of_one(tokens, place)


def _is_count_of_one(tokens: Sequence[Token], place: int) -> bool:
    """Is this "one" a number, as in "one small funghi"? In "the small one" it isn't."""
    if tokens[place].word != "one" or tokens[place - 1].word in ("the", "another", "this", "that"):
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else None
    return tokens[place - 1].word in _JOINTS or (after is not None and not after.pause and not is_carrier(after.word))


def _replaces_before(clause: Sequence[Token]) -> bool:
    """Does the clause begin with words that take back what stands before it? True for "or rather five"."""
    opening = next((at for at, token in enumerate(clause) if token.word not in _REPLACES), len(clause))
    said = {token.word for token in clause[:opening]}
    return bool(said & {"rather", "no", "sorry", "actually", "make", "mean", "meant"})


def _differs(item: ItemValues, new: ItemValues, counts: str) -> bool:
    """Do the two items differ in anything other than their number?"""
    return any(item.get(name, value) != value for name, value in new.items() if name != counts)


def _says_again(item: ItemValues, new: ItemValues, counts: str) -> bool:
    """Does the new item repeat the whole item before it, perhaps with more values?"""
    return bool(set(item) - {counts}) and all(new.get(name) == value for name, value in item.items())


def _with_counts_before(items: list[dict[str, Json]], counts: str) -> list[dict[str, Json]]:
    """The items of a reply in which each number stands behind its thing: "cola two, pizza one". The reader took each
    number for the beginning of the next item, and this is corrected here. For any other reply, the items are returned
    unchanged."""
    if not counts or len(items) < 2 or counts in items[0] or any(counts not in one for one in items[1:]):
        return items
    last = items[-1]
    rest = {name: value for name, value in last.items() if name != counts}
    if set(rest) & set(items[-2]):
        return items  # the last number has a thing of its own
    found = [{**one, counts: after[counts]} for one, after in pairwise(items)]
    found[-1] |= rest
    return found


def _is_number(word: str) -> bool:
    return word in SMALL or word.isdigit()


def _phrases(tokens: Sequence[Token], places: list[int]) -> tuple[str, ...]:
    """The words at these indexes. Words next to each other are joined into one phrase."""
    found: list[list[int]] = []
    for place in places:
        if found and found[-1][-1] == place - 1:
            found[-1].append(place)
        else:
            found.append([place])
    return tuple(" ".join(tokens[place].text for place in group) for group in found)
