"""Each kind of abuse reaches the server, and what it does too much is refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest

from duologue.lab.torture.hostile_agent import make_hostile_agent
from duologue.lab.torture.hostile_clients import ABUSES, CLIENTS, REACHED, address_of
from duologue.server.settings import Limits
from tests.limits import WAIT_S
from tests.server.running_server import RunningServer, running_server


def test_ten_clients_share_an_address_and_ten_dont() -> None:
    addresses = [address_of(client) for client in range(CLIENTS)]
    assert len(set(addresses)) == 11
    assert addresses.count(addresses[0]) == 10


@pytest.mark.parametrize(
    ("kind", "limit"),
    [
        ("type much", "typed_chars"),
        ("type often", "typed_turns"),
        ("stream sound", "sound"),
        ("start often", "unspoken"),
        ("press buttons", "commands"),
    ],
)
def test_too_much_is_refused(kind: str, limit: str) -> None:
    async def main() -> None:
        limits = {"unspoken_per_address_max": Limits().unspoken_per_address_max}
        async with running_server(make_hostile_agent, **limits) as made:
            await _abuse_until(made, kind, lambda: made.conversations.refused[limit] > 0)

    asyncio.run(main())


@pytest.mark.parametrize("kind", ABUSES)
def test_each_kind_of_abuse_reaches_the_server_and_is_counted(kind: str) -> None:
    """A kind that the server refuses as a whole, because of a wrong Host for example, would test nothing."""

    async def main() -> None:
        before = REACHED[kind]
        async with running_server(make_hostile_agent) as made:
            await _abuse_until(made, kind, lambda: REACHED[kind] > before)

    asyncio.run(main())


async def _abuse_until(made: RunningServer, kind: str, holds: Callable[[], bool]) -> None:
    doing = asyncio.ensure_future(ABUSES[kind](made.port, "127.0.2.1"))  # type: ignore[arg-type]
    try:
        async with asyncio.timeout(WAIT_S):
            while not holds():
                assert not doing.done(), doing
                await asyncio.sleep(0.02)
    finally:
        doing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await doing
