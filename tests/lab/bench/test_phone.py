"""The bench of phone calls measures the right things. No test checks how fast it is."""

from __future__ import annotations

from duologue.lab.bench.phone import BUDGETS, bench_phone, report


def test_a_few_calls_are_measured_by_the_carriers() -> None:
    result = bench_phone(calls=3, seconds=8)
    assert result["calls"] == 3
    assert result["frames"] > 300
    assert result["clears"] >= 2
    assert 0 < result["cpu_share"] < 1
    assert {budget.key for budget in BUDGETS} <= result.keys()
    assert 0 <= result["core_taken_share"] <= 1
    assert len(report(result)) == len(BUDGETS) + 2
