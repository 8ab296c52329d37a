"""The bench of the server measures what it says. No test checks how fast it is."""

from __future__ import annotations

from duologue.lab.bench.server import bench_server, budgets, report
from tests.needs import needs_model


def test_two_conversations_are_measured_by_their_clients() -> None:
    needs_model("speech-samples")
    steps: list[str] = []
    result = bench_server(sessions=2, vad=False, seconds=6, progress=steps.append)
    assert (result["sessions"], result["sessions_wanted"], result["failures"]) == (2, 2, [])
    assert result["turns"] >= 1
    assert 0 < result["turn_ms_p50"] <= result["turn_ms_p99"]
    assert result["cpu_share"] > 0
    assert result["added_delay_ms_p95"] > 0
    assert set(result["within_budget"]) == {budget.key for budget in budgets(vad=False)}
    assert len(report(result)) == len(budgets(vad=False))
    assert "2 conversations, 6 s" in steps


def test_a_core_has_to_carry_more_conversations_without_vad() -> None:
    limits = {vad: {budget.key: budget for budget in budgets(vad)}["sessions_per_core"] for vad in (True, False)}
    assert limits[True].holds(limits[True].limit)
    assert not limits[False].holds(limits[True].limit)


def test_a_missed_budget_is_marked_in_the_report() -> None:
    within = {budget.key: budget.key != "audio_gap_ms_max" for budget in budgets(vad=True)}
    rows = report({budget.key: 99 for budget in budgets(vad=True)} | {"within_budget": within, "vad": True})
    assert [what for what, _, limit in rows if "missed" in limit] == ["longest gap in the sound of an answer"]
