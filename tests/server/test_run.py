"""Running a server: what it serves while it runs."""

from __future__ import annotations

import asyncio
import os
import urllib.request
from pathlib import Path

import pytest

from duologue.ports.store import StoreWrite
from duologue.server.app import Server
from duologue.server.leases import Leases
from duologue.server.listening import bind_socket, server_url
from duologue.server.run import serve, serving
from duologue.server.settings import ServerSettings
from duologue.store.memory import MemoryStore
from tests.limits import WAIT_S
from tests.server.running_server import agent_that_says


def test_a_server_answers_while_it_is_serving_and_not_after() -> None:
    listening = bind_socket("127.0.0.1", 0)
    url = f"{server_url(listening)}healthz"

    def get() -> bytes:
        with urllib.request.urlopen(url, timeout=WAIT_S) as answer:
            body: bytes = answer.read()
            return body

    async def run() -> None:
        async with serving(Server(agent_that_says()), listening):
            assert await asyncio.to_thread(get) == b"ok\n"
        with pytest.raises(OSError, match="refused"):
            await asyncio.to_thread(get)

    asyncio.run(run())


def test_a_server_that_runs_deletes_old_journals_recordings_and_conversations_that_never_ended(tmp_path: Path) -> None:
    folders = journals, recordings = tmp_path / "journals", tmp_path / "recordings"
    for folder, name in ((journals, f"{'a' * 12}.words.jsonl"), (recordings, f"{'a' * 12}.ogg")):
        folder.mkdir()
        (folder / name).write_text("said long ago")
        os.utime(folder / name, (1_000_000, 1_000_000))

    async def run() -> None:
        now_ms = [0]
        store = MemoryStore(clock=lambda: now_ms[0])
        lease, _ = await store.claim("b" * 32, "a node that crashed", 1_000)
        await store.write(lease, 0, StoreWrite({"words": {"said": "hello"}}))
        now_ms[0] = 3 * 86_400_000
        settings = ServerSettings(journals=journals, recordings=recordings)
        server = Server(agent_that_says(), settings, leases=Leases(store, "node", "http://127.0.0.1"))
        ready = asyncio.Event()
        running = asyncio.ensure_future(serve(server, bind_socket("127.0.0.1", 0), ready.set, keep_days=2))
        async with asyncio.timeout(WAIT_S):
            await ready.wait()
            while await store.read("b" * 32) is not None or any(list(folder.iterdir()) for folder in folders):
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.wait([running])

    asyncio.run(run())
