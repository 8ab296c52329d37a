"""Calls a server as a carrier does: requests the webhook, opens the WebSocket, and carries the call over it.

It is used for simulations, benchmarks and tests on one computer. Rule: the caller uses nothing that a real carrier
doesn't have.
"""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from duologue.core.errors import DuologueError
from duologue.lines.phone.carriers import Carrier

from .scripted_carrier import ScriptedCarrier

WEBHOOKS = {"twilio": "/phone/twilio/voice", "telnyx": "/phone/telnyx/texml"}
ANSWER_S_MAX = 20.0


class NotAnswered(DuologueError):
    """The server did not take the call."""


async def announce(url: str, carrier: Carrier, call: str) -> tuple[str, dict[str, str]]:
    """Request the webhook for a new call. Returns the stream's address and its parameters. Raises NotAnswered if the
    response doesn't name a stream."""
    request = urllib.request.Request(url + WEBHOOKS[carrier.name], urlencode({"CallSid": call}).encode(), method="POST")
    try:
        answer = await asyncio.to_thread(_fetch, request)
        stream = ElementTree.fromstring(answer).find("Connect/Stream")
    except (OSError, ElementTree.ParseError) as problem:
        raise NotAnswered(f"the webhook did not answer: {type(problem).__name__}") from None
    if stream is None:
        raise NotAnswered("the webhook's answer has no Connect/Stream element")
    parameters = {each.attrib["name"]: each.attrib["value"] for each in stream.findall("Parameter")}
    return stream.attrib["url"], parameters


def _fetch(request: urllib.request.Request) -> bytes:
    with urllib.request.urlopen(request, timeout=ANSWER_S_MAX) as answer:
        read: bytes = answer.read()
        return read


@asynccontextmanager
async def dial(url: str, carrier: Carrier, **options: Any) -> AsyncIterator[ScriptedCarrier]:
    """Call the agent behind this address. `options` are passed on to ScriptedCarrier. Yields the caller's end of the
    call."""
    call = options.setdefault("call", "CA0001")
    address, parameters = await announce(url, carrier, call)
    assert urlsplit(address).hostname == urlsplit(url).hostname, "the stream must be on the host that was called"
    async with streaming(address, parameters, carrier, **options) as scripted:
        yield scripted


@asynccontextmanager
async def streaming(
    address: str, parameters: Mapping[str, str], carrier: Carrier, **options: Any
) -> AsyncIterator[ScriptedCarrier]:
    """The stream of a call to this address. `options` are passed on to ScriptedCarrier."""
    async with connect(address, compression=None) as socket:
        unsent: asyncio.Queue[str] = asyncio.Queue()
        scripted = ScriptedCarrier(unsent.put_nowait, carrier, parameters, **options)
        tasks = [asyncio.ensure_future(_write(socket, unsent)), asyncio.ensure_future(_read(socket, scripted))]
        scripted.connect()
        try:
            yield scripted
            while not unsent.empty():  # the last message, the stop, must still be sent
                await asyncio.sleep(0.01)
        finally:
            scripted.end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _write(socket: ClientConnection, unsent: asyncio.Queue[str]) -> None:
    try:
        while True:
            await socket.send(await unsent.get())
    except ConnectionClosed:
        while True:  # the server has closed: drop the rest, so that the queue empties
            await unsent.get()


async def _read(socket: ClientConnection, scripted: ScriptedCarrier) -> None:
    try:
        async for text in socket:
            scripted.receive(str(text))
    except ConnectionClosed:
        pass
    scripted.end()
