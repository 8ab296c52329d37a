"""Replies about a list of things, read with the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from duologue.dialogue.grammar.list_replies import asks_for_list, is_explicit, read_list_reply
from duologue.dialogue.language.list_reply import LAST, ListReply
from duologue.dialogue.language.readings import Choice, Slot, SlotKind
from tests.dialogue.grammar.lexicons import GERMAN, SPANISH

TODAY = "2026-03-04"
LEXICONS = {"de": GERMAN, "es": SPANISH}
ABOUT = {"de": "Pizza und Pizzen bestellen, meine Bestellung", "es": "pedir una pizza o varias pizzas, mi pedido"}
COUNT = Slot("count", SlotKind.NUMBER)
SLOTS = {
    "de": (
        Slot("dish", SlotKind.CHOICE, (Choice("Margherita"), Choice("Funghi"), Choice("vier Käse"), Choice("Cola"))),
        Slot("size", SlotKind.CHOICE, (Choice("klein"), Choice("groß"))),
        COUNT,
    ),
    "es": (
        Slot("dish", SlotKind.CHOICE, (Choice("margarita"), Choice("funghi"), Choice("cuatro quesos"), Choice("cola"))),
        Slot("size", SlotKind.CHOICE, (Choice("pequeña"), Choice("grande"))),
        COUNT,
    ),
}


def read(language: str, text: str, count: int = 0) -> ListReply | None:
    return read_list_reply(LEXICONS[language], text, SLOTS[language], ABOUT[language], count, TODAY)


def item(count: int | None = None, dish: str = "", size: str = "") -> Mapping[str, Any]:
    given = {"dish": dish, "size": size, "count": count}
    return {name: value for name, value in given.items() if value}


@pytest.mark.parametrize(
    ("language", "text", "items"),
    [
        ("de", "zwei große Margheritas und eine Cola", [item(2, "Margherita", "groß"), item(1, "Cola")]),
        ("de", "ich hätte gern eine kleine Cola", [item(1, "Cola", "klein")]),
        ("de", "zwei Pizzen, eine große", [item(1), item(1, size="groß")]),
        ("de", "zwei vier Käse und noch drei Colas", [item(2, "vier Käse"), item(3, "Cola")]),
        ("de", "drei Colas, davon zwei groß", [item(1, "Cola"), item(2, "Cola", "groß")]),
        ("de", "Margherita", [item(dish="Margherita")]),
        ("es", "dos margaritas grandes y una cola", [item(2, "margarita", "grande"), item(1, "cola")]),
        ("es", "quiero dos pizzas, una grande", [item(1), item(1, size="grande")]),
        ("es", "dos cuatro quesos y tres colas", [item(2, "cuatro quesos"), item(3, "cola")]),
        ("es", "otra cola", [item(1, "cola")]),
    ],
)
def test_things_that_are_added(language: str, text: str, items: list[Mapping[str, Any]]) -> None:
    found = read(language, text)
    assert found is not None
    assert (found.kind, list(found.items), found.leftover) == ("add", items, ())


@pytest.mark.parametrize(
    ("language", "text", "old", "position"),
    [
        ("de", "ohne die Cola", item(dish="Cola"), None),
        ("de", "nehmen Sie die Cola raus", item(dish="Cola"), None),
        ("de", "die zweite bitte streichen", {}, 1),
        ("de", "eine Cola weg", item(1, "Cola"), None),
        ("de", "doch keine Funghi", item(dish="Funghi"), None),
        ("es", "quite la cola", item(dish="cola"), None),
        ("es", "quite la segunda", {}, 1),
        ("es", "ya no quiero la funghi", item(dish="funghi"), None),
    ],
)
def test_things_that_are_removed(language: str, text: str, old: Mapping[str, Any], position: int | None) -> None:
    found = read(language, text, count=3)
    assert found is not None
    assert (found.kind, dict(found.old), found.position) == ("remove", old, position)
    assert is_explicit(LEXICONS[language], text)


def test_one_of_several_things() -> None:
    for language, text in (("de", "eine von den Margheritas weg"), ("es", "quite una de las margaritas")):
        found = read(language, text, count=2)
        assert found is not None
        assert found.is_one_of


@pytest.mark.parametrize(
    ("language", "text", "old", "new", "position"),
    [
        ("de", "ändern Sie die Cola auf groß", item(dish="Cola"), item(size="groß"), None),
        ("de", "die Cola soll groß sein", item(dish="Cola"), item(size="groß"), None),
        ("de", "machen Sie die Cola groß", item(dish="Cola", size="groß"), {}, None),
        ("de", "machen Sie die zweite klein", {}, item(size="klein"), 1),
        ("de", "machen Sie sie groß", {}, item(size="groß"), LAST),
        ("de", "nein, drei", {}, item(3), LAST),
        ("de", "groß statt klein", item(size="klein"), item(size="groß"), None),
        ("es", "cambie la segunda a pequeña", {}, item(size="pequeña"), 1),
        ("es", "la cola que sea grande", item(dish="cola"), item(size="grande"), None),
        ("es", "grande en vez de pequeña", item(size="pequeña"), item(size="grande"), None),
        ("es", "no, tres", {}, item(3), LAST),
        ("es", "que sea grande", {}, item(size="grande"), LAST),
    ],
)
def test_things_that_are_changed(
    language: str, text: str, old: Mapping[str, Any], new: Mapping[str, Any], position: int | None
) -> None:
    found = read(language, text, count=2)
    assert found is not None
    assert (found.kind, dict(found.old), dict(found.new), found.position) == ("change", old, new, position)


@pytest.mark.parametrize(
    ("language", "text"),
    [("de", "das wars"), ("de", "nein, das ist alles"), ("es", "eso es todo"), ("es", "no, nada más")],
)
def test_the_end_of_a_list(language: str, text: str) -> None:
    assert read(language, text, count=1) == ListReply("done", is_done=True)


def test_a_last_thing_may_end_the_list() -> None:
    found = read("de", "eine Cola und das wars", count=1)
    assert found is not None
    assert (list(found.items), found.is_done) == ([item(1, "Cola")], True)


def test_words_that_arent_understood_are_returned() -> None:
    found = read("de", "eine große Pizza mit Ananas")
    assert found is not None
    assert found.leftover == ("Ananas",)


@pytest.mark.parametrize(
    ("language", "text"), [("de", "bla bla"), ("de", "nein"), ("es", "bla bla"), ("es", "sí"), ("es", "")]
)
def test_other_replies_arent_about_the_list(language: str, text: str) -> None:
    assert read(language, text, count=1) is None


def test_a_question_for_the_list() -> None:
    assert asks_for_list(GERMAN, "was habe ich bis jetzt bestellt?", "Bestellung")
    assert asks_for_list(SPANISH, "¿qué llevo en el pedido?", "pedido")
    assert not asks_for_list(GERMAN, "wie lange dauert das?", "Bestellung")
    assert not is_explicit(GERMAN, "eine Cola")
