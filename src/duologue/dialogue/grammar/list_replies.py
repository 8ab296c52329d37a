"""Replies about a list of items: "zwei große Margherita und eine Cola", "sin la cola", "machen Sie die zweite klein".

The reply is divided into clauses. A clause with a number or an article begins a new item. Rule: a word fills one slot
of one item. Words that aren't understood are returned too, so that the agent can say which words it left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..language.days import Today, today_of
from ..language.list_reply import LAST, ItemValues, ListReply, divided, divides
from ..language.match import Match
from ..language.readings import Json, Slot, SlotKind
from ..language.tokens import Token, words_of
from .explained_words import is_carrier
from .find_values import find_values
from .lexicon import Lexicon, phrase_at, where_phrase
from .listed import find_pointed, named_choices
from .numbers import number_at
from .tokens import stems_of, tokens_of
from .yes_no import asks, where_nothing_more

Tokens = tuple[Token, ...]


class _Reading(NamedTuple):
    """The values that some words give, and the words that weren't understood."""

    values: tuple[tuple[str, Json], ...]
    leftover: tuple[str, ...]
    is_begun: bool  # the words begin a new item: "eine Cola", "noch eine", "zwei …"


def read_list_reply(
    lexicon: Lexicon, text: str, slots: tuple[Slot, ...], about: str, count: int, today: str
) -> ListReply | None:
    """What a reply does to a list of `count` items; None if the reply isn't about the list. `slots` are the slots of
    each item. `about` is a text about the list, for example its question; the reply may repeat words of this text."""
    tokens = tokens_of(lexicon, text)
    if not tokens:
        return None
    if _is_done(lexicon, tokens):
        return ListReply("done", is_done=True)
    reader = _ListReader(lexicon, slots, stems_of(lexicon, about), today_of(today))
    rest, is_over = _without_end(lexicon, tokens)
    body, has_mind = _without_opening(lexicon, rest)
    found = None
    if count and body:
        found = reader.removal(body, count) or reader.change(body, count)
        if found is None and has_mind and not _starts(lexicon, body, "adds"):
            found = reader.new_mind(body)
    if found is None and body:
        found = reader.addition(_after(lexicon, body, "wants"))
    if found is None:
        return None
    return ListReply(
        found.kind,
        found.items,
        found.old,
        found.new,
        found.position,
        found.is_one_of,
        is_over,
        _wants_more(lexicon, tokens),
        found.leftover,
    )


