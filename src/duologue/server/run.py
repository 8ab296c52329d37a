"""Runs a server in uvicorn until it is stopped. Before it stops, its conversations get time to end or to move.

Rule: the first SIGTERM or Ctrl-C lets conversations end. The second one stops the server immediately.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import uvicorn

from duologue.core.errors import DuologueError

from .app import Server

UNREAD_MS_MAX = 30_000

KEEP_DAYS = 30


class QuietServer(uvicorn.Server):
    """A uvicorn server that doesn't handle signals, because `serve` does."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


def bind_socket(host: str, port: int) -> socket.socket:
    """A listening socket. With port 0, any free port is used. Raises DuologueError if the address can't be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # the kernel closes a client that reads nothing
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS_MAX)
        made.bind((host, port))
    except (OSError, UnicodeError) as problem:
        made.close()
        if getattr(problem, "errno", None) == errno.EADDRINUSE:
            other = f"--port {port + 1} (make demo PORT={port + 1})"
            raise DuologueError(f"port {port} of {host} is already in use; choose another: {other}") from None
        why = getattr(problem, "strerror", None) or type(problem).__name__
        raise DuologueError(f"can't listen on {host} port {port}: {why}; choose another --host or --port") from None
    made.listen(2_048)
    return made


@contextlib.asynccontextmanager
async def serving(server: Server, listening: socket.socket) -> AsyncIterator[QuietServer]:
    """Run the server until the context ends."""
    limits = server.settings.limits
    config = uvicorn.Config(
        server.app,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=limits.message_bytes_max,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
        lifespan="off",
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    running = QuietServer(config)
    task = asyncio.get_running_loop().create_task(running.serve([listening]), name="uvicorn")
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
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    conversations = server.conversations
    await loop.run_in_executor(None, conversations.load)
    if conversations.leases is not None:
        await conversations.leases.open(conversations)
        await conversations.leases.store.sweep(keep_days * 86_400_000)
    try:
        async with serving(server, listening) as running:
            ready()
            await stop.wait()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
                signal.signal(number, signal.SIG_DFL)  # the second signal ends the process immediately
            await conversations.drain()
            running.should_exit = True
    finally:
        if conversations.leases is not None:
            await conversations.leases.close()


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run this coroutine. If uvloop is installed, use it, because it halves the CPU time of a socket."""
    try:
        import uvloop
    except ModuleNotFoundError:
        asyncio.run(work)
    else:
        uvloop.run(work)


def server_url(listening: socket.socket, token: str = "") -> str:
    """The address of the page, with the token if there is one."""
    host, port = listening.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
