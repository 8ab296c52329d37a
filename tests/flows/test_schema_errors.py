"""What doesn't fit the schema is reported in plain words."""

from __future__ import annotations

import pytest

from tests.flows.flow_problems import FILE, errors_in_steps, problems_of

# Each text is the first step of a flow, so it begins in line 10.
STEPS = [
    (
        "- say: Hi\n- colect: day",
        "11: flows.book.steps[1]: unknown step 'colect'; did you mean 'collect'?",
    ),
    (
        "- say: Hi\n  colect: day",
        "11: flows.book.steps[0]: unknown key 'colect'; known: id, say, barge_in, rephrase",
    ),
    (
        "- collect: day\n  promt: x",
        "11: flows.book.steps[0]: unknown key 'promt'; did you mean 'prompt'?",
    ),
    (
        "- say: Hi\n  collect: day",
        "11: flows.book.steps[0]: a step can't have both `say` and `collect`; write them as two list items",
    ),
    (
        "- say",
        "10: flows.book.steps[0]: a step must be a mapping, such as `say: Hello!`, not 'say'",
    ),
    (
        "- {}",
        "10: flows.book.steps[0]: a step must be a mapping, such as `say: Hello!`, not an empty mapping",
    ),
    (
        "- say: 5",
        "10: flows.book.steps[0].say: must be a text, not 5; put it in quotes",
    ),
    (
        "- say: {a: b}",
        "10: flows.book.steps[0].say: must be a text, not a mapping",
    ),
    (
        '- say: " "',
        "10: flows.book.steps[0].say: must not be empty",
    ),
    (
        "- {say: Hi, barge_in: never}",
        "10: flows.book.steps[0].barge_in: must be true or false, not 'never'",
    ),
    (
        "- set: {day: [1]}",
        "10: flows.book.steps[0].set.day: must be a text, a number, true, false or null, not a list",
    ),
    (
        "- set: {}",
        "10: flows.book.steps[0].set: must not be empty; add at least one item",
    ),
    (
        "- action: two words",
        "10: flows.book.steps[0].action: 'two words' isn't a valid name; use up to 64 letters, "
        "digits and _, without a digit first",
    ),
    (
        "- {action: go, outputs: ref}",
        "10: flows.book.steps[0].outputs: must be a list, not 'ref'",
    ),
    (
        "- {action: go, on_failure: []}",
        "10: flows.book.steps[0].on_failure: must not be empty; add at least one item",
    ),
    (
        "- {end: false}",
        "10: flows.book.steps[0].end: must be true, not false",
    ),
    (
        "- while: day\n  steps: []",
        "11: flows.book.steps[0].steps: must not be empty; add at least one item",
    ),
    (
        "- while: day",
        "10: flows.book.steps[0]: `steps` is missing",
    ),
    (
        "- branch:\n    - when: day",
        "11: flows.book.steps[0].branch[0]: unknown case 'when'; known: if, else",
    ),
    (
        "- branch:\n    - if: day\n      steps: [{say: x}]\n      else: [{say: x}]",
        "13: flows.book.steps[0].branch[0]: a case can't have both `if` and `else`; write them as two list items",
    ),
]
FILES = [
    (
        "version: 2\nflows: {a: {steps: [{say: x}]}}",
        "1: version: must be 1, not 2",
    ),
    (
        'version: "1"\nflows: {a: {steps: [{say: x}]}}',
        "1: version: must be 1, not '1'",
    ),
    (
        "flows: {a: {steps: [{say: x}]}}",
        "1: `version: 1` is missing",
    ),
    (
        "version: 1",
        "1: `flows` is missing",
    ),
    (
        "version: 1\nflows: {}",
        "2: flows: must not be empty; add at least one item",
    ),
    (
        "version: 1\nflows: [a]",
        "2: flows: must be a mapping, not a list",
    ),
    (
        "version: 1\nflows:\n  a: {}",
        "3: flows.a: `steps` is missing",
    ),
    (
        "version: 1\nflows:\n  a: {steps: []}",
        "3: flows.a.steps: must not be empty; add at least one item",
    ),
    (
        "version: 1\nflows:\n  a-b: {steps: [{say: x}]}",
        "3: flows.a-b: 'a-b' isn't a valid name; use up to 64 letters, digits and _, without a digit first",
    ),
    (
        FILE + "slot: {}",
        "3: unknown key 'slot'; did you mean 'slots'?",
    ),
    (
        FILE + "misses_max: 0",
        "3: misses_max: must be at least 1, not 0",
    ),
    (
        FILE + "time_zone: Vienna",
        "3: time_zone: unknown time zone 'Vienna'; did you mean 'Europe/Vienna'?",
    ),
    (
        FILE + "time_zone: ../passwd",
        "3: time_zone: unknown time zone '../passwd'; write for example Europe/Vienna",
    ),
    (
        FILE + "gives_up_by: crying",
        "3: gives_up_by: 'crying' isn't allowed here; known: cancel, handoff",
    ),
    (
        FILE + "patterns: {helpp: x}",
        "3: patterns: unknown key 'helpp'; did you mean 'help'?",
    ),
    (
        FILE + "slots:\n  a: 5",
        "4: slots.a: must be a mapping, not 5",
    ),
    (
        FILE + "slots:\n  a: {prompt: x}",
        "4: slots.a: `type` is missing",
    ),
    (
        FILE + "slots:\n  a: {type: dat}",
        "4: slots.a.type: 'dat' isn't allowed here; did you mean 'date'?",
    ),
    (
        FILE + "slots:\n  a: {type: choice, choices: [1]}",
        "4: slots.a.choices[0]: must be a text, not 1; put it in quotes",
    ),
    (
        FILE + "slots:\n  a: {type: time, hours: [9]}",
        "4: slots.a.hours: must have 2 items, not 1",
    ),
]


@pytest.mark.parametrize(("steps", "expected"), STEPS, ids=[steps for steps, _ in STEPS])
def test_a_schema_error_in_a_step_is_reported_with_its_line(steps: str, expected: str) -> None:
    assert errors_in_steps(steps)[0] == expected


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[expected for _, expected in FILES])
def test_a_schema_error_is_reported_with_its_line(text: str, expected: str) -> None:
    assert problems_of(text)[0] == expected
