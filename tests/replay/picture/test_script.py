"""The script fits the page: it finds what it looks for, and inserts text and never markup."""

from __future__ import annotations

import re

from duologue.replay.picture.script import SCRIPT
from tests.replay.picture.drawn_page import Node, call_data


def test_every_element_that_the_script_looks_up_is_on_the_page(page: Node) -> None:
    wanted = set(re.findall(r'byId\("(\w+)"\)', SCRIPT))
    assert wanted >= {"call", "strip", "scroller", "line", "fired", "zoom"}
    for name in wanted:
        page.one(id=name)


def test_every_field_that_the_script_reads_is_in_the_data(page: Node) -> None:
    found = re.search(r"const \{ ([\w, ]+) \} = call;", SCRIPT)
    assert found is not None
    assert {*found[1].split(", "), *re.findall(r"\bcall\.(\w+)", SCRIPT)} == set(call_data(page))


def test_every_button_has_its_step(page: Node) -> None:
    steps = re.search(r"const STEPS = \{(.*)\}", SCRIPT)
    assert steps is not None
    assert {button.get("data-zoom") for button in page.all("button")} == set(re.findall(r"(\w+): \(\)", steps[1]))


def test_text_goes_into_the_page_as_text() -> None:
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", SCRIPT)


def test_the_script_contacts_no_host() -> None:
    assert not re.findall(r"fetch\(|XMLHttpRequest|WebSocket|\bimport\b|https?:", SCRIPT)
