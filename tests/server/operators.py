"""Operators on a running server: the list of calls, and watching one."""

from __future__ import annotations

from typing import Any

from tests.server.running_server import Client, RunningServer


async def operator(running: RunningServer, **hello: Any) -> Client:
    """Somebody who asks for the list."""
    client = await running.connect()
    await client.hello("operator", **hello)
    await client.send("calls")
    await client.expect("calls")
    return client


async def listed(client: Client, count: int) -> list[dict[str, Any]]:
    """The list, once it has so many."""
    await client.until(lambda: len(client.told("calls")[-1]["calls"]) == count, f"{count} calls")
    calls: list[dict[str, Any]] = client.told("calls")[-1]["calls"]
    return calls


async def watch(client: Client) -> dict[str, Any]:
    """Watch the only call."""
    (call,) = await listed(client, 1)
    await client.send("watch", id=call["id"])
    return await client.expect("conversation", watching=True)
