"""Loops in scenario files are unrolled, and their problems are noted once."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.testing.scenario import InvalidScenario, load, play

HEAD = "brain: {otherwise: Noted.}\ncall:\n"


def written(tmp_path: Path, steps: str) -> Path:
    path = tmp_path / "loops.yaml"
    path.write_text(HEAD + steps)
    return path


def problems(tmp_path: Path, steps: str) -> list[str]:
    with pytest.raises(InvalidScenario) as refused:
        load(written(tmp_path, steps))
    return [f"{problem.line}: {problem.text}" for problem in refused.value.problems]


def said(path: Path) -> list[object]:
    return [act.value[0] for act in load(path).steps if act.name == "user"]


def test_steps_are_played_once_for_each_text(tmp_path: Path) -> None:
    path = written(
        tmp_path, "  - for_each: [Rome, 12]\n    steps:\n      - user: fly to {it}\n      - expect_heard: Noted.\n"
    )
    assert said(path) == ["fly to Rome", "fly to 12"]
    assert play(path).passed


def test_rounds_are_counted_from_one_and_an_inner_loop_keeps_its_own_names(tmp_path: Path) -> None:
    steps = """
  - repeat: 2
    steps:
      - user: round {n}
      - for_each: [a, b]
        steps: [{user: "{n}{it}"}]
"""
    assert said(written(tmp_path, steps)) == ["round 1", "1a", "2b", "round 2", "1a", "2b"]


def test_a_step_that_fails_in_a_loop_has_its_own_line(tmp_path: Path) -> None:
    path = written(tmp_path, "  - repeat: 3\n    steps:\n      - user: hello\n      - expect_heard: Never.\n")
    result = play(path)
    assert not result.passed
    assert result.line == 6


def test_a_wrong_step_in_a_loop_is_noted_once(tmp_path: Path) -> None:
    assert problems(tmp_path, "  - repeat: 9\n    steps:\n      - usre: hello\n") == [
        "5: unknown step 'usre'; did you mean user?"
    ]


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("  - repeat: 0\n    steps: [settles]\n", "3: repeat must be a whole number from 1 to 1000, not '0'"),
        ("  - repeat: 2\n", "3: a loop needs `steps`: a list of at least one step"),
        ("  - repeat: 2\n    for_each: [a]\n    steps: [settles]\n", "4: a loop has `repeat` or `for_each`, not both"),
        ("  - for_each: a\n    steps: [settles]\n", "3: for_each must be a list of texts"),
        ("  - repeat: 2\n    step: 1\n    steps: [settles]\n", "4: a loop: unknown key 'step'; did you mean steps?"),
    ],
)
def test_a_loop_that_is_wrong_says_why(tmp_path: Path, steps: str, problem: str) -> None:
    assert problem in problems(tmp_path, steps)


def test_loops_are_bounded_in_depth_and_in_length(tmp_path: Path) -> None:
    deep = "  - " + "".join(f"{{repeat: {times}, steps: [" for times in (1, 1, 1, 1)) + "settles" + "]}" * 4 + "\n"
    assert problems(tmp_path, deep) == ["3: loops are at most 3 deep"]
    long = "  - {repeat: 1000, steps: [{repeat: 1000, steps: [settles]}]}\n"
    (problem,) = problems(tmp_path, long)
    assert "at most 1000 are allowed" in problem
