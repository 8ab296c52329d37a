"""An account notes what the caller and the services did, with the times of the simulation."""

from __future__ import annotations

import asyncio
import contextlib

from duologue.lab.sim.caller_account import OPEN_MS, CallerAccount, ServiceSpan, TimeSpan, Uttered
from duologue.runtime.simulated_clock import run_simulated


def test_what_is_said_done_and_worked_on_is_noted_with_its_times() -> None:
    account = CallerAccount()

    async def call() -> None:
        await asyncio.sleep(1)
        with account.utter("hello there"):
            await asyncio.sleep(2)
        with account.work("brain"), account.during(account.pauses):
            await asyncio.sleep(0.5)

    run_simulated(call())
    assert account.uttered == [Uttered(1_000, 3_000, "hello there")]
    assert account.worked == [ServiceSpan(3_000, 3_500, "brain")]
    assert account.pauses == [TimeSpan(3_000, 3_500)]


def test_what_fails_has_an_end_and_what_never_ends_has_none() -> None:
    account = CallerAccount()

    async def call() -> None:
        with contextlib.suppress(OSError), account.work("tool"):
            await asyncio.sleep(1)
            raise OSError
        with account.work("voice", is_awaited=False):
            assert account.worked[-1] == ServiceSpan(1_000, OPEN_MS, "voice", False)

    run_simulated(call())
    assert [one.end_ms for one in account.worked] == [1_000, 1_000]


def test_a_span_has_its_start_and_not_its_end() -> None:
    assert [TimeSpan(10, 20).has(at) for at in (9, 10, 19, 20)] == [False, True, True, False]
