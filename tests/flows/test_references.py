"""Names that don't exist are reported, with the name that was probably meant."""

from __future__ import annotations

import pytest

from tests.flows.flow_problems import FILE, errors_in_steps, problems_of

# Each text is the first step of a flow, so it begins in line 10.
STEPS = [
    (
        "- collect: orgin",
        "10: flows.book.steps[0]: unknown slot 'orgin'; did you mean 'origin'?",
    ),
    (
        "- collect: note",
        "10: flows.book.steps[0]: `prompt` is missing: add it here or to slot 'note'",
    ),
    (
        "- {collect: day, proposed: dya}",
        "10: flows.book.steps[0]: unknown slot 'dya'; did you mean 'day'?",
    ),
    (
        '- say: "Hi {nme}"',
        "10: flows.book.steps[0]: unknown slot 'nme'; known: origin, day, seat, note",
    ),
    (
        '- say: "Hi {day"',
        "10: flows.book.steps[0]: '{day' isn't a valid gap; write {name}, {name.part} or {name:spelled}",
    ),
    (
        '- say: "Hi {day of}"',
        "10: flows.book.steps[0]: '{day of}' isn't a valid gap; write {name}, {name.part} or {name:spelled}",
    ),
    (
        '- {collect: day, prompt: "{proposed}?"}',
        "10: flows.book.steps[0].prompt: unknown slot 'proposed'; known: origin, day, seat, note",
    ),
    (
        "- set: {orgin: x}",
        "10: flows.book.steps[0]: unknown slot 'orgin'; did you mean 'origin'?",
    ),
    (
        "- set: {seat: isle}",
        "10: flows.book.steps[0]: 'isle' isn't a choice of slot 'seat'; did you mean 'aisle'?",
    ),
    (
        "- {action: go, slots: [dya]}",
        "10: flows.book.steps[0]: unknown slot 'dya'; did you mean 'day'?",
    ),
    (
        "- {action: go, outputs: [value]}",
        "1: 'value' is a reserved word and can't be the name of a slot; rename it",
    ),
    (
        "- {action: go, then: end}",
        "10: flows.book.steps[0]: `then` needs an `on_failure` block",
    ),
    (
        "- {action: go, on_failure: [{say: x}], then: again}",
        "10: flows.book.steps[0]: `then: again` would retry for ever; ask the user something in `on_failure` first",
    ),
    (
        "- {id: ask, confirm: x, on_no: [{say: x}], then: aks}",
        "10: flows.book.steps[0]: no step has the id 'aks'; did you mean 'ask'?",
    ),
    (
        "- call: bok",
        "10: flows.book.steps[0]: unknown flow 'bok'; did you mean 'book'?",
    ),
    (
        "- link: bok",
        "10: flows.book.steps[0]: unknown flow 'bok'; did you mean 'book'?",
    ),
    (
        "- {call: book, gives: {dya: day}}",
        "10: flows.book.steps[0]: unknown slot 'dya'; did you mean 'day'?",
    ),
    (
        "- {call: book, takes: {dya: day}}",
        "10: flows.book.steps[0]: unknown slot 'dya'; did you mean 'day'?",
    ),
    (
        "- {id: a, say: x}\n- {id: a, say: x}",
        "11: flows.book.steps[1]: duplicate id 'a'; it is first used in line 10",
    ),
    (
        "- {id: end, say: x}",
        "10: flows.book.steps[0]: 'end' is a reserved word and can't be a step's id; rename it",
    ),
    (
        "- while: dya is None\n  steps:\n    - collect: day",
        "10: flows.book.steps[0]: unknown slot 'dya'; did you mean 'day'?",
    ),
    (
        "- branch:\n    - if: seat == aisle\n      steps: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: unknown slot 'aisle'; put a text in quotes",
    ),
    (
        "- branch:\n    - if: seat =\n      steps: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: 'seat =' isn't a valid condition; write for example: amount > 100",
    ),
    (
        "- branch:\n    - if: len(seat)\n      steps: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: 'len(seat)' isn't allowed; use slots, values, comparisons, + - * /, "
        "and, or, not",
    ),
]
FILES = [
    (
        FILE + "patterns: {help: '{flow}'}",
        "3: patterns.help: unknown slot 'flow'; did you mean 'flows'?",
    ),
    (
        FILE + "slots:\n  a: {type: text, depends_on: [b]}",
        "4: slots.a.depends_on: unknown slot 'b'; known: a",
    ),
    (
        FILE + "slots:\n  key: {type: text}",
        "4: slots.key: 'key' is a reserved word and can't be the name of a slot; rename it",
    ),
    (
        FILE + "slots:\n  a: {type: choice, choices_from: found}",
        "4: slots.a.choices_from: no action returns 'found'; name an output of an action",
    ),
    (
        "version: 1\nflows:\n  a:\n    steps: [{handoff: 'for {nme}'}]",
        "4: flows.a.steps[0]: unknown slot 'nme'",
    ),
    (
        FILE + "slots:\n  from: {type: text}",
        "4: slots.from: 'from' is a reserved word and can't be the name of a slot; rename it",
    ),
    (
        FILE + "slots:\n  a: {type: text, prompt: '{b}'}",
        "4: slots.a.prompt: unknown slot 'b'; known: a",
    ),
    (
        "version: 1\nflows:\n  a:\n    examples: ['go {b}']\n    steps: [{say: x}]",
        "4: flows.a.examples: 'go {b}' has a gap; an example must be what users say, word for word",
    ),
]


@pytest.mark.parametrize(("steps", "expected"), STEPS, ids=[steps for steps, _ in STEPS])
def test_an_unknown_name_in_a_step_is_reported_with_its_line(steps: str, expected: str) -> None:
    assert errors_in_steps(steps)[0] == expected


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[expected for _, expected in FILES])
def test_an_unknown_name_is_reported_with_its_line(text: str, expected: str) -> None:
    assert problems_of(text)[0] == expected
