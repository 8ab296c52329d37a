"""Every promise about the program applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.program import PROGRAM_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_the_program_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), PROGRAM_PROMISES)
    assert tested == {promise.name for promise in PROGRAM_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("+ SpeechRequested", "text from the program waits until both sides are quiet and no answer is owed"),
        ("+ TurnTaken", "a turn that the program has taken is not sent to the brain"),
        ("+ AgentChangeRequested", "a change of the agent is applied in the same step"),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), PROGRAM_PROMISES)
