"""Clients of the Realtime protocol that do what they must not, on real sockets, while another call goes on.

Rule: each of them gets the documented error or close code, and the other call is never disturbed.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.server.realtime.routes import realtime_routes
from duologue.testing.realtime.protocol_types import problems_of_server_event
from tests.limits import TEST_S, WAIT_S
from tests.server.realtime.tone_agent import ToneEars, silence, tone, tone_agent
from tests.server.running_server import RunningServer, running_server

TOKEN = "the token of the callers"
OWN = {"Authorization": f"Bearer {TOKEN}"}


class Caller:
    """One client that reads all the time, and when each event came."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.events: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        with suppress(ConnectionClosed):
            async for text in self.socket:
                event = json.loads(text)
                assert problems_of_server_event(event) == []
                self.events.append(event)
                self._news.set()
        self._news.set()

    async def send(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def append(self, pcm: bytes) -> None:
        await self.send("input_audio_buffer.append", audio=base64.b64encode(pcm).decode())

    async def speak(self) -> None:
        """Say something, at the pace of speech."""
        pcm = tone(300) + silence(700)
        for at in range(0, len(pcm), 960):
            await self.append(pcm[at : at + 960])
            await asyncio.sleep(0.02)

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    async def until(self, kind: str, count: int = 1) -> dict[str, Any]:
        async with asyncio.timeout(WAIT_S):
            while len(self.told(kind)) < count:
                assert not self._reading.done(), f"closed before {kind}: {self.events[-3:]}"
                self._news.clear()
                await self._news.wait()
        return self.told(kind)[count - 1]

    async def close_code(self) -> int | None:
        await asyncio.wait_for(self._reading, WAIT_S)
        return self.socket.close_code


@asynccontextmanager
async def caller(made: RunningServer, key: str = TOKEN) -> AsyncIterator[Caller]:
    headers = {"Authorization": f"Bearer {key}"}
    url = f"ws://127.0.0.1:{made.port}/v1/realtime"
    async with connect(url, additional_headers=headers, ping_interval=None) as socket:
        yield Caller(socket)


def beside_another_call(work: Callable[[RunningServer, Caller], Awaitable[None]]) -> RunningServer:
    """Do this with a client, while another client speaks and is answered again and again."""
    hears = [f"question {number}" for number in range(1, 200)]

    async def whole() -> RunningServer:
        async with running_server(lambda: tone_agent(hears=hears), token=TOKEN) as made:
            made.server.add_routes(realtime_routes(made.server))
            async with caller(made) as other, caller(made) as bad:
                talking = asyncio.ensure_future(_talk(other))
                await work(made, bad)
                await other.until("response.done", len(other.told("response.done")) + 2)
                talking.cancel()
                assert other.told("error") == []
                assert {one["response"]["status"] for one in other.told("response.done")} == {"completed"}
            return made

    return run_jumping(asyncio.wait_for(whole(), TEST_S))


async def _talk(other: Caller) -> None:
    for count in range(1, 200):
        await other.speak()
        await other.until("response.done", count)
        await asyncio.sleep(1.5)  # until the answer is played


TEXT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "tell me a story"}]}
AUDIO = {"type": "audio/pcm", "rate": 16_000}
BAD: tuple[tuple[dict[str, Any], str, str | None, str], ...] = (
    ({"type": "transcription_session.update"}, "beta_api_shape_disabled", "type", "use 'session.update'"),
    ({"type": "conversation.item.created"}, "beta_api_shape_disabled", "type", "use 'conversation.item.create'"),
    ({"type": "session.update", "session": {"type": "realtime", "modalities": ["text"]}},
     "beta_api_shape_disabled", "session.modalities", "output_modalities"),
    ({"type": "session.update", "session": {"type": "realtime", "voice": "alloy"}},
     "beta_api_shape_disabled", "session.voice", "audio.output.voice"),
    ({"type": "session.update", "session": {"type": "realtime", "colour": "red"}},
     "unknown_parameter", "session.colour", "colour"),
    ({"type": "response.create", "response": {"temperature": 0.8}},
     "beta_api_shape_disabled", "response.temperature", "leave it out"),
    ({"type": "response.create", "response": {"modalities": ["text"]}},
     "beta_api_shape_disabled", "response.modalities", "output_modalities"),
    ({"type": "response.create", "respond": True}, "unknown_parameter", "respond", "respond"),
    ({"type": "session.update", "session": {"type": "realtime", "audio": {"input": {"format": AUDIO}}}},
     "invalid_value", "session.audio.input.format.rate", "24000"),
    ({"type": "session.update", "session": {"type": "realtime", "audio": {"output": {"format": AUDIO}}}},
     "invalid_value", "session.audio.output.format.rate", "24000"),
    ({"type": "input_audio_buffer.append", "audio": "AAAA"}, "invalid_value", "audio", "even"),
    ({"type": "input_audio_buffer.append", "audio": "%"}, "invalid_value", "audio", "base64"),
    ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty", None, "100ms"),
    ({"type": "conversation.item.retrieve", "item_id": "gone"}, "item_retrieve_invalid_item_id", "item_id", "exist"),
    ({"type": "conversation.item.delete", "item_id": "gone"}, "item_delete_invalid_item_id", "item_id", "exist"),
    ({"type": "conversation.item.truncate", "item_id": "gone", "content_index": 0, "audio_end_ms": 1},
     "item_truncate_invalid_item_id", "item_id", "exist"),
    ({"type": "conversation.item.create", "item": TEXT, "previous_item_id": "gone"},
     "invalid_value", "previous_item_id", "not found"),
    ({"type": "response.cancel"}, "response_cancel_not_active", None, "no active response"),
)  # fmt: skip


