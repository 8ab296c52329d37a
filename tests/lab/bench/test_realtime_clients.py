"""The bench of Realtime clients measures the right things. No test checks how fast it is."""

from __future__ import annotations

import pytest

from duologue.lab.bench import realtime_clients
from duologue.lab.bench.realtime_clients import BUDGETS, RealtimeBenchClient, bench_realtime_clients, report


@pytest.mark.alone
def test_a_few_clients_talk_and_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(realtime_clients, "WARM_S", 0.1)
    monkeypatch.setattr(RealtimeBenchClient, "EVERY_S", 3.0)
    monkeypatch.setattr(RealtimeBenchClient, "CUTS_S", 60.0)
    result = bench_realtime_clients(clients=2, seconds=3, turns=2)
    assert result["clients"] == 2
    assert result["pieces"] >= 1
    assert result["cpu_ms_per_client_s"] > 0
    assert result["turns"] >= 2
    assert 0 < result["answered_share"] <= 1
    assert {budget.key for budget in BUDGETS} <= result.keys()
    assert len(report(result)) > len(BUDGETS)