def _wants_more(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply say that items are wanted in addition to equal ones? True for "noch eine Cola"."""
    words = words_of(tokens)
    return any(where_phrase(words, lexicon.list_words[mark]) for mark in ("another", "adds"))


def is_explicit(lexicon: Lexicon, text: str) -> bool:
    """Do the words say that something is added, removed or changed?"""
    body, has_mind = _without_opening(lexicon, tokens_of(lexicon, text))
    words = words_of(body)
    marks = ("removes", "changes", "adds")
    is_marked = any(_starts(lexicon, body, mark) for mark in marks) or _ends(lexicon, body, "removes_after") > 0
    has_change = any(where_phrase(words, lexicon.list_words[mark]) for mark in ("instead", "becomes"))
    return bool(body) and (is_marked or has_change or (has_mind and body[0].word in lexicon.none))


def asks_for_list(lexicon: Lexicon, text: str, called: str) -> bool:
    """Does the text ask what is on a list? True for "was habe ich bis jetzt?" and "¿qué llevo en el pedido?"."""
    tokens = tokens_of(lexicon, text)
    words = words_of(tokens)
    if not tokens or not asks(lexicon, tokens) or not where_phrase(words, lexicon.list_words["own"]):
        return False
    names_it = any(lexicon.stem(word) in stems_of(lexicon, called) for word in words)
    return names_it or where_phrase(words, lexicon.list_words["so_far"]) is not None


# -- The ends of a reply


def _is_done(lexicon: Lexicon, tokens: Sequence[Token]) -> bool:
    """Does the reply say only that nothing more is wanted?"""
    found = where_nothing_more(lexicon, tokens) or where_phrase(words_of(tokens), lexicon.list_words["done"])
    around = lexicon.polite | lexicon.fillers | lexicon.dissent | lexicon.assent | lexicon.joiner
    return found is not None and all(
        token.word in around or token.word in lexicon.subjects for at, token in enumerate(tokens) if at not in found
    )


def _without_end(lexicon: Lexicon, tokens: Tokens) -> tuple[Tokens, bool]:
    """The reply without a "das wars" at its end, and whether it had one."""
    for place in range(len(tokens) - 1, 0, -1):
        if (tokens[place].pause or tokens[place].word in lexicon.joiner) and _is_done(lexicon, tokens[place:]):
            return tokens[:place], True
    return tokens, False


def _without_opening(lexicon: Lexicon, tokens: Tokens) -> tuple[Tokens, bool]:
    """The reply without polite words and words for a change of mind at its beginning. The second result is True if
    there were words for a change of mind."""
    words, place, has_mind = words_of(tokens), 0, False
    around = lexicon.polite | lexicon.fillers | lexicon.assent | lexicon.joiner
    while place < len(words):
        size = phrase_at(words, place, lexicon.list_words["mind"])
        if not size and words[place] not in around:
            break
        has_mind = has_mind or size > 0
        place += size or 1
    return tokens[place:], has_mind


def _starts(lexicon: Lexicon, tokens: Tokens, mark: str) -> int:
    """The number of words in the phrase at the beginning of the tokens, if this phrase is listed under `mark`;
    otherwise 0."""
    return phrase_at(words_of(tokens), 0, lexicon.list_words[mark]) if tokens else 0


def _ends(lexicon: Lexicon, tokens: Tokens, mark: str) -> int:
    """The number of words in the phrase at the end of the tokens, plus polite words after it, if the phrase is listed
    under `mark`. Otherwise 0."""
    words = words_of(tokens)
    stop = len(words)
    while stop and words[stop - 1] in lexicon.polite | lexicon.fillers:
        stop -= 1
    sizes = (len(one) for one in lexicon.list_words[mark] if stop > len(one) and words[stop - len(one) : stop] == one)
    size = next(sizes, 0)
    return size + len(words) - stop if size else 0


def _after(lexicon: Lexicon, tokens: Tokens, mark: str) -> Tokens:
    """The tokens without the phrase at their beginning, if this phrase is listed under `mark`. Otherwise all tokens."""
    return tokens[_starts(lexicon, tokens, mark) :]


class _ListReader:
    """Reads one reply about a list."""

    def __init__(self, lexicon: Lexicon, slots: tuple[Slot, ...], about: frozenset[str], today: Today) -> None:
        self._lexicon = lexicon
        self._slots = slots
        self._about = about
        self._today = today
        self._counts = next((slot.name for slot in slots if slot.kind is SlotKind.NUMBER), "")
        self._named = {
            lexicon.fold(word)
            for slot in slots
            for choice in slot.choices
            for name in (choice.value, *choice.also)
            for word in name.split()
        }
        self._plain = {word for phrases in lexicon.list_words.values() for phrase in phrases for word in phrase}

    # -- Adding

    def addition(self, tokens: Tokens) -> ListReply | None:
        """The items that a reply adds; None if it names no item, or begins with a word that isn't understood."""
        if not tokens or self._begins_unclear(tokens):
            return None
        items: list[dict[str, Json]] = []
        total: int | None = None  # the index of an item that the next words may divide: "zwei Cola, eine klein"
        leftover: list[str] = []
        for clause, is_joined in self._clauses(tokens):
            reading = self._read(clause)
            leftover += reading.leftover
            new = self._one_item(reading)
            if new is None:
                continue
            if reading.is_begun and self._counts:
                new = {self._counts: 1, **new}
            is_its_rest = is_joined and total == len(items) - 1
            if total is not None and not is_its_rest and divides(items[total], new, self._counts):
                items.append(divided(items, total, new, self._counts))
                continue
            if items and not reading.is_begun and not set(new) & set(items[-1]):
                items[-1] |= new
                continue
            items.append(new)
            counted = new.get(self._counts)
            total = len(items) - 1 if isinstance(counted, int) and counted > 1 else None
        kept = [self._in_order(item) for item in items if item.get(self._counts, 1) != 0]
        if not any(set(item) - {self._counts} for item in kept) and not self._names_thing(tokens):
            return None
        return ListReply("add", items=tuple(kept), leftover=tuple(leftover)) if kept else None

    def _begins_unclear(self, tokens: Tokens) -> bool:
        """Does the text begin with a word that isn't understood? Articles are always understood."""
        leftover = self._read(tokens[:3]).leftover
        return bool(leftover) and leftover[0].startswith(tokens[0].text) and not self._is_article(tokens[0])

    def _names_thing(self, tokens: Sequence[Token]) -> bool:
        """Does the text name what the list consists of? True for "zwei Pizzen", if it is a list of pizzas."""
        return any(self._lexicon.stem(token.word) in self._about for token in tokens)

    def _in_order(self, item: ItemValues) -> dict[str, Json]:
        return {slot.name: item[slot.name] for slot in self._slots if slot.name in item}

    # -- Removing and changing

    def removal(self, tokens: Tokens, count: int) -> ListReply | None:
        """The removal of an item: "ohne die Cola", "die zweite weg", "quite una cola". None if the reply removes
        nothing."""
        begins, ends = _starts(self._lexicon, tokens, "removes"), _ends(self._lexicon, tokens, "removes_after")
        if not begins and not ends:
            return None
        meant = tokens[begins : len(tokens) - ends]
        if not begins:
            meant = _after(self._lexicon, meant, "changes")  # "nehmen Sie die Cola raus"
        one_of, old, position, leftover = self._meant(meant, count)
        if leftover or (not old and position is None) or (set(old) == {self._counts} and position is None):
            return None
        return ListReply("remove", old=old, position=position, is_one_of=one_of)

    def change(self, tokens: Tokens, count: int) -> ListReply | None:
        """A change of one item: "machen Sie die Funghi groß", "cambie la segunda a pequeña", "groß statt klein"."""
        words, lists = words_of(tokens), self._lexicon.list_words
        body = tokens[_starts(self._lexicon, tokens, "changes") :]
        body = body[: len(body) - _ends(self._lexicon, body, "changes_after")]
        if (instead := where_phrase(words, lists["instead"])) is not None and instead.start > 0:
            return self._changed(tokens[instead.stop :], _after(self._lexicon, tokens[: instead.start], "wants"), count)
        said = words_of(body)
        is_said = len(body) < len(tokens)
        into = where_phrase(said, lists["becomes"]) or (where_phrase(said, lists["into"]) if is_said else None)
        if into is not None and into.start > 0 and into.stop < len(body):
            return self._changed(body[: into.start], body[into.stop :], count)
        if not is_said or not body:
            return None
        it = _starts(self._lexicon, body, "it")
        is_article = body[0].word in self._lexicon.articles  # "die Cola groß"
        described = self._described(body, count) if is_article or not it else None
        return described or (self.new_mind(body[it:]) if 0 < it < len(body) else None)

    def _changed(self, old: Tokens, new: Tokens, count: int) -> ListReply | None:
        one_of, values, position, unclear = self._meant(old, count)
        reading = self._read(new)
        item = self._one_item(reading)
        if not item or unclear or reading.leftover or (not values and position is None):
            return None
        return ListReply("change", old=values, new=item, position=position, is_one_of=one_of)

    def _described(self, tokens: Tokens, count: int) -> ListReply | None:
        """A change in which the new values stand right after the item: "die zweite klein", "die Funghi groß". If the
        values also describe the item ("Funghi"), only a comparison with the list can show which of them are new. So all
        the values are returned as `old`, and are compared with the list later."""
        one_of, old, position, leftover = self._meant(tokens, count)
        if leftover or not old:
            return None
        if position is not None:
            return ListReply("change", new=old, position=position, is_one_of=one_of)
        repeated = self._repeated(tokens)
        return ListReply("change", old=old, new=repeated, is_one_of=one_of) if len(old) + len(repeated) > 1 else None

    def _repeated(self, tokens: Tokens) -> dict[str, Json]:
        """The values that contradict an earlier value for the same slot in the same text: "klein" in "die große
        klein"."""
        seen: dict[str, Json] = {}
        new: dict[str, Json] = {}
        for slot, value in self._read(tokens).values:
            if slot in seen and seen[slot] != value:
                new[slot] = value
            seen.setdefault(slot, value)
        return new

    def new_mind(self, tokens: Tokens) -> ListReply | None:
        """A change that gives new values to the item that the user named last: "nein, drei", "que sea grande". None if
        the reply has no such values."""
        reading = self._read(tokens)
        item = self._one_item(reading)
        return ListReply("change", new=item, position=LAST) if item and not reading.leftover else None

    def _meant(self, tokens: Tokens, count: int) -> tuple[bool, dict[str, Json], int | None, tuple[str, ...]]:
        """Reads which item the words mean. Returns four results: whether only one of several equal things is meant
        ("one of the colas"), the values that describe the item, its index in the list, and the words that weren't
        understood."""
        size = _starts(self._lexicon, tokens, "one_of")
        one_of, tokens = size > 0, tokens[size:]
        if tokens and _starts(self._lexicon, tokens, "it") == len(tokens):
            return one_of, {}, LAST, ()
        pointed = find_pointed(self._lexicon, tokens, count) if tokens else None
        if pointed is not None:
            tokens = (*tokens[: pointed[1].first], *tokens[pointed[1].after :])
        reading = self._read(tokens)
        values: dict[str, Json] = {}
        for slot, value in reading.values:
            values.setdefault(slot, value)
        if pointed is None and self._counts and tokens and self._is_article(tokens[0]) and values:
            values.setdefault(self._counts, 1)  # "eine Cola weg"
        return one_of, values, pointed[0] if pointed is not None else None, reading.leftover

    # -- Reading values

    def _one_item(self, reading: _Reading) -> dict[str, Json] | None:
        item: dict[str, Json] = {}
        for slot, value in reading.values:
            item.setdefault(slot, value)
        return item if item or (reading.is_begun and self._counts) else None

    def _read(self, said: Sequence[Token]) -> _Reading:
        tokens = [token._replace(word=self._singular(token.word)) for token in said]
        found: list[tuple[Match, str]] = []
        taken: set[int] = set()
        for slot in self._slots:
            for match in self._matches(tokens, slot):
                places = set(range(match.first, match.after))
                if len(match.candidates) == 1 and not places & taken:
                    found.append((match, slot.name))
                    taken |= places
        found.sort(key=lambda entry: entry[0].first)
        left = [place for place in range(len(tokens)) if not self._is_plain(tokens[place].word, place in taken)]
        values = tuple((name, match.candidates[0]) for match, name in found)
        has_thing = any(name != self._counts for name, _ in values) or self._names_thing(tokens)
        is_counted = any(name == self._counts for name, _ in values)
        has_article = any(self._is_article(token) for token in tokens)
        return _Reading(values, tuple(tokens[place].text for place in left), is_counted or (has_article and has_thing))

    def _matches(self, tokens: Sequence[Token], slot: Slot) -> list[Match]:
        if slot.kind is SlotKind.CHOICE:
            return named_choices(self._lexicon, tokens, slot.choices)
        if slot.kind is SlotKind.NUMBER:
            return list(self._numbers(tokens))
        return find_values(self._lexicon, tokens, slot, self._today, is_asked=False).matches

    def _numbers(self, tokens: Sequence[Token]) -> Iterator[Match]:
        place = 0
        while place < len(tokens):
            number = number_at(self._lexicon, tokens, place)
            if number is not None and isinstance(number[0], int):
                yield Match(place, number[1], (number[0],))
            place = number[1] if number is not None else place + 1

    def _singular(self, word: str) -> str:
        """The word as it is written in the name of a choice: "Cola" for "Colas"."""
        if word in self._named:
            return word
        cut = (word.removesuffix(ending) for ending in self._lexicon.endings if word.endswith(ending))
        return next((one for one in cut if one in self._named), word)

    def _is_article(self, token: Token) -> bool:
        return token.word in self._lexicon.articles_as_one or (token.word,) in self._lexicon.list_words["another"]

    def _is_plain(self, word: str, is_taken: bool) -> bool:
        lexicon = self._lexicon
        is_around = word in lexicon.polite | lexicon.fillers | lexicon.articles_as_one | self._plain
        return is_taken or is_around or lexicon.stem(word) in self._about or is_carrier(lexicon, word)

    def _clauses(self, tokens: Tokens) -> Iterator[tuple[Tokens, bool]]:
        """The parts of a reply that may each be an item. For each part, the result also says whether an "und" stands
        before it. A new part begins after a pause or a word that joins, at an article and at a number."""
        joints = {phrase[0] for phrase in self._lexicon.list_words["joints"]}
        numbers = {match.first: match.after for match in self._numbers(tokens)}
        inside = {place for first, after in numbers.items() for place in range(first + 1, after)}
        starts = [0]
        for place in range(1, len(tokens)):
            token, before = tokens[place], tokens[place - 1]
            is_counted = place - 1 in inside | set(numbers) or self._is_article(before)
            begins = (place in numbers or self._is_article(token)) and not is_counted
            if place not in inside and (token.pause or token.word in joints or (begins and before.word not in joints)):
                starts.append(place)
        for start, stop in zip(starts, (*starts[1:], len(tokens)), strict=True):
            part = tokens[start:stop]
            yield tuple(token for token in part if token.word not in joints), part[0].word in joints
