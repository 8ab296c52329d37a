"""Runs a server in uvicorn until it is stopped. Before it stops, its conversations get time to end or to move to
another node.

Rule: the first SIGTERM or Ctrl-C lets conversations end. The second one stops the server immediately.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any

import uvicorn

from .app import Server
from .blocked_loop import BlockedLoopWatch, warn
from .direct_messages import DirectMessages
from .loaded_objects import loaded_objects_ignored
from .open_files import raise_limit
from .processes.connection import Connections, GiveableSocket
from .processes.link import ParentLink
from .refused_handshakes import RefusableSocket
from .retention import ROUND_S, keep_deleting
from .slow_requests import timed

KEEP_DAYS = 30


class DirectSocket(DirectMessages, RefusableSocket):
    """A WebSocket of uvicorn whose messages are passed to the application directly, without uvicorn's queue and its
    tasks."""


class QuietServer(uvicorn.Server):
    """A uvicorn server that doesn't handle signals, because `serve` does."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


@contextlib.asynccontextmanager
async def serving(server: Server, listening: socket.socket | None) -> AsyncIterator[QuietServer]:
    """Run the server while the `with` block runs. If `listening` is None, the server gets its connections from a parent
    process, and can pass them on to other processes."""
    limits = server.settings.limits
    config = uvicorn.Config(
        server.app,
        log_level="warning",
        access_log=False,
        ws=DirectSocket if listening is not None else GiveableSocket,
        ws_max_size=limits.message_bytes_max,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        lifespan="off",
        proxy_headers=False,  # who the caller is, is decided in `caller_address`
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    config.load()
    config.http_protocol_class = timed(
        config.http_protocol_class,
        limits.request_s_max,
        server.connection_limit.may_open,
        limits.answer_s_max,
        server.conversations.note_refused,
    )
    running = QuietServer(config)
    sockets = [listening] if listening is not None else []
    task = asyncio.get_running_loop().create_task(running.serve(sockets), name="uvicorn")
    try:
        while not running.started and not task.done():
            await asyncio.sleep(0.005)
        yield running
    finally:
        running.should_exit = True
        await task


async def serve(
    server: Server, listening: socket.socket, ready: Callable[[], None], keep_days: int = KEEP_DAYS
) -> None:
    """Run until SIGTERM or Ctrl-C, then let conversations end or move to another node. `ready` is called as soon as the
    server listens."""
    stop = asyncio.Event()
    async with _prepared(server, stop, keep_days), serving(server, listening) as running:
        ready()
        await stop.wait()
        await _drain(server, running)


async def serve_for_parent(server: Server, link: ParentLink, lines: Sequence[str], keep_days: int = KEEP_DAYS) -> None:
    """Serve the connections that a parent process passes on, until the parent or a SIGTERM stops this process. The
    parent prints `lines`, which tell the user what is served."""
    stop = asyncio.Event()
    link.open(server, stop.set)
    try:
        wait_s = 0.0 if link.welcome.is_first else ROUND_S
        async with _prepared(server, stop, keep_days, wait_s), serving(server, None) as running:
            link.take_connections(Connections(running), lines)
            await stop.wait()
            link.leave()
            await _drain(server, running)
    finally:
        link.close()


@contextlib.asynccontextmanager
async def _prepared(server: Server, stop: asyncio.Event, keep_days: int, wait_s: float = 0.0) -> AsyncIterator[None]:
    """Load models, and keep the store open while the `with` block runs. Meanwhile, handle signals, and delete
    conversations that are older than `keep_days` days; the first deletion is after `wait_s` seconds."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    conversations = server.conversations
    await loop.run_in_executor(None, conversations.load)
    if conversations.leases is not None:
        await conversations.leases.open(conversations)
    if conversations.webhooks is not None:
        await conversations.webhooks.open()
    store = conversations.leases.store if conversations.leases is not None else None
    folders = dict.fromkeys((server.settings.journals, server.settings.recordings))
    work = keep_deleting(store, (folder for folder in folders if folder is not None), keep_days, wait_s)
    deleting = loop.create_task(work, name="retention")
    try:
        with BlockedLoopWatch(warn), loaded_objects_ignored():
            yield
    finally:
        deleting.cancel()
        await asyncio.wait([deleting])
        if conversations.webhooks is not None:
            await conversations.webhooks.close()
        if conversations.leases is not None:
            await conversations.leases.close()


async def _drain(server: Server, running: QuietServer) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_DFL)  # the second signal ends the process immediately
    await server.conversations.drain()
    running.should_exit = True


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run this coroutine. If uvloop is installed, use its event loop, because that halves the CPU time that a socket
    needs."""
    raise_limit()
    try:
        import uvloop
    except ModuleNotFoundError:
        asyncio.run(work)
    else:
        uvloop.run(work)
