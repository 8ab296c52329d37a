"""Names, switches and who is told."""

from __future__ import annotations

import asyncio

import pytest

from duologue.core.leaves import ErrorClass
from duologue.failover.health import HealthRule
from duologue.failover.services import Services
from duologue.ports import ServiceError
from duologue.ports.switches import Switch
from duologue.runtime.simulated_clock import run_simulated


def test_a_switch_is_told_with_its_reason_and_so_is_the_return() -> None:
    async def work() -> list[Switch]:
        told: list[Switch] = []
        services = Services("voice", ("a", "b"), HealthRule(), ("first", "second"))
        unfollow = services.follow(told.append)
        services.note_failed(0, ServiceError(ErrorClass.AUTH_FAILURE))
        assert services.order() == (1, 0)
        services.note_worked(1)
        services.note_worked(1)
        assert services.in_use == "second"
        await asyncio.sleep(16)
        assert services.order() == (0, 1)
        services.note_worked(0)
        unfollow()
        services.note_failed(0, TimeoutError())
        services.note_worked(1)
        return told

    assert run_simulated(work()) == [
        Switch("voice", "first", "second", "AUTH_FAILURE"),
        Switch("voice", "second", "first", "healthy"),
    ]


def test_services_are_named_after_their_class() -> None:
    services = Services("voice", (1, 2, "x"), HealthRule(), None)
    assert services.in_use == "int 1"


def test_the_number_of_names_is_checked() -> None:
    with pytest.raises(ValueError, match="1 entries for 2 services"):
        Services("voice", (1, 2), HealthRule(), ("one",))
