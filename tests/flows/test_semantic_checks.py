"""Files that can't work are errors; files that probably don't are warnings."""

from __future__ import annotations

import pytest

from tests.flows.flow_problems import FILE, errors_in_steps, problems_of

# Each text is the first step of a flow, so it begins in line 10.
STEPS = [
    (
        "- branch:\n    - else: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: the first case of a branch must have an `if`",
    ),
    (
        "- branch:\n    - {if: day, steps: [{say: x}]}\n    - else: [{say: x}]\n    - {if: seat, steps: [{say: x}]}",
        "12: flows.book.steps[0].branch[1]: `else` must be the last case of a branch, and there can be only one",
    ),
]
FILES = [
    (
        FILE + "slots:\n  a: {type: choice}",
        "4: slots.a: a slot of type choice needs `choices`: the list of answers",
    ),
    (
        FILE + "slots:\n  a: {type: choice, choices: [x, {value: y, also: [X]}]}",
        "4: slots.a.choices: 'x' stands for two different values; remove one of them",
    ),
    (
        FILE + "slots:\n  a: {type: date, choices: [x]}",
        "4: slots.a.choices: only slots of type choice can have this key; this slot has type date",
    ),
    (
        FILE + "slots:\n  a: {type: date, reads_back: true}",
        "4: slots.a.reads_back: only slots of type code, phone, email, name or text can have this "
        "key; this slot has type date",
    ),
    (
        FILE + "slots:\n  b: {type: date}\n  a: {type: time, depends_on: [b], session: true}",
        "5: slots.a.session: a slot that depends on others can't be kept: the others may change in the next task",
    ),
    (
        "version: 1\nflows: {a: {steps: [{action: go, outputs: [b]}]}}\n"
        "slots:\n  a: {type: choice, choices: [x], choices_from: b}",
        "4: slots.a.choices_from: `choices` and `choices_from` exclude each other; remove one of them",
    ),
    (
        FILE + "slots:\n  a: {type: name, open: false}",
        "4: slots.a.open: `open: false` needs `names`: the list of allowed names",
    ),
    (
        FILE + "slots:\n  a: {type: date, past: true, future: true}",
        "4: slots.a.future: `past` and `future` can't both be true; remove one of them",
    ),
    (
        FILE + "slots:\n  a: {type: text, future: true}",
        "4: slots.a.future: only slots of type date or time can have this key; this slot has type text",
    ),
    (
        FILE + "slots:\n  a: {type: time, hours: [20, 8]}",
        "4: slots.a.hours: [20, 8] isn't valid: write two hours from 0 to 24, the earlier first",
    ),
    (
        FILE + "slots:\n  a: {type: text, depends_on: [b]}\n  b: {type: text, depends_on: [a]}",
        "4: slots.a.depends_on: circular dependency: a depends on b depends on a; remove one of these dependencies",
    ),
]


@pytest.mark.parametrize(("steps", "expected"), STEPS, ids=[steps for steps, _ in STEPS])
def test_a_contradiction_in_a_step_is_reported_with_its_line(steps: str, expected: str) -> None:
    assert errors_in_steps(steps)[0] == expected


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[expected for _, expected in FILES])
def test_a_contradiction_is_reported_with_its_line(text: str, expected: str) -> None:
    assert problems_of(text)[0] == expected


WARNINGS = [
    (
        "flows:\n  a:\n    steps:\n      - while: x > 3\n        steps: [{collect: x}]\nslots: {x: "
        "{type: number, prompt: x}}",
        "5: warning: flows.a.steps[0]: this loop never ends: a slot that is filled isn't asked for "
        "again; set it to null at the start of the loop",
    ),
    (
        "flows:\n  a:\n    steps:\n      - while: x\n        steps: [{say: Hello}]\nslots: {x: {type: text}}",
        "5: warning: flows.a.steps[0]: this loop never ends: no step in it asks, acts or changes its condition",
    ),
    (
        "flows:\n  a: {steps: [{say: x}]}\n  b: {hidden: true, steps: [{say: x}]}",
        "4: warning: flows.b: this flow is never reached: it is hidden, and no other flow calls it or links to it",
    ),
    (
        "flows:\n  a:\n    steps:\n      - end: Bye\n      - say: More",
        "6: warning: flows.a.steps[1]: this step is never reached: the `end` step before it leaves the flow",
    ),
    (
        "flows:\n  a: {steps: [{call: b}]}\n  b: {steps: [{call: a}]}",
        "3: warning: flows.a: flows call each other in a circle: a calls b calls a",
    ),
    (
        "flows:\n  a: {examples: [go], steps: [{say: x}]}\n  b: {examples: [Go], steps: [{say: x}]}",
        "4: warning: flows.b.examples: 'Go' is also an example of flow 'a'; give it to only one of them",
    ),
]


@pytest.mark.parametrize(("text", "expected"), WARNINGS, ids=[expected for _, expected in WARNINGS])
def test_what_probably_does_not_work_is_a_warning(text: str, expected: str) -> None:
    assert problems_of(f"version: 1\n{text}") == [expected]


@pytest.mark.parametrize(
    ("condition", "body"),
    [
        ("x is None", "{collect: x}"),
        ("x > 3", "{set: {x: null}}, {collect: x}"),
        ("x", "{action: y}"),
        ("x", "{set: {x: null}}"),
        ("x", "{link: a}"),
        ("x", "{end: true}"),
        ("x", "{confirm: Sure}"),
    ],
)
def test_a_loop_that_can_end_is_accepted(condition: str, body: str) -> None:
    head = "version: 1\nslots: {x: {type: number, prompt: x}}\n"
    assert problems_of(f"{head}flows: {{a: {{steps: [{{while: {condition}, steps: [{body}]}}]}}}}") == []
