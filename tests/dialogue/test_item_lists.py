"""Lists of items as data."""

from __future__ import annotations

import json

from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import SlotSpec
from duologue.dialogue.item_lists import (
    NEW,
    ListDraft,
    count_slot,
    draft_in,
    item_said,
    items_in,
    list_said,
    matching,
    merged,
    with_draft,
    without_place,
)
from duologue.dialogue.state import Instance
from duologue.lab.check.dialogue.domains import SIZE, domain

COUNT = SlotSpec("count", SlotKind.NUMBER, "How many?")
LID = SlotSpec("lid", SlotKind.YES_NO, "With a lid?")
CUPS = SlotSpec("cups", SlotKind.LIST, "Which?", items=("count", "size", "lid"), items_max=3)
SHOP = domain(slots=(COUNT, SIZE, LID, CUPS))
TWO = {"count": 2, "size": "small"}
ONE = {"count": 1, "size": "large"}


def test_a_draft_survives_being_written_as_json() -> None:
    draft = ListDraft((TWO,), ((NEW, ONE), (0, TWO)), NEW, 1, True, False, 3)
    one = Instance(1, "shop")
    lists = with_draft(one, "cups", draft)
    assert draft_in(Instance(1, "shop", lists=lists), "cups") == draft
    assert json.loads(json.dumps(lists[0][1].value))["items"] == [TWO]
    assert with_draft(Instance(1, "shop", lists=lists), "cups", None) == ()
    assert draft_in(one, "cups") == ListDraft()


def test_the_size_counts_items_that_are_still_asked_about() -> None:
    assert ListDraft((TWO,), ((NEW, ONE), (0, TWO)), NEW).size == 3


def test_a_value_from_outside_is_reduced_to_the_slots_of_an_item() -> None:
    assert items_in([{"count": 2, "colour": "red", "size": None}, "x"], CUPS) == ({"count": 2},)
    assert items_in("x", CUPS) == ()


def test_items_are_said_with_their_values_or_with_a_text() -> None:
    assert item_said(SHOP, CUPS, {**TWO, "lid": True}) == "2 small with lid"
    assert list_said(SHOP, CUPS, [TWO, ONE]) == "2 small and 1 large"
    spoken = SlotSpec("cups", SlotKind.LIST, "Which?", items=("count", "size"), item_text="{size} times {count}")
    assert item_said(SHOP, spoken, TWO) == "small times 2"


def test_the_same_thing_twice_is_counted() -> None:
    assert count_slot(SHOP, CUPS) == "count"
    assert merged((TWO, ONE, TWO), "count") == ({"count": 4, "size": "small"}, ONE)
    assert merged(({"size": "small"}, {"size": "small"}), "") == ({"size": "small"}, {"size": "small"})


def test_an_item_is_found_by_its_values() -> None:
    three = {"count": 3, "size": "small"}
    assert matching((TWO, ONE), {"size": "large"}, "count") == (1,)
    assert matching((TWO, three), {"size": "small"}, "count") == (0, 1)
    assert matching((TWO, three), {"size": "small", "count": 3}, "count") == (1,)
    assert matching((TWO, three), {"size": "small", "count": 1}, "count") == (0, 1)
    assert without_place((TWO, ONE), 0) == (ONE,)
