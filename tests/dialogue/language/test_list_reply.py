"""Replies about lists in every language: English reads them; a language without readers refuses lists by name."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.list_reply import LAST, ListReply, divided, divides
from duologue.dialogue.language.packs import PACKS, pack_of
from duologue.dialogue.language.readings import Choice, Json, Slot, SlotKind
from tests.flows.flow_problems import FILE, problems_of

SLOTS = (Slot("n", SlotKind.NUMBER), Slot("size", SlotKind.CHOICE, (Choice("small"), Choice("large"))))


def test_a_pack_reads_what_a_reply_does_to_a_list() -> None:
    lists = pack_of("en").lists
    assert lists is not None
    assert lists.read("make it large", SLOTS, "cups", 2, "2025-12-03") == ListReply(
        "change", new={"size": "large"}, position=LAST
    )
    assert lists.is_explicit("remove it")
    assert lists.asks_for_list("what's on my list?", "list")


@pytest.mark.parametrize("language", sorted(PACKS))
def test_a_list_is_refused_by_name_in_a_language_without_words_for_it(language: str) -> None:
    text = f"{FILE}language: {language}\nslots:\n  a: {{type: list, items: [n], max: 2, prompt: X}}\n"
    found = problems_of(f"{text}  n: {{type: number, prompt: N}}")
    pack = pack_of(language)
    refusal = f"{pack.name} can't read replies about lists: use one slot for each item instead"
    assert [line.partition(": ")[2] for line in found if "lists" in line] == (
        [] if pack.lists is not None else [f"slots.a: {refusal}"]
    )


def test_a_part_with_a_smaller_count_and_other_values_divides_an_item() -> None:
    pizzas: dict[str, Json] = {"count": 2, "kind": "margherita"}
    assert divides(pizzas, {"count": 1, "size": "large"}, "count")
    assert not divides(pizzas, {"count": 3, "size": "large"}, "count"), "more than there are"
    assert not divides(pizzas, {"count": 1}, "count"), "nothing is said about the part"
    assert not divides(pizzas, {"count": 1, "kind": "funghi"}, "count"), "another kind is another item"


def test_a_part_keeps_the_other_values_and_reduces_the_count() -> None:
    items: list[dict[str, Json]] = [{"count": 2, "kind": "margherita"}]
    assert divided(items, 0, {"count": 1, "size": "large"}, "count") == {
        "count": 1,
        "kind": "margherita",
        "size": "large",
    }
    assert items == [{"count": 1, "kind": "margherita"}]
