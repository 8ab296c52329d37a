"""Sockets of the Realtime protocol: who may connect, how much, and with the real `openai` client."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duologue import Agent
from duologue.fairness.bucket import Rate
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports.brain import LastWords, Request
from duologue.ports.context import Context
from duologue.runtime.agent_source import AgentSource
from duologue.server.realtime.routes import realtime_routes
from duologue.server.tickets import make_ticket
from duologue.testing import ScriptedBrain
from duologue.testing.realtime.protocol_types import problems_of_server_event
from tests.limits import TEST_S, WAIT_S
from tests.server.realtime.client_script import WEATHER
from tests.server.realtime.tone_agent import silence, tone, tone_agent
from tests.server.running_server import RunningServer, running_server

TOKEN, KEY = "the token of the callers", "the key of the tickets"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def in_real_time(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """A test that runs in an event loop of its own."""

    @wraps(test)
    def run() -> None:
        run_jumping(test())

    return run


@asynccontextmanager
async def serving(make: Callable[[], Agent] = tone_agent, **given: Any) -> AsyncIterator[RunningServer]:
    async with asyncio.timeout(TEST_S), running_server(make, **given) as made:
        made.server.add_routes(realtime_routes(made.server))
        yield made


class Raw:
    """A client without a library."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, **event: Any) -> None:
        await self.socket.send(json.dumps(event))

    async def until(self, kind: str) -> dict[str, Any]:
        async with asyncio.timeout(WAIT_S):
            while True:
                event: dict[str, Any] = json.loads(await self.socket.recv())
                assert problems_of_server_event(event) == []
                if event["type"] == kind:
                    return event

    async def closed(self) -> int | None:
        async with asyncio.timeout(WAIT_S):
            with suppress(ConnectionClosed):
                while True:
                    await self.socket.recv()
        return self.socket.close_code


@asynccontextmanager
async def raw(made: RunningServer, path: str = "/v1/realtime", **more: Any) -> AsyncIterator[Raw]:
    async with connect(f"ws://127.0.0.1:{made.port}{path}", ping_interval=None, **more) as socket:
        yield Raw(socket)


async def status_of(made: RunningServer, path: str = "/v1/realtime", **more: Any) -> tuple[int, str]:
    """The status and the error's code of a socket that isn't opened."""
    with pytest.raises(InvalidStatus) as why:
        async with raw(made, path, **more):
            pass
    answer = why.value.response
    return answer.status_code, json.loads(answer.body)["error"]["code"]


def bearer(key: str) -> dict[str, Any]:
    return {"additional_headers": {"Authorization": f"Bearer {key}"}}


# -- Admission


@in_real_time
async def test_the_key_may_be_a_token_a_ticket_or_a_short_lived_key() -> None:
    async with serving(token=TOKEN, ticket_key=KEY) as made:
        answer = await made.get("/v1/realtime/client_secrets", b"{}", Authorization=f"Bearer {TOKEN}")
        assert answer.status == 200
        secret = json.loads(answer.body)["value"]
        for key in (TOKEN, make_ticket(KEY), secret):
            async with raw(made, **bearer(key)) as client:
                await client.until("session.created")
        async with raw(made, additional_headers={"api-key": TOKEN}, path="/openai/v1/realtime") as client:
            await client.until("session.created")
        protocols = ["realtime", f"openai-insecure-api-key.{secret}"]
        async with raw(made, subprotocols=protocols) as client:
            assert client.socket.subprotocol == "realtime"
            await client.until("session.created")


@in_real_time
async def test_without_a_key_the_socket_isnt_opened() -> None:
    async with serving(token=TOKEN, ticket_key=KEY) as made:
        over = make_ticket(KEY, now_s=0)
        for more in ({}, bearer("wrong"), bearer(over), bearer("ek_" + make_ticket(KEY))):
            assert await status_of(made, **more) == (401, "invalid_api_key")


