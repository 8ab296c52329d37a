"""A server on 127.0.0.1 for as long as a block of code runs: for simulations, benches and tests.

Rule: it listens on a port that the system chose, and is gone at the end of the block.
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
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.bind(("127.0.0.1", 0))
    return listening


def url_of(listening: socket.socket) -> str:
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def make_server(routes: Sequence[BaseRoute]) -> uvicorn.Server:
    """Carriers don't compress, and their sound wouldn't shrink."""
    config = uvicorn.Config(
        Starlette(routes=list(routes)), log_config=None, lifespan="off", ws_per_message_deflate=False, access_log=False
    )
    return uvicorn.Server(config)


@asynccontextmanager
async def serving(make_routes: Callable[[str], Sequence[BaseRoute]]) -> AsyncIterator[str]:
    """Serve in this loop. `make_routes` gets the address, and so does the block."""
    listening = open_socket()
    url = url_of(listening)
    server = make_server(make_routes(url))
    server.capture_signals = nullcontext  # type: ignore[method-assign, assignment] # Ctrl-C belongs to whoever calls
    running = asyncio.ensure_future(server.serve([listening]))
    try:
        while not server.started and not running.done():
            await asyncio.sleep(0.005)
        yield url
    finally:
        server.should_exit = True
        await asyncio.wait((running,), timeout=STOP_S_MAX)
        listening.close()
