"""Calls against a real server on 127.0.0.1, over real WebSockets."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from xml.etree import ElementTree

from websockets.asyncio.client import ClientConnection, connect

from duologue.brains.scripted import ScriptedBrain
from duologue.lab.sim.loopback_server import serving
from duologue.lab.sim.scripted_carrier import ScriptedCarrier
from duologue.lines.phone.carriers import CARRIERS, Carrier
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.server.phone.routes import PhoneSettings, phone_routes
from duologue.voice.scripted import ScriptedVoice
from tests.limits import WAIT_S


def make_agent() -> Agent:
    return Agent(
        ScriptedBrain(otherwise="Thank you very much."),
        voice=ScriptedVoice(char_ms=15),
        profile="words",
        phrases=Phrases(greeting="Hello."),
    )


class Phones:
    """A server with phone routes, and its conversations."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.conversations: list[Conversation] = []

    async def post(
        self, path: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        body = urllib.parse.urlencode(form or {}).encode()
        request = urllib.request.Request(self.url + path, body, headers or {}, method="POST")
        return await asyncio.to_thread(_fetch, request)

    async def token(self, carrier: Carrier, call: str = "CA0001") -> str:
        """A token, as a carrier gets it from a webhook."""
        path = "/phone/twilio/voice" if carrier.name == "twilio" else "/phone/telnyx/texml"
        status, answer = await self.post(path, {"CallSid": call})
        assert status == 200
        stream = ElementTree.fromstring(answer).find("Connect/Stream")
        assert stream is not None
        parameter = stream.find("Parameter")
        if parameter is not None:
            return parameter.attrib["value"]
        return urllib.parse.parse_qs(urllib.parse.urlsplit(stream.attrib["url"]).query)["token"][0]

    def connect(self, carrier: Carrier, query: str = "") -> Any:
        address = self.url.replace("http", "ws", 1)
        return connect(f"{address}/phone/{carrier.name}/stream{query}", compression=None)

    @asynccontextmanager
    async def call(self, carrier: Carrier, **options: Any) -> AsyncIterator[tuple[ScriptedCarrier, ClientConnection]]:
        """Run a call with a scripted carrier."""
        token = await self.token(carrier)
        async with self.connect(carrier) as socket:
            scripted, pumping = carry(socket, carrier, {"token": token}, **options)
            scripted.connect()
            try:
                yield scripted, socket
            finally:
                scripted.end()
                pumping.cancel()


def _fetch(request: urllib.request.Request) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read().decode()


def carry(
    socket: ClientConnection, carrier: Carrier, parameters: dict[str, str], **options: Any
) -> tuple[ScriptedCarrier, asyncio.Task[None]]:
    """A scripted carrier on a socket."""
    unsent: asyncio.Queue[str] = asyncio.Queue()
    scripted = ScriptedCarrier(unsent.put_nowait, carrier, parameters, **options)

    async def write() -> None:
        while True:
            await socket.send(await unsent.get())

    async def pump() -> None:
        writing = asyncio.ensure_future(write())
        try:
            async for text in socket:
                scripted.receive(str(text))
        finally:
            scripted.end()
            writing.cancel()

    return scripted, asyncio.ensure_future(pump())


@asynccontextmanager
async def phones(agent: Callable[[], Agent] = make_agent, **changes: Any) -> AsyncIterator[Phones]:
    found: list[Phones] = []

    def routes(url: str) -> Any:
        found.append(Phones(url))
        settings = PhoneSettings(**{"public_url": url, "allow_unsigned": True, **changes})
        return phone_routes(agent, settings, found[0].conversations.append)

    async with serving(routes):
        yield found[0]


async def until(what: Callable[[], object], wait_s: float = WAIT_S) -> None:
    """Wait for a condition, by polling."""
    async with asyncio.timeout(wait_s):
        while not what():
            await asyncio.sleep(0.01)


def start_text(carrier: Carrier = CARRIERS["twilio"], token: str = "", **changes: Any) -> str:
    encoding = "audio/x-mulaw" if carrier.name == "twilio" else "PCMU"
    start = {
        carrier.call_id: "CA0001",
        carrier.parameters: {"token": token} if token else {},
        carrier.media_format: {"encoding": encoding, carrier.sample_rate: 8000},
        **changes,
    }
    return json.dumps({"event": "start", carrier.stream_id: "MZ0001", "start": start})


SECRET = "a-secret-of-twilio"


def settings(**changes: Any) -> PhoneSettings:
    return PhoneSettings(**{"public_url": "https://phone.example", "twilio_auth_token": SECRET, **changes})
