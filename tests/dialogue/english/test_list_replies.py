"""Replies about a list of things."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Choice, Slot, SlotKind
from duologue.dialogue.english.list_replies import LAST, ListReply, asks_for_list, is_explicit, read_list_reply

SLOTS = (
    Slot("count", SlotKind.NUMBER),
    Slot("size", SlotKind.CHOICE, (Choice("small"), Choice("medium"), Choice("large", ("big",)))),
    Slot("pizza", SlotKind.CHOICE, (Choice("margherita"), Choice("funghi", ("mushroom",)), Choice("four cheese"))),
)


def reply(text: str, count: int = 2) -> ListReply | None:
    return read_list_reply(text, SLOTS, "order pizza pizzas", count, "2026-03-04")


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("two large margheritas", [(2, "large", "margherita")]),
        ("a big mushroom please", [(1, "large", "funghi")]),
        ("two pizzas, one large", [(1, None, None), (1, "large", None)]),
        ("two pizzas, one large and one small", [(1, "large", None), (1, "small", None)]),
        ("two margheritas, one large", [(1, None, "margherita"), (1, "large", "margherita")]),
        ("two margheritas and one large", [(2, None, "margherita"), (1, "large", None)]),
        ("two large margheritas one small funghi", [(2, "large", "margherita"), (1, "small", "funghi")]),
        ("one margherita, large, and another one small", [(1, "large", "margherita"), (1, "small", None)]),
        ("add a four cheese", [(1, None, "four cheese")]),
        ("two four cheese", [(2, None, "four cheese")]),
        ("margherita", [(None, None, "margherita")]),
    ],
)
def test_things_are_read_one_by_one(text: str, items: list[tuple[int | None, str | None, str | None]]) -> None:
    found = reply(text)
    assert found is not None
    assert found.kind == "add"
    assert [(item.get("count"), item.get("size"), item.get("pizza")) for item in found.items] == items
    assert not found.leftover


def test_words_that_are_not_understood_are_returned() -> None:
    found = reply("three mushroom pizzas with extra cheese")
    assert found is not None
    assert found.leftover == ("extra cheese",)


@pytest.mark.parametrize(
    ("text", "old", "position"),
    [
        ("remove the funghi", {"pizza": "funghi"}, None),
        ("take the margherita off", {"pizza": "margherita"}, None),
        ("no funghi", {"pizza": "funghi"}, None),
        ("wait, no funghi", {"pizza": "funghi"}, None),
        ("remove the second one", {}, 1),
        ("I don't want the last one", {}, 1),
        ("remove it", {}, LAST),
        ("remove one margherita", {"count": 1, "pizza": "margherita"}, None),
    ],
)
def test_a_thing_is_removed_by_its_values_or_its_place(text: str, old: dict[str, object], position: int | None) -> None:
    found = reply(text)
    assert found is not None
    assert (found.kind, dict(found.old), found.position) == ("remove", old, position)


@pytest.mark.parametrize(
    ("text", "old", "new", "position"),
    [
        ("change the second one to small", {}, {"size": "small"}, 1),
        ("make the large one small", {"size": "large"}, {"size": "small"}, None),
        ("large instead of small", {"size": "small"}, {"size": "large"}, None),
        ("swap the funghi for a margherita", {"pizza": "funghi"}, {"pizza": "margherita"}, None),
        ("the funghi should be large", {"pizza": "funghi"}, {"size": "large"}, None),
        ("make it three", {}, {"count": 3}, LAST),
        ("no, make it large", {}, {"size": "large"}, LAST),
        ("no, two funghi", {}, {"count": 2, "pizza": "funghi"}, LAST),
    ],
)
def test_a_thing_is_changed(text: str, old: dict[str, object], new: dict[str, object], position: int | None) -> None:
    found = reply(text)
    assert found is not None
    assert (found.kind, dict(found.old), dict(found.new), found.position) == ("change", old, new, position)


@pytest.mark.parametrize("text", ["that's all", "no, that's it, thanks", "I'm done", "nothing else"])
def test_the_end_of_a_list(text: str) -> None:
    assert reply(text) == ListReply("done", is_done=True)


def test_a_thing_and_the_end_in_one_reply() -> None:
    found = reply("a large margherita, and that's all")
    assert found is not None
    assert (len(found.items), found.is_done) == (1, True)


@pytest.mark.parametrize(
    "text",
    ["no", "yes", "pizza", "two", "hello there", "what do you have?", "not twenty, two", "polish the funghi"],
)
def test_other_replies_are_left_to_others(text: str) -> None:
    assert reply(text) is None


def test_a_place_is_never_taken_for_a_choice() -> None:
    assert reply("remove the first one", count=0) is None


@pytest.mark.parametrize(
    ("text", "is_so"),
    [("also a cola", True), ("remove it", True), ("wait, no funghi", True), ("12 Main Street", False), ("no", False)],
)
def test_a_change_at_another_question_needs_clear_words(text: str, is_so: bool) -> None:
    assert is_explicit(text) is is_so


def test_asking_what_is_on_a_list() -> None:
    assert asks_for_list("what's on my order?", "order")
    assert asks_for_list("what do I have so far", "order")
    assert not asks_for_list("what do you have?", "order")


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a few large margheritas", [(None, "large", "margherita")]),
        ("a bunch of small funghis", [(None, "small", "funghi")]),
        ("a load of three small funghis", [(3, "small", "funghi")]),
        ("a small funghi", [(1, "small", "funghi")]),
    ],
)
def test_a_few_is_no_number(text: str, items: list[tuple[int | None, str | None, str | None]]) -> None:
    found = reply(text)
    assert found is not None
    assert [(item.get("count"), item.get("size"), item.get("pizza")) for item in found.items] == items
