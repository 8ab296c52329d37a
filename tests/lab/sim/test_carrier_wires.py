"""A carrier and a server meet in one event loop: requests, webhooks and streams arrive unchanged."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from duologue.lab.sim.carrier_wires import LoopWires, SocketWires, request_within
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.loopback_server import serving
from duologue.lines.phone.carriers import TWILIO
from duologue.runtime.simulated_clock import run_simulated


async def show(request: Request) -> Response:
    body = (await request.body()).decode()
    seen = [request.method, request.url.path, request.url.query, request.headers["x-proof"], body]
    return JSONResponse(seen, 201)


async def wait(request: Request) -> Response:
    await asyncio.sleep(1)
    return Response()


events: list[str] = []


async def stream(socket: WebSocket) -> None:
    await socket.accept()
    try:
        while True:
            events.append(json.loads(await socket.receive_text())["event"])
            if events[-1] == "media" and events.count("media") == 3:
                await socket.send_text('{"event": "mark", "mark": {"name": "m"}, "streamSid": "MZ0001"}')
    except WebSocketDisconnect:
        events.append("closed")


APP = Starlette(
    routes=[
        Route("/show", show, methods=["POST"]),
        Route("/wait", wait, methods=["POST"]),
        WebSocketRoute("/stream", stream),
    ]
)
SEEN = ["POST", "/show", "a=1", "yes", "text"]


def test_a_webhook_arrives_as_it_was_sent_with_and_without_a_network() -> None:
    status, text = run_simulated(LoopWires(APP).post("http://127.0.0.1:1/show?a=1", {"X-Proof": "yes"}, b"text"))
    assert (status, json.loads(text)) == (201, SEEN)

    async def over_a_socket() -> tuple[int, str]:
        async with serving(lambda _: APP.routes) as url:
            refused = await SocketWires().post(f"{url}/missing", {}, b"")
            assert refused[0] == 404
            return await SocketWires().post(f"{url}/show?a=1", {"X-Proof": "yes"}, b"text")

    status, text = run_jumping(over_a_socket())
    assert (status, json.loads(text)) == (201, SEEN)


def test_a_request_of_a_blocking_library_is_answered_at_once() -> None:
    async def run() -> tuple[int, str]:
        return request_within(APP)("POST", "http://127.0.0.1:1/show?a=1", {"X-Proof": "yes"}, b"text")

    status, text = run_simulated(run())
    assert (status, json.loads(text)) == (201, SEEN)


def test_an_api_that_waits_is_an_error() -> None:
    async def run() -> None:
        with pytest.raises(RuntimeError, match="without waiting"):
            request_within(APP)("POST", "http://127.0.0.1:1/wait", {}, b"")

    run_simulated(run())


def test_a_stream_carries_messages_both_ways_and_ends() -> None:
    events.clear()

    async def run() -> None:
        async with LoopWires(APP).stream("ws://127.0.0.1:1/stream", {}, TWILIO, call="CA1") as scripted:
            await asyncio.sleep(0.5)
            assert scripted.call == "CA1"
            scripted.hang_up()

    run_simulated(run())
    assert events[:3] == ["connected", "start", "media"]
    assert events.count("mark") == 1, "the mark came back"
    assert events[-2:] == ["stop", "closed"]
