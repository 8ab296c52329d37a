"""Lists of items that a user gives one after the other: what is on the list, and what still has to be asked about it.

An item is like a small form: it has its own slots. If the user gave only some of its values, a hidden flow is called
for that item and asks for the others. An unfinished list is stored in the flow that asks for the list. When the user
wants nothing more, the list becomes the value of its slot. Rule: a list never has more items than its slot allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .flow import Domain, SlotSpec
from .language.list_reply import ItemValues
from .language.readings import ANY, Json, SlotKind
from .state import Filled, Instance, Slots, put, without
from .templates import fill, spoken, together

FINISHED = "list"  # the source of a list that is validated as a whole
NEW = -1  # the place of an item that isn't on the list yet; if an equal item is, it was said again
MORE = -2  # the place of an item that is wanted in addition to an equal one


@dataclass(frozen=True, slots=True)
class ListDraft:
    """An unfinished list."""

    items: tuple[ItemValues, ...] = ()
    waiting: tuple[tuple[int, ItemValues], ...] = ()  # items to complete or check: their place, and what was said
    open: int | None = None  # the place of the item that is being asked about
    told: int = 0  # how many items were read back to the user
    is_done: bool = False  # the user wants nothing more
    is_late: bool = False  # the finished list was opened again while another question was open; changes are read back
    unsure_turn: int = -1  # the last turn that brought items and wasn't understood completely

    @property
    def size(self) -> int:
        """How many items the list has, including items whose values the agent still has to ask for."""
        more = sum(place < 0 for place, _ in self.waiting) + (self.open is not None and self.open < 0)
        return len(self.items) + more


def draft_in(instance: Instance, slot: str) -> ListDraft:
    """The unfinished list for a slot; an empty one if the user hasn't given an item yet."""
    held = next((filled.value for name, filled in instance.lists if name == slot), None)
    if not isinstance(held, dict):
        return ListDraft()
    data: dict[str, Any] = held
    return ListDraft(
        tuple(data["items"]),
        tuple((place, values) for place, values in data["waiting"]),
        data["open"],
        data["told"],
        data["is_done"],
        data["is_late"],
        data["unsure_turn"],
    )


def with_draft(instance: Instance, slot: str, draft: ListDraft | None) -> Slots:
    """The unfinished lists of a flow after a change: the list for `slot` is replaced by `draft`, or removed if `draft`
    is None."""
    if draft is None:
        return without(instance.lists, frozenset((slot,)))
    held: dict[str, Any] = {
        "items": [dict(item) for item in draft.items],
        "waiting": [[place, dict(values)] for place, values in draft.waiting],
        "open": draft.open,
        "told": draft.told,
        "is_done": draft.is_done,
        "is_late": draft.is_late,
        "unsure_turn": draft.unsure_turn,
    }
    return put(instance.lists, slot, Filled(held))


# -- Items


def items_in(value: object, spec: SlotSpec) -> tuple[ItemValues, ...]:
    """The items in a value of the list slot. Each item keeps only the values for the list's own slots. Entries that
    aren't items are left out."""
    found = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
    return tuple({name: item[name] for name in spec.items if item.get(name) is not None} for item in found)


def item_said(domain: Domain, spec: SlotSpec, item: ItemValues, today: str = "") -> str:
    """An item as people say it."""
    values = {name: value for name, value in item.items() if value != ANY}
    if spec.item_text:
        return fill(spec.item_text, values, today, domain.pack.spoken)
    shown = (_part_said(domain, name, values[name], today) for name in spec.items if name in values)
    return " ".join(part for part in shown if part)


def _part_said(domain: Domain, name: str, value: Json, today: str) -> str:
    if domain.slots[name].kind is SlotKind.YES_NO:
        forms = domain.pack.spoken
        return (forms.with_ if value else forms.without).format(label=domain.slots[name].display_name)
    return spoken(value, today, domain.pack.spoken)


def list_said(domain: Domain, spec: SlotSpec, items: Sequence[object], today: str = "") -> str:
    """A list as people say it: "2 large margherita and 1 cola"."""
    said = [item_said(domain, spec, item, today) for item in items if isinstance(item, Mapping)]
    return together(said, domain.pack.spoken)


def count_slot(domain: Domain, spec: SlotSpec) -> str:
    """The name of the slot that says how many of an item are wanted; empty if the items have no such slot."""
    return next((name for name in spec.items if domain.slots[name].kind is SlotKind.NUMBER), "")


def merged(items: Sequence[ItemValues], counts: str) -> tuple[ItemValues, ...]:
    """The items, with equal ones joined: if two items differ only in their number, they become one item, and the
    numbers are added. Example: "another large margherita", after a first large margherita."""
    found: list[dict[str, Json]] = []
    for item in items:
        same = next((one for one in found if counts and _kind_of(one, counts) == _kind_of(item, counts)), None)
        mine, its = item.get(counts), same.get(counts) if same is not None else None
        if same is not None and type(mine) is int and type(its) is int:
            same[counts] = mine + its
        else:
            found.append(dict(item))
    return tuple(found)


def same_item(items: Sequence[ItemValues], item: ItemValues, counts: str) -> int | None:
    """The index of the item that differs from `item` at most in its number; None if there is no such item. Without a
    word such as "another", a user who says this item means the one on the list."""
    kind = _kind_of(item, counts)
    return next((place for place, one in enumerate(items) if counts and _kind_of(one, counts) == kind), None)


def _kind_of(item: ItemValues, counts: str) -> dict[str, Json]:
    return {name: value for name, value in item.items() if name != counts}


def without_place(items: tuple[ItemValues, ...], place: int) -> tuple[ItemValues, ...]:
    return (*items[:place], *items[place + 1 :])


def matching(items: Sequence[ItemValues], said: ItemValues, counts: str) -> tuple[int, ...]:
    """The indexes of the items that have these values. If several items have them, a number greater than one can decide
    which item is meant: "the three margheritas". The number one can't decide, because "remove one margherita" may mean
    any of them."""
    kind = _kind_of(said, counts)
    found = [place for place, item in enumerate(items) if all(item.get(name) == value for name, value in kind.items())]
    exact = [place for place in found if said.get(counts, 1) != 1 and items[place].get(counts) == said[counts]]
    return tuple(exact if len(exact) == 1 and len(found) > 1 else found)
