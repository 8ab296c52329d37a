"""Real servers, a real store, real sockets: killed, frozen and cut off for a short while."""

from __future__ import annotations

import pytest

from duologue.lab.torture.run import Run, TorturePlan, play, run
from duologue.lab.torture.verdict import CHECKS
from tests.needs import needs_postgres

pytestmark = pytest.mark.alone


def hold(plan: TorturePlan) -> Run:
    made = play(run(plan))
    found = "\n".join(f"{one.check}: {one.conversation}: {one.what}" for one in made.failures)
    assert made.holds, f"{plan.command}\n{made.folder}\n{found}"
    assert all(made.result[check] == 0 for check in CHECKS)
    return made


@pytest.mark.req("D-13", "D-14", "L-14")
@pytest.mark.graveyard(25)
def test_two_servers_and_postgresql_lose_nothing_when_they_are_killed_frozen_and_cut_off() -> None:
    needs_postgres()
    made = hold(TorturePlan(nodes=2, conversations=8, seed=4, seconds=15.0))
    assert made.result["kills"]
    assert made.result["stops"]
    assert made.result["turns"] >= made.result["conversations"]


@pytest.mark.req("D-13", "D-14")
@pytest.mark.graveyard(25)
def test_one_server_and_a_file_lose_nothing_when_it_is_killed_and_frozen() -> None:
    made = hold(TorturePlan(nodes=1, conversations=4, seed=11, seconds=8.0, store="sqlite"))
    assert made.result["kills"]
