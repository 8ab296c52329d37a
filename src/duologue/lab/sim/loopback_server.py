"""A server on 127.0.0.1 that runs inside a `with` block: for simulations, benchmarks and tests.

Rule: the server listens on a free port, and is stopped at the end of the block.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

STOP_S_MAX = 10.0


def open_socket() -> socket.socket:
    """A socket on a free port of this machine."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as the real server does
    listening.bind(("127.0.0.1", 0))
    return listening


def url_of(listening: socket.socket) -> str:
    """The HTTP address of a socket."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def make_server(routes: Sequence[BaseRoute]) -> uvicorn.Server:
    """A server for these routes. It doesn't compress messages, because carriers don't, and because audio wouldn't get
    smaller."""
    config = uvicorn.Config(
        Starlette(routes=list(routes)), log_config=None, lifespan="off", ws_per_message_deflate=False, access_log=False
    )
    return uvicorn.Server(config)


@asynccontextmanager
async def serving(make_routes: Callable[[str], Sequence[BaseRoute]]) -> AsyncIterator[str]:
    """Serve in this event loop. The address of the server is passed to `make_routes`, and yielded."""
    listening = open_socket()
    url = url_of(listening)
    server = make_server(make_routes(url))
    server.capture_signals = nullcontext  # type: ignore[method-assign, assignment] # the caller handles Ctrl-C
    running = asyncio.ensure_future(server.serve([listening]))
    try:
        while not server.started and not running.done():
            await asyncio.sleep(0.005)
        yield url
    finally:
        server.should_exit = True
        await asyncio.wait((running,), timeout=STOP_S_MAX)
        listening.close()
