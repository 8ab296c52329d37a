"""What every entrance of a server shares: addresses, how many connections each has, and wrong credentials."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.fairness.bucket import Rate
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.access_control import AccessControl, is_handed
from duologue.server.connection_limit import ConnectionLimit
from duologue.server.limit_news import LimitNews, PlaceHeld, PlaceKind, PlaceLeft
from duologue.server.processes.connection import Arrival
from duologue.server.settings import Limits, ServerSettings
from duologue.server.shared_limits import SharedLimits
from duologue.server.siblings import SCOPE_KEY
from duologue.server.wrong_credentials import FIRST_WAIT_S, address_hash

PROXY = "10.0.0.1"


def control(refused: list[str], shared: SharedLimits | None = None, **limits: Any) -> AccessControl:
    settings = ServerSettings(trusted_proxies=(PROXY,), limits=Limits(**limits))
    shared = shared or SharedLimits(settings.limits)
    limit = ConnectionLimit(shared, settings.trusted_proxies, refused.append)
    return AccessControl(settings, shared, limit, refused.append)


def scope_of(caller: str, peer: str = PROXY) -> dict[str, Any]:
    return {"client": (peer, 1), "headers": [(b"x-forwarded-for", caller.encode())]}


def test_an_address_has_only_so_many_connections_and_gets_a_place_back() -> None:
    refused: list[str] = []
    access = control(refused, sockets_per_address_max=2)
    assert [access.enter("a") for _ in range(3)] == [True, True, False]
    assert refused == ["address"]
    assert access.enter("b"), "another address has its own places"
    access.leave("a")
    assert [access.enter("a") for _ in range(2)] == [True, False], "the refused one took no place"


def test_connections_to_other_processes_count_too_and_a_handed_one_is_not_refused() -> None:
    refused: list[str] = []
    told: list[LimitNews] = []
    shared = SharedLimits(Limits(), told.append)
    access = control(refused, shared, sockets_per_address_max=2)
    shared.note(1, PlaceHeld(1, PlaceKind.SOCKET, "a", 0), 0)
    shared.note(1, PlaceHeld(2, PlaceKind.SOCKET, "b", 0), 0)
    assert [access.enter("a") for _ in range(2)] == [True, False]
    assert access.enter("a", is_handed=True), "it is still counted in the process that has handed it on"
    shared.note(1, PlaceLeft(1), 0)
    for _ in range(2):
        access.leave("a")
    assert [access.enter("a") for _ in range(3)] == [True, True, False]
    assert len(told) == 6, "four places held and two left"


class Connected:
    """A connection that came to this process with this data."""

    def __init__(self, data: bytes) -> None:
        self.arrival = Arrival(data)


def test_a_connection_from_another_process_was_counted_there() -> None:
    async def whole() -> None:
        access = control([], connections=Rate(1, 600_000, 1))
        handed = {**scope_of("9.9.9.9"), SCOPE_KEY: Connected(b"GET")}
        assert is_handed(handed)
        assert not any(access.is_too_often(handed) for _ in range(5))
        own = {**scope_of("9.9.9.9"), SCOPE_KEY: Connected(b"")}
        assert [access.is_too_often(own) for _ in range(2)] == [False, True]

    run_simulated(whole())


def test_behind_a_proxy_each_caller_counts_for_itself() -> None:
    refused: list[str] = []
    access = control(refused, connections=Rate(1, 600_000, 2))
    assert access.address_of(scope_of("9.9.9.9")) == "9.9.9.9"
    assert access.address_of(scope_of("9.9.9.9", peer="8.8.8.8")) == "8.8.8.8", "the header is made up"

    async def whole() -> None:
        assert [access.is_too_often(scope_of("9.9.9.9")) for _ in range(3)] == [False, False, True]
        assert not access.is_too_often(scope_of("9.9.9.8"))
        assert not any(access.is_too_often(scope_of("", peer="8.8.8.8")) for _ in range(5)), "counted when it connected"

    run_simulated(whole())
    assert refused == ["connections"]


def test_a_wrong_token_is_logged_with_a_number_and_without_the_address(caplog: pytest.LogCaptureFixture) -> None:
    async def whole() -> None:
        access = control([])
        for caller in ("9.9.9.9", "9.9.9.9", "9.9.9.8"):
            await access.refuse_late(scope_of(caller))

    run_simulated(whole())
    logged = [one.getMessage() for one in caplog.records if one.name == "duologue.server"]
    first, other = address_hash("9.9.9.9"), address_hash("9.9.9.8")
    assert logged == [
        f"wrong token from address {first}, number 1",
        f"wrong token from address {first}, number 2",
        f"wrong token from address {other}, number 1",
    ]
    assert all(one.levelname == "WARNING" for one in caplog.records)
    assert "9.9.9" not in caplog.text


def test_wrong_credentials_wait_longer_each_time_for_the_caller_and_not_for_its_proxy() -> None:
    async def whole() -> None:
        access, loop = control([]), asyncio.get_running_loop()

        async def waited_s(caller: str) -> float:
            began_s = loop.time()
            await access.refuse_late(scope_of(caller))
            return round(loop.time() - began_s, 3)

        assert [await waited_s("9.9.9.9") for _ in range(3)] == [FIRST_WAIT_S * n for n in (1, 2, 4)]
        assert await waited_s("9.9.9.8") == FIRST_WAIT_S

    run_simulated(whole())
