"""WebSockets of RTVI clients: who may connect, how much, and what isn't taken."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duologue.server.rtvi.frames import AudioOfClient, TextOfClient, audio_frame, message_frame, read_frame
from duologue.server.rtvi.routes import rtvi_routes
from duologue.server.tickets import make_ticket
from tests.limits import WAIT_S
from tests.server.realtime.tone_agent import silence, tone, tone_agent
from tests.server.rtvi.message_types import problems_of_message
from tests.server.running_server import RunningServer, serve

TOKEN, KEY = "the token of the callers", "the key of the tickets"


class RawRtvi:
    """A client without a library."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.sound_bytes = 0

    async def send(self, kind: str, data: Any = None, id_: str = "m1") -> None:
        await self.socket.send(message_frame(json.dumps({"label": "rtvi-ai", "type": kind, "id": id_, "data": data})))

    async def until(self, kind: str) -> Any:
        """The data of the next message of this type."""
        async with asyncio.timeout(WAIT_S):
            while True:
                data = await self.socket.recv()
                assert isinstance(data, bytes)
                frame = read_frame(data)
                if isinstance(frame, AudioOfClient):
                    self.sound_bytes += len(frame.pcm)
                elif isinstance(frame, TextOfClient):
                    message = json.loads(frame.json)
                    assert problems_of_message(message) == []
                    if message["type"] == kind:
                        return message.get("data")

    async def ready(self) -> Any:
        await self.send("client-ready", {"version": "2.1.0", "about": {"library": "a test"}}, "ready")
        return await self.until("bot-ready")

    async def closed(self) -> int | None:
        async with asyncio.timeout(WAIT_S):
            with suppress(ConnectionClosed):
                while True:
                    await self.socket.recv()
        return self.socket.close_code


@asynccontextmanager
async def raw(made: RunningServer, query: str = "", **more: Any) -> AsyncIterator[RawRtvi]:
    async with connect(f"ws://127.0.0.1:{made.port}/rtvi{query}", ping_interval=None, proxy=None, **more) as socket:
        yield RawRtvi(socket)


async def status_of(made: RunningServer, query: str = "", **more: Any) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as why:
        async with raw(made, query, **more):
            pass
    answer = why.value.response
    return answer.status_code, json.loads(answer.body)["detail"]


def run(script: Callable[[RunningServer], Awaitable[None]], **given: Any) -> None:
    async def whole(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        await script(made)

    serve(whole, tone_agent, **given)


def test_a_spoken_turn_over_a_real_socket() -> None:
    async def script(made: RunningServer) -> None:
        async with raw(made) as client:
            await client.ready()
            assert {call.call_context.line for call in made.conversations.calls} == {"rtvi"}
            for piece in [tone(300, 16_000), *[silence(100, 16_000)] * 7]:
                await client.socket.send(audio_frame(piece, 16_000))
            assert (await client.until("user-llm-text"))["text"] == "hello there"
            await client.until("bot-started-speaking")
            await client.until("bot-stopped-speaking")
            assert client.sound_bytes == 4 * 120 * 48
            await client.send("disconnect-bot", {})
            assert await client.closed() == 1000

    run(script)


def test_sound_of_another_rate_is_heard() -> None:
    async def script(made: RunningServer) -> None:
        async with raw(made) as client:
            await client.ready()
            for piece in [tone(300, 48_000), *[silence(100, 48_000)] * 7]:
                await client.socket.send(audio_frame(piece, 48_000))
            await client.until("user-llm-text")

    run(script)


def test_tickets_and_short_keys_open_a_socket_and_the_token_in_a_url_doesnt() -> None:
    async def script(made: RunningServer) -> None:
        answer = await made.get("/rtvi/connect", b"{}", Authorization=f"Bearer {TOKEN}")
        key = json.loads(answer.body)["token"]
        for given in (key, make_ticket(KEY)):
            async with raw(made, f"?token={given}") as client:
                await client.ready()
        async with raw(made, additional_headers={"Authorization": f"Bearer {TOKEN}"}) as client:
            await client.ready()
        assert (await status_of(made))[0] == 401
        assert (await status_of(made, "?token=wrong"))[0] == 401
        status, why = await status_of(made, f"?token={TOKEN.replace(' ', '+')}")
        assert (status, "doesn't belong into a URL" in why) == (401, True)
        over = make_ticket(KEY, minutes=1, now_s=1_000)
        assert (await status_of(made, f"?token={over}"))[0] == 401

    run(script, token=TOKEN, secrets={"ticket_key": KEY})


def test_pages_of_other_origins_are_refused() -> None:
    async def script(made: RunningServer) -> None:
        assert (await status_of(made, origin="https://evil.example"))[0] == 403
        async with raw(made, origin="https://shop.example") as client:
            await client.ready()

    run(script, origins=("https://shop.example",))


BAD_FRAMES: list[tuple[bytes | str, str]] = [
    (b"\xff\xff", "This isn't a frame"),
    (b"", "This isn't a frame"),
    (b"\x0a\x02\x1a\x00", "Frames with text aren't accepted"),
    (audio_frame(bytes(320), 11_025), "one of these rates"),
    (audio_frame(bytes(321), 16_000), "odd number of bytes"),
    (message_frame("no JSON"), "isn't JSON"),
    ("text", "all frames must be binary"),
]


def test_bad_input_gets_an_error_and_other_calls_go_on() -> None:
    async def script(made: RunningServer) -> None:
        async with raw(made) as other, raw(made) as client:
            await other.ready()
            await client.ready()
            for frame, why in BAD_FRAMES:
                await client.socket.send(frame)
                told = await client.until("error")
                assert why in told["error"]
                assert told["fatal"] is False
            await client.send("nonsense", {}, "q")
            assert (await client.until("error-response"))["error"] == "Unsupported type 'nonsense'."
            for _ in range(20):
                await client.socket.send(b"\xff")
            assert await client.closed() == 1008
            await other.send("send-text", {"content": "hi"})
            assert await other.until("bot-llm-text") == {"text": "You said hi."}

    run(script)


def test_a_wrong_version_and_a_client_that_never_is_ready_are_disconnected() -> None:
    async def script(made: RunningServer) -> None:
        async with raw(made) as client:
            await client.send("client-ready", {"version": "7.0.0"})
            assert "isn't supported" in (await client.until("error"))["error"]
            assert await client.closed() == 1008
        async with raw(made) as client:
            assert (await client.until("error"))["fatal"] is True
            assert await client.closed() == 1008

    run(script, hello_s_max=0.3)


def test_a_client_that_floods_is_disconnected() -> None:
    async def script(made: RunningServer) -> None:
        async with raw(made) as client:
            await client.ready()
            with suppress(ConnectionClosed):
                for _ in range(2_000):
                    await client.socket.send(audio_frame(bytes(640), 16_000))
            assert await client.closed() == 1008

    run(script)


def test_a_message_that_takes_a_second_to_parse_is_not_parsed() -> None:
    async def script(made: RunningServer) -> None:
        async with raw(made) as client:
            await client.ready()
            await client.socket.send(message_frame('{"more":[' + "[]," * 340_000 + "[]]}"))
            assert await client.closed() == 1008

    run(script)
