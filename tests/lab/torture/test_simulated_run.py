"""Torture on the simulated clock: short runs keep the promises, and a run without faults has nothing to excuse."""

from __future__ import annotations

import pytest

from duologue.lab.torture.simulated_run import SimulatedPlan, simulate


def test_without_faults_every_turn_is_answered() -> None:
    result = simulate(SimulatedPlan(seed=1, people=2, seconds=12.0, faults=("none",)))
    assert result.findings == []
    assert result.unanswered == 0
    assert result.turns >= 4


@pytest.mark.req("D-14")
@pytest.mark.parametrize("seed", [3, 8])
def test_servers_that_are_killed_while_the_store_is_away_keep_the_promises(seed: int) -> None:
    result = simulate(SimulatedPlan(seed=seed, people=4, seconds=25.0, faults=("kill", "store_away")))
    assert result.findings == []
    assert result.faults


def test_clients_that_lose_their_connections_keep_their_conversations() -> None:
    result = simulate(SimulatedPlan(seed=5, people=3, seconds=20.0, faults=("cut", "hang_up", "drain")))
    assert result.findings == []
    assert len(result.talks) == 3, "none was forgotten"