@pytest.mark.req("L-24")
def test_bad_events_get_their_documented_errors_and_both_conversations_go_on() -> None:
    async def work(made: RunningServer, bad: Caller) -> None:
        for number, (event, code, param, words) in enumerate(BAD, 1):
            await bad.socket.send(json.dumps({**event, "event_id": f"mine-{number}"}))
            error = (await bad.until("error", number))["error"]
            assert (error["code"], error["param"], error["event_id"]) == (code, param, f"mine-{number}"), event
            assert error["type"] == "invalid_request_error"
            assert words in error["message"], error["message"]
        await bad.send("conversation.item.create", item=TEXT)
        await bad.send("response.create")
        delta = await bad.until("response.output_audio.delta")
        await bad.send("response.create", event_id="second")
        sent = bad.told("response.output_audio.delta")
        sent_ms = sum(len(base64.b64decode(one["delta"])) for one in sent) // 48
        beyond = {"item_id": delta["item_id"], "content_index": 0, "audio_end_ms": sent_ms + 60_000}
        await bad.send("conversation.item.truncate", event_id="beyond", **beyond)
        await bad.until("error", len(BAD) + 2)
        second, truncation = [one["error"] for one in bad.told("error")[-2:]]
        assert (second["code"], second["event_id"]) == ("conversation_already_has_active_response", "second")
        assert (truncation["code"], truncation["param"]) == ("invalid_value", "audio_end_ms")
        assert (await bad.until("response.done"))["response"]["status"] == "completed"

    beside_another_call(work)


def test_a_client_that_sends_sound_at_100_times_real_time_is_told_and_most_of_it_is_ignored() -> None:
    async def work(made: RunningServer, bad: Caller) -> None:
        for _ in range(50):  # 2 s of sound every 20 ms, for a second
            await bad.append(silence(2_000))
            await asyncio.sleep(0.02)
        error = (await bad.until("error"))["error"]
        assert (error["code"], error["type"]) == ("rate_limit_exceeded", "rate_limit_error")
        await bad.send("conversation.item.create", item=TEXT)
        await bad.send("response.create")
        assert (await bad.until("response.done"))["response"]["status"] == "completed", "it is still connected"
        assert len(bad.told("error")) <= 2, "it isn't told for each piece"

    made = beside_another_call(work)
    heard = sorted(agent.ears.heard_ms for agent in made.agents if isinstance(agent.ears, ToneEars))
    assert heard[0] < 20_000, "of 100 s"


def test_a_client_that_sends_100_times_as_many_frames_is_disconnected() -> None:
    async def work(made: RunningServer, bad: Caller) -> None:
        with suppress(ConnectionClosed):
            for _ in range(5_000):
                await bad.append(silence(20))
        assert await bad.close_code() == 1008
        assert bad.told("error")[-1]["error"]["code"] == "rate_limit_exceeded"

    beside_another_call(work)


def test_a_stale_key_opens_nothing_and_a_call_that_it_opened_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(made: RunningServer, bad: Caller) -> None:
        body = b'{"expires_after": {"anchor": "created_at", "seconds": 10}}'
        answer = await made.get("/v1/realtime/client_secrets", body, **OWN)
        key = json.loads(answer.body)["value"]
        async with caller(made, key) as early:
            await early.until("session.created")
            later_s = time.time() + 11
            monkeypatch.setattr("time.time", lambda: later_s)
            with pytest.raises(InvalidStatus) as refused:
                async with caller(made, key):
                    pass
            assert refused.value.response.status_code == 401
            assert json.loads(refused.value.response.body)["error"]["code"] == "invalid_api_key"
            for path in ("/v1/realtime/calls", "/v1/realtime/client_secrets"):
                answer = await made.get(path, b"{}", Authorization=f"Bearer {key}", Content_Type="application/sdp")
                assert (answer.status, json.loads(answer.body)["error"]["code"]) == (401, "invalid_api_key")
            await early.send("conversation.item.create", item=TEXT)
            await early.send("response.create")
            await early.until("response.done")

    beside_another_call(work)
