"""YAML is read with lines, within limits, and errors are reported in one line."""

from __future__ import annotations

import pytest

from duologue.dialogue.flow import (
    Assign,
    Domain,
    Instruction,
)
from duologue.flows import parse_flows
from tests.flows.flow_problems import FILE, problems_of

BOMB = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
NOT_YAML = [
    (
        "version: 1\n\tflows: x",
        "2: not valid YAML: while scanning for the next token, found character '\\t' that cannot "
        "start any token (indent with spaces, not tabs)",
    ),
    (
        "version: 1\nsay: Hi: you",
        "2: not valid YAML: mapping values are not allowed here (a text with ': ' in it needs quotes)",
    ),
    (
        "version: [1",
        "1: not valid YAML: while parsing a flow sequence, expected ',' or ']', but got '<stream "
        "end>' (between brackets or braces, a text with punctuation needs quotes)",
    ),
    (
        "version: 1\n---\nversion: 1",
        "2: not valid YAML: expected a single document in the stream, but found another document",
    ),
    (
        "a\x00b",
        "1: not valid YAML: the character U+0000 isn't allowed; remove it",
    ),
    (
        'a: "\\U99999999"',
        "1: not valid YAML: an escape in this line doesn't stand for a character",
    ),
    (
        "a: &a [*a]",
        "1: the values are nested too deeply; at most 40 levels are allowed",
    ),
    ("[" * 100_000, "1: the values are nested too deeply; at most 40 levels are allowed"),
    (BOMB, "1: the file has too many values; at most 20,000 are allowed, aliases included"),
    ("- a\n" * 30_000, "20001: the file has too many values; at most 20,000 are allowed"),
    ("a: " + "x" * 1_000_000, " the file is too large; at most 1,000,000 characters are allowed"),
    (FILE + "version: 1", "3: duplicate key 'version'; it is first used in line 1"),
]


@pytest.mark.parametrize(("text", "expected"), NOT_YAML, ids=[expected for _, expected in NOT_YAML])
def test_invalid_yaml_is_refused_in_one_line(text: str, expected: str) -> None:
    assert problems_of(text) == [expected]


def test_unknown_tags_and_lone_surrogates_are_refused() -> None:
    assert problems_of(FILE + "slots: !!python/object:os.system {}") == [
        "3: the tag 'tag:yaml.org,2002:python/object:os.system' isn't supported; remove it"
    ]
    text = 'version: 1\nflows: {a: {steps: [{say: "\\uD800"}]}}'
    assert problems_of(text) == ["2: incomplete character (a lone surrogate escape) in '?'"]


SLOTS = """
version: 1
slots:
  amount: {type: number, prompt: "How much?"}
  name: {type: text, prompt: "Who?"}
flows:
  other: {steps: [{say: Hello!}]}
  pay:
    steps:
"""


def program_of(steps: str) -> tuple[Instruction, ...]:
    """The program of a flow with these steps."""
    return domain_of(steps).flows["pay"].program


def domain_of(steps: str) -> Domain:
    lines = [f"      {line}" for line in steps.strip().splitlines()]
    return parse_flows(SLOTS + "\n".join(lines), "pay.yaml")


def test_texts_that_yaml_1_1_would_convert_stay_texts() -> None:
    program = program_of("- set: {name: no}\n- set: {name: 12:30}\n- set: {name: 007}\n- set: {amount: 1.5}")
    values = [at.values[0][1] for at in program if isinstance(at, Assign)]
    assert values == ["no", "12:30", "007", 1.5]
