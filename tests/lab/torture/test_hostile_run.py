"""A short hostile run on real sockets."""

from __future__ import annotations

import asyncio

import pytest

from duologue.lab.torture import hostile_run
from duologue.lab.torture.hostile_run import HostilePlan, run_hostile
from duologue.lab.torture.hostile_verdict import ALL

_TIMES = ("p95 ", "few answers", "starts can't be compared")  # how fast is left to `duologue torture --hostile`


@pytest.mark.alone
@pytest.mark.graveyard(25)
def test_honest_callers_are_answered_beside_hostile_ones() -> None:
    """A short run on a busy machine says nothing about times, but all that was begun has ended, and each kind of abuse
    has reached the server."""
    lines: list[str] = []
    judged = asyncio.run(run_hostile(HostilePlan(seconds=9.0, kinds=("stream sound", ALL)), lines.append))
    assert [one.phase.kind for one in judged] == ["quiet", "stream sound", ALL]
    assert [line.partition(":")[0] for line in lines] == ["quiet", "stream sound", ALL]
    broken = [why for one in judged for why in one.why.split("; ") if why and not why.startswith(_TIMES)]
    assert not broken


@pytest.mark.alone
def test_hostile_clients_that_have_ended_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, a run whose hostile clients can't be started would look perfectly fair."""
    monkeypatch.setattr(hostile_run, "SETTLE_S", 0.2)
    judged = asyncio.run(run_hostile(HostilePlan(seconds=2.0, kinds=("no such abuse",))))
    assert "the hostile clients did nothing that reached the server: no such abuse" in judged[1].why
