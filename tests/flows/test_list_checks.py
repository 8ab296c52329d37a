"""Checks of lists, FAQ steps, repairs, patterns, loops in texts and texts that vary."""

# ruff: noqa: E501 - a file and its problem are easier to compare in one line

from __future__ import annotations

import pytest

from tests.flows.flow_problems import FILE, errors_in_steps, problems_of

NUMBER = "n: {type: number, prompt: N}"


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("slots", "expected"),
    [
        ("a: {type: list, items: [n], prompt: X}", "4: slots.a: the list has no largest size: add `max`, the largest number of items"),
        ("a: {type: list, max: 3, prompt: X}", "4: slots.a: a slot of type list needs `items`: the slots that make up an item"),
        ("a: {type: list, items: [m], max: 3, prompt: X}", "4: slots.a.items: unknown slot 'm'"),
        ("a: {type: list, items: [n, n], max: 3, prompt: X}", "4: slots.a.items: 'n' is listed twice; remove one of them"),
        ("a: {type: list, items: [a], max: 3, prompt: X}", "4: slots.a.items: 'a' is a list; an item can't contain a list"),
        ("a: {type: list, items: [n], max: 2, min: 3, prompt: X}", "4: slots.a.min: `min` is 3 and `max` is 2; `min` can't be larger"),
        ("a: {type: list, items: [n], max: 0, prompt: X}", "4: slots.a.max: must be at least 1, not 0"),
        ("a: {type: text, prompt: X, max: 2}", "4: slots.a.max: only slots of type list can have this key; this slot has type text"),
        ("a: {type: list, items: [n], max: 2, prompt: X, says: '{b}'}", "4: slots.a.says: unknown slot 'b'; known: a, n"),
        ("a: {type: code, prompt: X, pattern: '(a+)+'}", "4: slots.a.pattern: matching this pattern could take too long"),
        ("a: {type: number, prompt: X, pattern: '1'}", "4: slots.a.pattern: only slots of type code, text, name, phone or email"),
    ],
)  # fmt: skip
def test_lists_and_patterns_are_checked(slots: str, expected: str) -> None:
    assert any(line.startswith(expected) for line in problems_of(f"{FILE}slots:\n  {slots}\n  {NUMBER}"))


def test_a_slot_of_an_item_is_checked_too() -> None:
    found = problems_of(
        f"{FILE}slots:\n  a: {{type: list, items: [n], max: 2, prompt: X}}\n  n: {{type: number, session: true}}"
    )
    assert found == [
        "5: slots.n.session: a slot that is part of the items of 'a' can't have this key",
        "5: slots.n: `prompt` is missing: it asks for this value if an item of 'a' lacks it",
    ]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("- faq: note", "10: flows.book.steps[0]: there is no FAQ to search; add `faq` to the file"),
        ("- faq: nte", "10: flows.book.steps[0]: unknown slot 'nte'; did you mean 'note'?"),
        ("- confirm: ['{day}?', '{seat}?']", "10: flows.book.steps[0].confirm: every text of a confirmation has to name the same slots"),
        ("- say: '{for each day}x'", "10: flows.book.steps[0]: '{for each day}' isn't part of a complete loop"),
        ("- say: '{for each dy}x{end}'", "10: flows.book.steps[0]: unknown slot 'dy'; did you mean 'day'?"),
        ("- say: ['fine', '{dy}']", "10: flows.book.steps[0]: unknown slot 'dy'; did you mean 'day'?"),
    ],
)  # fmt: skip
def test_steps_are_checked(steps: str, expected: str) -> None:
    assert any(line.startswith(expected) for line in errors_in_steps(steps))


def test_repairs_need_a_flow_that_asks_before_it_acts() -> None:
    assert problems_of(FILE + "repairs: {cancel: b}") == ["3: repairs: unknown flow 'b'; known: a"]
    acting = (
        "version: 1\nflows:\n  a: {steps: [{say: x}]}\n  b: {hidden: true, steps: [{action: x}]}\nrepairs: {cancel: b}"
    )
    assert problems_of(acting) == [
        "5: repairs: flow 'b' runs an action before it asks: add a `confirm` step before the action"
    ]
    told = "version: 1\nflows:\n  a: {steps: [{say: x}]}\n  b: {hidden: true, steps: [{say: '{slot} {value}'}]}\n"
    assert problems_of(told + "repairs: {correction: b}") == []
    assert len(problems_of(told + "repairs: {cancel: b}")) == 2
