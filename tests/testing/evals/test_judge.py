"""A judge that answers nonsense is counted, and never a pass."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass
from duologue.testing import Fail, ScriptedBrain, run_simulated
from duologue.testing.evals.judge import CallJudgement, UnusableVerdict, judge, read_verdicts
from tests.testing.evals.scripted_models import verdicts

RUBRIC = ("It is polite.", "It confirmed.")
TWICE = '{"verdicts": [{"line": 1, "met": true}, {"line": 2, "met": false}, {"line": 2, "met": true, "why": "or not"}]}'
ODD = '{"verdicts": [{"line": [1], "met": true}, {"line": {"2": 2}, "met": true}, {"line": "1", "met": true}]}'


def judged(*answers: object) -> CallJudgement:
    return run_simulated(judge(ScriptedBrain(list(answers)), RUBRIC, "caller: hi"))  # type: ignore[arg-type]


def test_every_line_of_the_rubric_gets_a_verdict() -> None:
    found = judged(verdicts(True, False))
    assert [verdict.met for verdict in found.verdicts] == [True, False]
    assert not found.is_pass
    assert judged(verdicts(True, True)).is_pass


def test_nonsense_is_asked_for_again_and_counted() -> None:
    found = judged("It was a lovely call!", verdicts(True, True))
    assert found.is_pass
    assert found.unusable == 1


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "{}",
        '{"verdicts": 1}',
        '{"verdicts": [{"line": 1, "met": true}]}',
        "{broken",
        verdicts(True),
        "[" * 99,
        ODD,
        TWICE,
    ],
)
def test_a_judge_that_never_makes_sense_is_never_a_pass(answer: str) -> None:
    found = judged(answer, answer)
    assert found.unusable == 2
    assert [verdict.met for verdict in found.verdicts] == [None, None]
    assert not found.is_pass


@pytest.mark.parametrize("met", ["true", 1, None, "yes"])
def test_only_true_and_false_are_verdicts(met: object) -> None:
    import json

    answer = json.dumps({"verdicts": [{"line": 1, "met": met}, {"line": 2, "met": True}]})
    with pytest.raises(UnusableVerdict, match="no verdict on line 1"):
        read_verdicts(answer, RUBRIC)


def test_a_judge_that_fails_is_no_verdict() -> None:
    assert not judged([Fail(ErrorClass.SERVER_ERROR)], [Fail(ErrorClass.SERVER_ERROR)]).is_pass


def test_without_a_rubric_there_is_nothing_to_judge_and_without_a_judge_no_pass() -> None:
    assert run_simulated(judge(None, (), "x")).is_pass
    assert not run_simulated(judge(None, RUBRIC, "x")).is_pass
