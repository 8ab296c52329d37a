"""The bench of several processes measures what it says. No test checks how fast they are."""

from __future__ import annotations

import os
import time

import pytest

from duologue.lab.bench.server_workers import BUDGETS, LoadFigures, bench_workers, cpu_s, report
from tests.needs import needs_model


@pytest.mark.alone
def test_two_processes_are_compared_with_one() -> None:
    needs_model("speech-samples")
    steps: list[str] = []
    result = bench_workers(workers=2, sessions=2, vad=False, seconds=5, many_sessions=4, progress=steps.append)
    assert result["sessions"] == [1, 1]
    assert result["many_sessions_split"] == [2, 2]
    assert result["failures"] == []
    assert result["share_max"] == 1.0
    assert all(cost > 0 for cost in result["cpu_ms_per_session_second"])
    assert all(answers > 0 for answers in result["answers_per_s"])
    assert set(result["within_budget"]) == {budget.key for budget in BUDGETS}
    assert len(report(result)) == len(BUDGETS) + 4
    assert "4 conversations at 2, 5 s" in steps


def test_the_cost_of_a_conversation_is_the_time_of_all_processes() -> None:
    load = LoadFigures((3, 1), 0.8, 0.2, 10.0, 5, [700.0], [])
    assert load.cpu_ms_per_session_second == pytest.approx(20)
    assert load.answers_per_s == 0.5


def test_the_time_of_a_process_is_what_the_kernel_counts() -> None:
    before = cpu_s((os.getpid(),))
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert 0.05 < cpu_s((os.getpid(),)) - before < 5
