"""Calls over a real WebSocket on this machine: the webhook first, then the stream."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from duologue.lab.sim.dial import WEBHOOKS, NotAnswered, announce, dial
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.loopback_server import serving
from duologue.lines.phone.carriers import CARRIERS
from tests.limits import WAIT_S

TWILIO = CARRIERS["twilio"]


def webhook(content: str) -> BaseRoute:
    return Route(WEBHOOKS["twilio"], lambda request: Response(content), methods=["POST"])


def stream_xml(url: str) -> str:
    address = url.replace("http", "ws", 1)
    parameter = '<Parameter name="token" value="secret"/>'
    return f'<Response><Connect><Stream url="{address}/stream">{parameter}</Stream></Connect></Response>'


def announced(make_xml: Callable[[str], str]) -> tuple[str, dict[str, str]]:
    async def call() -> tuple[str, dict[str, str]]:
        async with serving(lambda url: [webhook(make_xml(url))]) as url:
            return await announce(url, TWILIO, "CA7")

    return run_jumping(call())


def test_the_webhook_names_the_stream_and_its_parameters() -> None:
    address, parameters = announced(stream_xml)
    assert address.endswith("/stream")
    assert parameters == {"token": "secret"}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [("<Response><Reject/></Response>", "has no Connect/Stream"), ("busy", "did not answer: ParseError")],
)
def test_another_answer_does_not_take_the_call(answer: str, problem: str) -> None:
    with pytest.raises(NotAnswered, match=problem):
        announced(lambda url: answer)


def test_a_server_without_a_webhook_does_not_take_the_call() -> None:
    async def call() -> None:
        async with serving(lambda url: []) as url:
            await announce(url, TWILIO, "CA7")

    with pytest.raises(NotAnswered, match="HTTPError"):
        run_jumping(call())


def test_a_call_reaches_the_stream_and_ends_with_a_stop() -> None:
    received: list[dict[str, Any]] = []
    closed = asyncio.Event()

    async def answer(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                received.append(json.loads(await socket.receive_text()))
        except WebSocketDisconnect:
            closed.set()

    async def call() -> None:
        async with serving(lambda url: [webhook(stream_xml(url)), WebSocketRoute("/stream", answer)]) as url:
            async with dial(url, TWILIO, call="CA7") as carrier:
                carrier.press("5")
                carrier.hang_up()
            await asyncio.wait_for(closed.wait(), 10)

    run_jumping(call())
    events = [message["event"] for message in received]
    assert events[:2] == ["connected", "start"]
    assert received[1]["start"][TWILIO.call_id] == "CA7"
    assert received[1]["start"][TWILIO.parameters] == {"token": "secret"}
    assert events[-2:] == ["dtmf", "stop"]


def test_a_server_that_closes_ends_the_call() -> None:
    async def answer(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    async def call() -> bool:
        routes = [WebSocketRoute("/stream", answer)]
        async with serving(lambda url: [webhook(stream_xml(url)), *routes]) as url, dial(url, TWILIO) as carrier:
            async with asyncio.timeout(WAIT_S):
                while not carrier.is_over:
                    carrier.changed.clear()
                    await carrier.changed.wait()
            return carrier.is_over

    assert run_jumping(call())
