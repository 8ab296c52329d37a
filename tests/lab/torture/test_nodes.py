"""A node is a real server process that can be started, frozen, drained and killed, each time under a new name."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.lab.torture.nodes import NodeProcess, free_port


async def answers(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    status = await reader.readline()
    writer.close()
    return status.startswith(b"HTTP/1.1 ")


def test_a_node_serves_until_it_is_killed_and_has_a_new_name_when_it_is_started_again(tmp_path: Path) -> None:
    async def main() -> None:
        node = NodeProcess("a", tmp_path, 3_000, 5.0)
        node.store = str(tmp_path / "store.sqlite3")
        try:
            await node.start()
            assert (node.name, node.is_running, await answers(node.port)) == ("a1", True, True)
            node.freeze()
            assert node.is_frozen
            await node.kill()
            assert (node.is_running, node.is_frozen, await answers(node.port)) == (False, False, False)
            await node.start_with_retries()
            assert (node.name, await answers(node.port)) == ("a2", True)
            node.set_clock(3_600)
            await node.drain()
            assert not node.is_running
        finally:
            await node.kill()

    asyncio.run(main())
    assert "-- a1\n" in (tmp_path / "node-a.log").read_text(encoding="utf-8")


def test_a_node_that_does_not_start_names_its_log(tmp_path: Path) -> None:
    async def main() -> None:
        node = NodeProcess("a", tmp_path, 3_000, 5.0)
        node.store = str(tmp_path)  # a folder
        try:
            with pytest.raises(DuologueError, match=r"node a1 didn't start; see .*node-a\.log"):
                await node.start()
            assert not node.is_ready
        finally:
            await node.kill()

    asyncio.run(main())


def test_a_free_port_can_be_bound() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", free_port()))
