"""What a scenario file may contain: every mistake is reported with its line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from duologue.testing.scenario import InvalidScenario, load, play
from duologue.testing.scenario_steps import BRAIN_LINES, STEPS, TOOL_STEPS
from tests.testing.bad_scenario import BAD, TOLD

OURS = sorted((Path(__file__).parent / "scenarios").glob("*.yaml"))


GOOD = "brain: [Hello!]\ncall:\n  - user: hi\n"


Write: TypeAlias = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into a folder of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def to_file(text: str | bytes, name: str = "scenario.yaml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path.relative_to(tmp_path)

    return to_file


def problems_of(path: Path) -> list[tuple[int, str]]:
    with pytest.raises(InvalidScenario) as caught:
        load(path)
    return [(problem.line, problem.text) for problem in caught.value.problems]


def test_our_scenarios_use_every_step_there_is() -> None:
    scenarios = [load(path) for path in OURS]
    assert {step.name for scenario in scenarios for step in scenario.steps} == set(STEPS)
    tools = [act.name for scenario in scenarios for tool in scenario.tools for act in tool.steps]
    assert set(tools) == set(TOOL_STEPS)
    brains = [scenario.brain.replies for scenario in scenarios if scenario.brain]
    replies = [reply for brain in brains for reply in (brain.values() if isinstance(brain, dict) else brain)]
    assert {act.name for reply in replies for act in reply} == set(BRAIN_LINES)


@pytest.mark.parametrize("said", ["no", "on", "42", "12:30", "1.0", "2025-05-01", "true"])
def test_a_text_is_taken_as_it_is_written(write: Write, said: str) -> None:
    path = write(f"brain: {{'{said}': Understood.}}\ncall:\n  - user: {said}\n  - expect_heard: Understood.\n")
    result = play(path)
    assert result.passed, result.message


def test_a_text_over_several_lines_is_one_text(write: Write) -> None:
    steps = "  - user: hi\n  - expect_heard: >\n      Two flights\n      today.\n"
    result = play(write(f"brain:\n  - Two  flights\n    today.\ncall:\n{steps}"))
    assert result.passed, result.message


def test_an_anchor_may_stand_for_a_text(write: Write) -> None:
    result = play(write("brain: [&hello Good morning!]\ncall:\n  - user: hi\n  - expect_heard: *hello\n"))
    assert result.passed, result.message


def test_arguments_keep_their_types(write: Write) -> None:
    arguments = "{n: 2, big: 1_000, part: .5, yes: true, on: no, when: 2025-05-01, none: ~, deep: [1, {a: b}]}"
    scenario = load(write(f"brain:\n  - call: x\n    with: {arguments}\ncall: [settles]\n"))
    assert scenario.brain is not None
    assert isinstance(scenario.brain.replies, tuple)
    assert scenario.brain.replies[0][0].do().arguments == {
        "n": 2,
        "big": 1000,
        "part": 0.5,
        "yes": True,
        "on": "no",
        "when": "2025-05-01",
        "none": None,
        "deep": [1, {"a": "b"}],
    }


def test_one_error_lists_every_problem_with_its_line(write: Write) -> None:
    assert problems_of(write(BAD)) == TOLD


def test_the_message_holds_every_problem_with_file_and_line(write: Write) -> None:
    with pytest.raises(InvalidScenario) as caught:
        load(write(BAD))
    assert str(caught.value).splitlines() == [f"scenario.yaml:{line}: {text}" for line, text in TOLD]


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("", 1, "the file is empty: a scenario needs `call`, and `agent` or `brain`"),
        ("# nothing but a remark\n", 1, "the file is empty: a scenario needs `call`, and `agent` or `brain`"),
        ("\n- user: hi\n", 2, "a scenario is a mapping of name, brain, call and so on, not a list"),
        ("brain: [Hello!]\n", 1, "a scenario needs `call`: a list of steps"),
        ("brain: []\ncall: []\n", 2, "call must be a list of at least one step"),
        ("brain: []\ncall:\n", 2, "call must be a list of at least one step"),
        ("call: [settles]\n", 1, "a scenario needs `agent` or `brain`"),
        ("name:\n" + GOOD, 1, "name needs text"),
        ("brain: Hello!\ncall: [settles]\n", 1, "brain must be a list of replies, or a mapping from words to replies"),
        ("brain:\n  say: Hello!\ncall: [settles]\n", 1, "brain must be a list of replies: begin each with '- '"),
        (GOOD + "tools: [lookup]\n", 4, "tools must be a mapping from names to what each tool does, not a list"),
        (GOOD + "pace: fast\n", 4, "pace must be a mapping of word_ms, partial_lag_ms, final_lag_ms, confidence"),
        (GOOD + "  - !sing hello\n", 4, "the tag !sing is not supported"),
        (GOOD + "  - ? [user]\n    : hi\n", 4, "a key must be text"),
        (GOOD + "  - user: no: wait\n", 4, "not YAML: mapping values are not allowed here (a text with ': ' in it"),
        (GOOD + "tools:\n\tlookup: x\n", 5, r"not YAML: while scanning for the next token, found character '\t' that"),
        (GOOD + "tools: {x: {ask: why?}}\n", 4, "not YAML: while parsing a flow mapping, expected ',' or '}', but got"),
        (GOOD + "name: *who\n", 4, "not YAML: found undefined alias 'who'"),
        (GOOD + "---\n" + GOOD, 4, "not YAML: expected a single document in the stream, but found another document"),
        (GOOD + "name: \x07\n", 4, "not YAML: special characters are not allowed"),
        ("brain: []\ncall: &all [*all]\n", 1, "nested too deeply"),
        ("[" * 5_000, 1, "nested too deeply"),
        (b"\xff\xfe\x00", 0, "not a text file in UTF-8"),
    ],
)
def test_a_mistake_is_reported_with_its_line(write: Write, text: str | bytes, line: int, complaint: str) -> None:
    found = problems_of(write(text))
    assert found[0][0] == line
    assert found[0][1].startswith(complaint)