@in_real_time
async def test_pages_of_another_origin_may_not_connect() -> None:
    async with serving() as made:
        assert await status_of(made, origin="https://evil.example") == (403, "invalid_origin")  # type: ignore[arg-type]
        assert await status_of(made, "/v1/realtime?call_id=rtc_1") == (400, "unsupported_parameter")
        assert await status_of(made, "/v1/realtime?intent=transcription") == (400, "unsupported_parameter")


@in_real_time
async def test_an_address_has_so_many_sockets_and_starts() -> None:
    async with serving(sockets_per_address_max=2) as made, raw(made), raw(made):
        assert await status_of(made) == (429, "rate_limit_exceeded")
    async with serving(starts=Rate(1, 60_000, 1)) as made, raw(made) as one, raw(made) as two:
        await one.send(type="response.create")
        await one.until("response.done")
        await two.send(type="response.create")
        assert (await two.until("error"))["error"]["code"] == "rate_limit_exceeded"
        assert await two.closed() == 1013


@in_real_time
async def test_conversations_of_both_protocols_count_together() -> None:
    async with serving(conversations_per_address_max=1) as made, raw(made) as one, raw(made) as two:
        await one.send(type="response.create")
        await one.until("response.created")
        assert len(made.conversations.starts) == 1
        await two.send(type="response.create")
        assert (await two.until("error"))["error"]["code"] == "rate_limit_exceeded"
        await one.socket.close()
        await made.until(lambda: not len(made.conversations.starts))


# -- Bad input


@in_real_time
async def test_a_client_that_sends_nonsense_is_told_and_then_disconnected_and_others_talk_on() -> None:
    async with serving(bad_messages_max=3) as made, raw(made) as bad, raw(made) as good:
        await good.send(type="response.create")
        for text in ("no", "{}", b"\x00"):
            await bad.socket.send(text)
        assert (await bad.until("error"))["error"]["code"] == "invalid_json"
        assert await bad.closed() == 1008
        await good.until("response.done")


@in_real_time
async def test_a_client_that_sends_too_many_events_is_disconnected() -> None:
    async with serving(messages_per_s_max=10) as made, raw(made) as client:
        for _ in range(50):  # more messages than allowed, and fewer frames
            await client.send(type="session.update", session={"type": "realtime"})
        assert (await client.until("error"))["error"]["code"] == "rate_limit_exceeded"
        assert await client.closed() == 1008


@in_real_time
async def test_an_event_that_takes_a_second_to_parse_is_not_parsed() -> None:
    async with serving() as made, raw(made) as client:
        await client.socket.send('{"type":"session.update","more":[' + "[]," * 340_000 + "[]]}")
        assert (await client.until("error"))["error"]["code"] == "rate_limit_exceeded"
        assert await client.closed() == 1008


@in_real_time
async def test_a_silent_client_is_disconnected() -> None:
    async with serving(silent_s_max=0.05) as made, raw(made) as client:
        assert (await client.until("error"))["error"]["code"] == "session_idle"
        assert await client.closed() == 1008


@in_real_time
async def test_a_server_that_stops_invites_the_client_to_come_back() -> None:
    async with serving() as made, raw(made) as client:
        await client.send(type="response.create")
        await client.until("response.done")
        draining = asyncio.ensure_future(made.conversations.drain())
        assert await client.closed() == 1012
        await draining
        assert (await status_of(made))[0] == 503


@in_real_time
async def test_a_function_that_chooses_the_agent_gets_the_model_of_the_url_or_of_the_deployment() -> None:
    asked = []

    def choose(context: Context[Any]) -> Agent:
        asked.append((context.info.line, context.info.model))
        return tone_agent()

    async with serving() as made:
        made.server.conversations.source = AgentSource(choose)
        for path in ("/v1/realtime?model=sales", "/openai/realtime?deployment=support", "/v1/realtime"):
            async with raw(made, path) as client:
                told = await client.until("session.created")
                assert told["session"]["model"] == asked[-1][1]
    assert asked == [("realtime", "sales"), ("realtime", "support"), ("realtime", "")]


@in_real_time
async def test_an_agent_that_ends_the_conversation_closes_the_socket() -> None:
    def agent() -> Agent:
        return tone_agent(lambda request: LastWords("Bye."))

    async with serving(agent) as made, raw(made) as client:
        await client.send(type="response.create")
        await client.until("response.done")
        assert await client.closed() == 1000
        await made.until(lambda: not len(made.conversations.starts))


