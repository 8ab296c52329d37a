"""A request that still runs when the server stops."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from duologue.fairness.fair_threads import REPLAYS
from duologue.server.app import Server
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.stopped_requests import StoppedRequests
from tests.limits import WAIT_S
from tests.server.running_server import agent_that_says


async def answer_of_a_server_that_stops(free: threading.Event) -> bytes:
    """What a client reads whose diagram waits for its turn until the server stops."""
    listening = bind_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    server = Server(agent_that_says())
    before = REPLAYS.run_for("another address", free.wait)
    busy = asyncio.ensure_future(before)
    async with serving(server, listening) as running:
        running.config.timeout_graceful_shutdown = 0
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /debug/diagram/link.svg HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        async with asyncio.timeout(WAIT_S):
            while not REPLAYS.counts.waiting:
                await asyncio.sleep(0)
    answer = await asyncio.wait_for(reader.read(), WAIT_S)
    writer.close()
    free.set()
    await busy
    return answer


def test_a_request_that_is_cancelled_because_the_server_stops_is_answered_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Once, it was answered with 500, and the log had the traceback of a CancelledError.
    free = threading.Event()
    try:
        with caplog.at_level(logging.WARNING):
            answer = asyncio.run(answer_of_a_server_that_stops(free))
    finally:
        free.set()
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert answer.endswith(b"The server is stopping: try again later.\n")
    assert not [record for record in caplog.records if record.exc_info]


def test_an_answer_that_has_begun_is_not_begun_again() -> None:
    sent = []

    async def send(event: dict[str, object]) -> None:
        sent.append(event["type"])

    async def app(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        raise asyncio.CancelledError

    asyncio.run(StoppedRequests(app)({"type": "http"}, None, send))
    assert sent == ["http.response.start"]
