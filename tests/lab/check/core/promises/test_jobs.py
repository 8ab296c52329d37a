"""Every promise about jobs applies somewhere, holds there, and notices a missing row."""

from __future__ import annotations

import pytest

from duologue.lab.check.core.promises.jobs import JOB_PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, is_broken, walk, without_row


def test_every_promise_about_jobs_applies_and_holds() -> None:
    tested, broken = applied_and_broken(walk(), JOB_PROMISES)
    assert tested == {promise.name for promise in JOB_PROMISES}
    assert broken == set()


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        ("jobkind: dispatched + JobFinished", "the end of a dispatched job becomes news for the brain"),
        ("jobkind: tool + CallDelegated", "the reply waits for a delegated call"),
    ],
)
def test_a_machine_without_a_row_breaks_the_promise_about_it(row: str, promise: str) -> None:
    assert is_broken(promise, walk(without_row(row)), JOB_PROMISES)