# -- The real client


class Events:
    """The events that the real client reads."""

    def __init__(self, connection: AsyncRealtimeConnection) -> None:
        self.connection = connection
        self.seen: list[Any] = []
        self._news = asyncio.Event()
        self.reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async for event in self.connection:
            assert problems_of_server_event(event.to_dict()) == []
            self.seen.append(event)
            self._news.set()

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.seen if event.type == kind]

    async def expect(self, kind: str, after: int = 0) -> Any:
        async with asyncio.timeout(WAIT_S):
            while len(self.of(kind)) <= after:
                assert not self.reading.done(), self.reading
                self._news.clear()
                await self._news.wait()
        return self.of(kind)[after]


async def speak(connection: AsyncRealtimeConnection, ms: int = 200, quiet_ms: int = 400) -> None:
    for pcm in [tone(20)] * (ms // 20) + [silence(20)] * (quiet_ms // 20):
        await connection.input_audio_buffer.append(audio=base64.b64encode(pcm).decode())
        await asyncio.sleep(0.02)


@pytest.mark.req("L-24")
@in_real_time
async def test_the_python_client_talks_interrupts_truncates_and_runs_a_function() -> None:
    hears = ["tell me a story", "stop it now please", "what is the weather"]
    async with serving(lambda: tone_agent(hears=hears), token=TOKEN) as made:
        client = AsyncOpenAI(api_key=TOKEN, base_url=f"http://127.0.0.1:{made.port}/v1")
        secret = await client.realtime.client_secrets.create(
            session={"type": "realtime", "instructions": "From the key."}
        )
        client = AsyncOpenAI(api_key=secret.value, base_url=f"http://127.0.0.1:{made.port}/v1")
        async with client.realtime.connect(model="ada") as connection:
            events = Events(connection)
            turns: Any = {"type": "server_vad", "silence_duration_ms": 200}
            tools: Any = [WEATHER]
            await connection.session.update(
                session={"type": "realtime", "tools": tools, "audio": {"input": {"turn_detection": turns}}}
            )
            updated = await events.expect("session.updated")
            assert (updated.session.model, updated.session.instructions) == ("ada", "From the key.")
            await speak(connection)
            first = await events.expect("response.output_audio.delta")
            await asyncio.sleep(0.5)
            await speak(connection)
            cut = await events.expect("response.done")
            assert cut.response.status_details.reason == "turn_detected"
            played_ms = events.of("conversation.item.truncated")
            if not played_ms:
                await connection.conversation.item.truncate(item_id=first.item_id, content_index=0, audio_end_ms=400)
            truncated = await events.expect("conversation.item.truncated")
            assert truncated.item_id == first.item_id
            await events.expect("response.done", 1)
            await speak(connection)
            called = await events.expect("response.function_call_arguments.done")
            await connection.conversation.item.create(
                item={"type": "function_call_output", "call_id": called.call_id, "output": "sunny"}
            )
            await connection.response.create()
            done = await events.expect("response.output_audio_transcript.done", 2)
            assert done.transcript == "The tool says sunny."
            assert events.of("error") == []
            events.reading.cancel()
        requests = _requests(made)
        assert requests[0].instructions == "From the key."


def _requests(made: RunningServer) -> list[Request]:
    brains = [agent.brain for agent in made.agents]
    return [request for brain in brains if isinstance(brain, ScriptedBrain) for request in brain.requests]


@in_real_time
async def test_the_python_client_for_azure_connects() -> None:
    async with serving(token=TOKEN) as made:
        client = AsyncAzureOpenAI(
            api_key=TOKEN,
            api_version="2025-04-01",
            azure_endpoint=f"http://127.0.0.1:{made.port}",
            websocket_base_url=f"ws://127.0.0.1:{made.port}/openai",
        )
        async with client.realtime.connect(model="ada") as connection:
            event = await connection.recv()
            assert event.type == "session.created"
