"""The signalling of clients over WebRTC, with a real aiortc client."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

import pytest

from duologue.server.rtvi.routes import rtvi_routes
from tests.limits import WAIT_S
from tests.lines.webrtc.aiortc_client import AiortcClient, unreachable
from tests.server.noted_siblings import SiblingsWith
from tests.server.realtime.tone_agent import tone_agent
from tests.server.running_server import RunningServer, serve

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
TOKEN = "the token of the callers"


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


async def ask(made: RunningServer, body: Any, **headers: str) -> tuple[int, Any]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = await made.get("/rtvi/offer", data, **headers)
    return answer.status, json.loads(answer.body)


async def send_addresses(made: RunningServer, pc_id: str) -> int:
    def patch() -> int:
        url = f"http://127.0.0.1:{made.port}/rtvi/offer"
        body = json.dumps({"pc_id": pc_id, "candidates": [{"candidate": "candidate:1"}]}).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(url, body, method="PATCH"), timeout=WAIT_S) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as why:
            return int(why.code)

    return await asyncio.to_thread(patch)


def test_a_client_connects_gets_its_answer_and_leaves() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        client = AiortcClient()
        channel, messages = client.open_channel("chat"), asyncio.Queue[Any]()
        channel.on("message", lambda text: messages.put_nowait(json.loads(text)))
        opened = asyncio.Event()
        channel.on("open", opened.set)
        status, answer = await ask(made, {"sdp": await client.offer(), "type": "offer", "pc_id": None})
        assert (status, answer["type"]) == (200, "answer")
        assert await send_addresses(made, answer["pc_id"]) == 200
        assert await send_addresses(made, "another") == 404
        await client.accept(answer["sdp"])
        await asyncio.wait_for(opened.wait(), WAIT_S)

        async def until(kind: str) -> Any:
            async with asyncio.timeout(WAIT_S):
                while (message := await messages.get())["type"] != kind:
                    pass
            return message.get("data")

        def send(kind: str, data: Any) -> None:
            channel.send(json.dumps({"label": "rtvi-ai", "type": kind, "id": "m", "data": data}))

        send("client-ready", {"version": "2.1.0"})
        assert (await until("bot-ready"))["version"] == "2.1.0"
        send("send-text", {"content": "hi"})
        assert await until("bot-transcription") == {"text": "You said hi."}
        status, body = await ask(made, {"sdp": "v=0", "type": "offer", "pc_id": answer["pc_id"]})
        assert (status, "restart_pc" in body["detail"]) == (400, True)
        send("disconnect-bot", {})
        await until("signalling")
        await client.close()
        await made.until(lambda: len(made.server.conversations.starts) == 0)

    serve(talk, tone_agent)


def test_what_isnt_an_offer_is_refused_and_leaves_nothing_behind() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        for body, status in (
            (b"no", 400),
            (b"[]", 400),
            ({"type": "offer"}, 400),
            ({"sdp": "v=0", "type": "answer"}, 400),
            ({"sdp": "nonsense", "type": "offer"}, 400),
            ({"sdp": "v=0\r\nm=video 9 x 96", "type": "offer"}, 400),
            ({"sdp": "v=0", "type": "offer", "pc_id": "gone", "restart_pc": True}, 404),
            (b" " * 100_000, 413),
        ):
            assert (await ask(made, body))[0] == status, body
        assert len(made.server.conversations.starts) == 0
        for _ in range(3):
            assert (await ask(made, {"sdp": "nonsense", "type": "offer"}))[0] == 400, "no place is lost"

    serve(talk, tone_agent, sockets_per_address_max=1)


def test_the_process_that_has_a_connection_gets_what_is_about_it_and_knows_of_its_connections() -> None:
    siblings = SiblingsWith("there")

    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        again = {"sdp": "v=0", "type": "offer", "pc_id": "there", "restart_pc": True}
        assert (await ask(made, {**again, "pc_id": "nowhere"}))[0] == 404
        assert siblings.given == []
        assert (await ask(made, again))[0] == 404
        assert await send_addresses(made, "there") == 404
        assert [path for path, _ in siblings.given] == ["/rtvi/offer", "/rtvi/offer"]
        assert json.loads(siblings.given[0][1]) == again
        client = AiortcClient()
        _, answer = await ask(made, {"sdp": await client.offer(), "type": "offer"})
        assert siblings.told == [("begun", "")]
        assert await send_addresses(made, answer["pc_id"]) == 200
        assert len(siblings.given) == 2, "it is here"
        await client.accept(answer["sdp"])
        await client.close()
        await made.until(lambda: siblings.told[1:] == [("forgotten", answer["pc_id"])])

    serve(talk, tone_agent, siblings=siblings)


class RtviClient:
    """A client with a data channel, and everything that it was told."""

    def __init__(self) -> None:
        self.peer = AiortcClient()
        self.told: list[Any] = []
        self._opened, self._news = asyncio.Event(), asyncio.Event()
        self._channel = self.peer.open_channel("chat")
        self._channel.on("message", self._take)
        self._channel.on("open", self._opened.set)

    def _take(self, text: str) -> None:
        self.told.append(json.loads(text))
        self._news.set()

    async def connect(self, made: RunningServer) -> None:
        _, answer = await ask(made, {"sdp": await self.peer.offer(), "type": "offer"})
        await self.peer.accept(answer["sdp"])
        await asyncio.wait_for(self._opened.wait(), WAIT_S)
        self.send("client-ready", {"version": "2.1.0"})

    def send(self, kind: str, data: Any) -> None:
        self._channel.send(json.dumps({"label": "rtvi-ai", "type": kind, "id": "m", "data": data}))

    async def until(self, kind: str, count: int = 1) -> Any:
        async with asyncio.timeout(WAIT_S):
            while len(found := [one for one in self.told if one["type"] == kind]) < count:
                self._news.clear()
                await self._news.wait()
        return found[count - 1].get("data")


def test_a_client_whose_ice_fails_is_forgotten_and_other_calls_go_on() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        other, failing, third = RtviClient(), AiortcClient(), AiortcClient()
        failing.open_channel("chat")
        try:
            await other.connect(made)
            status, answer = await ask(made, {"sdp": unreachable(await failing.offer()), "type": "offer"})
            assert status == 200
            await failing.accept(unreachable(answer["sdp"]))
            offer = {"sdp": await third.offer(), "type": "offer"}
            assert (await ask(made, offer))[0] == 429
            for count in range(1, 4):
                other.send("send-text", {"content": "hi"})
                await other.until("bot-stopped-speaking", count)
            async with asyncio.timeout(WAIT_S):
                while (await ask(made, offer))[0] == 429:  # until the place of the failed client is free
                    await asyncio.sleep(1)
            again = {"sdp": await third.offer(), "type": "offer", "pc_id": answer["pc_id"], "restart_pc": True}
            status, body = await ask(made, again)
            assert (status, body["detail"]) == (404, "This connection doesn't exist any more: connect again.")
            assert [one for one in other.told if one["type"] == "error"] == []
        finally:
            for client in (failing, third, other.peer):
                await client.close()

    serve(talk, tone_agent, sockets_per_address_max=2)


def test_the_signalling_needs_the_key_and_an_own_page() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        assert (await ask(made, {}))[0] == 401
        assert (await ask(made, {}, Authorization="Bearer wrong"))[0] == 401
        assert (await ask(made, {}, Authorization=f"Bearer {TOKEN}"))[0] == 400
        assert (await ask(made, {}, Authorization=f"Bearer {TOKEN}", Origin="https://evil.example"))[0] == 403

    serve(talk, tone_agent, token=TOKEN)
