"""What a reply about a list means: items are added, removed or changed, or the list is finished.

Rule: nothing here depends on a language. A language pack creates a `ListReply` from a reply, and the dialogue applies
it to a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .readings import Json

LAST = -1  # the position of the item that was named last: "make it large"

ItemValues = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ListReply:
    """What a reply does to a list. `kind` is add, remove, change or done."""

    kind: str
    items: tuple[ItemValues, ...] = ()  # the items to add
    old: ItemValues = field(default_factory=dict)  # the values that tell which item is meant
    new: ItemValues = field(default_factory=dict)  # the new values of that item
    position: int | None = None  # which item is meant, by its place in the list; LAST: the one that was named last
    is_one_of: bool = False  # "one of the margheritas": only one of the things that an item counts
    is_done: bool = False  # nothing more is wanted
    is_more: bool = False  # "another", "two more": the items are wanted in addition to equal ones
    leftover: tuple[str, ...] = ()  # words that weren't understood


def divides(whole: ItemValues, part: ItemValues, counts: str) -> bool:
    """Does `part` describe only some of the things in `whole`? True for "one large" after "two pizzas". `counts` is the
    name of the slot that holds the number of things."""
    mine, its = whole.get(counts), part.get(counts)
    if not isinstance(mine, int) or not isinstance(its, int) or its > mine:
        return False
    return len(part) > 1 and not (set(part) & set(whole)) - {counts}


def divided(items: list[dict[str, Json]], place: int, part: ItemValues, counts: str) -> dict[str, Json]:
    """Divide the item at index `place`, because `part` describes only some of its things: "one large", after "two
    pizzas". The number in the old item is reduced by the number in `part`. Returns the new item, which has the values
    of `part` and the other values of the old item."""
    whole, taken = {**items[place]}, part[counts]
    left = whole[counts]
    assert isinstance(left, int), left
    assert isinstance(taken, int), taken
    items[place][counts] = left - taken
    return {**whole, **part}
