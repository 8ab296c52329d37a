"""One text of a model, or a reason why there is none."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass
from duologue.testing import Fail, ScriptedBrain, run_simulated
from duologue.testing.evals.model import EvalModelFailed, ask_model


def test_the_parts_of_an_answer_are_joined() -> None:
    assert run_simulated(ask_model(ScriptedBrain([["Good", "day."]]), "", "hello")) == "Good day."


@pytest.mark.parametrize(
    ("script", "why"), [([Fail(ErrorClass.RATE_LIMIT)], "RATE_LIMIT"), ([" "], "its answer was empty")]
)
def test_a_model_that_fails_or_says_nothing_is_an_error(script: list[object], why: str) -> None:
    with pytest.raises(EvalModelFailed, match=why):
        run_simulated(ask_model(ScriptedBrain([script]), "", "hello"))  # type: ignore[list-item]
