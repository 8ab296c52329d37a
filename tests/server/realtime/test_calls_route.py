"""Requests for calls over WebRTC that can't be made, hang-ups, and pages of other origins."""

from __future__ import annotations

import asyncio
import json
import logging
import urllib.request
from typing import Any

import pytest

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.server.realtime.routes import realtime_routes
from duologue.server.settings import WebRtcSettings
from tests.lines.webrtc.aiortc_client import AiortcClient, tone, unreachable
from tests.server.noted_siblings import SiblingsWith
from tests.server.realtime.tone_agent import tone_agent
from tests.server.realtime.webrtc_client import WebRtcClient
from tests.server.running_server import Answer, RunningServer, running_server

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
TOKEN = "the token of the callers"
OWN = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/sdp"}
NO_OPUS = b"v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=rtpmap:0 PCMU/8000\r\n"


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


def run(work: Any, make: Any = None, **settings: Any) -> None:
    async def whole() -> None:
        async with running_server(make, token=TOKEN, **settings) as made:
            made.server.add_routes(realtime_routes(made.server))
            await work(made)

    run_jumping(asyncio.wait_for(whole(), 60))


async def post(made: RunningServer, body: bytes, path: str = "", **headers: str) -> Answer:
    return await made.get(f"/v1/realtime/calls{path}", body, **{**OWN, **headers})


def code_of(answer: Answer) -> tuple[int, str]:
    return answer.status, json.loads(answer.body)["error"]["code"]


def test_a_call_that_cannot_be_made_gets_the_error_of_the_protocol_and_leaves_nothing_behind() -> None:
    async def work(made: RunningServer) -> None:
        assert code_of(await post(made, b"")) == (400, "invalid_offer")
        assert code_of(await post(made, b"no sdp")) == (400, "invalid_offer")
        assert code_of(await post(made, b"v=0\r\n")) == (400, "no_audio")
        assert code_of(await post(made, NO_OPUS)) == (400, "no_opus")
        assert code_of(await post(made, NO_OPUS.replace(b"PCMU/8000", b"opus/48000/2"))) == (400, "invalid_offer")
        assert code_of(await post(made, b"x" * 300_000)) == (413, "invalid_offer")
        assert code_of(await post(made, b"{}", Content_Type="application/json")) == (400, "invalid_content_type")
        assert code_of(await post(made, b"v=0", Authorization="Bearer wrong")) == (401, "invalid_api_key")
        assert code_of(await post(made, b"v=0", Origin="https://evil.example")) == (403, "invalid_origin")
        assert len(made.conversations.starts) == 0

    run(work)


def test_a_server_without_webrtc_says_what_to_do() -> None:
    async def work(made: RunningServer) -> None:
        answer = await post(made, b"v=0")
        assert code_of(answer) == (501, "unsupported_parameter")
        assert b"WebSocket" in answer.body

    run(work, webrtc=WebRtcSettings(enabled=False))


def test_an_address_has_only_so_many_calls_and_the_key_that_made_one_ends_it() -> None:
    async def work(made: RunningServer) -> None:
        client = AiortcClient()
        try:
            offer = (await client.offer()).encode()
            answer = await post(made, offer)
            assert answer.status == 201
            assert code_of(await post(made, offer)) == (429, "rate_limit_exceeded")
            path = answer.headers["location"].removeprefix("/v1/realtime/calls")
            assert code_of(await post(made, b"", f"{path}/hangup", Authorization="Bearer other")) == (
                404,
                "call_not_found",
            )
            assert (await post(made, b"", f"{path}/hangup")).status == 200
            async with asyncio.timeout(20):
                while (await post(made, b"", f"{path}/hangup")).status == 200:
                    await asyncio.sleep(0.01)
            assert (await post(made, offer)).status == 201  # there is a place again
        finally:
            await client.close()

    run(work, sockets_per_address_max=1)


def test_the_log_has_no_address_of_a_client(caplog: pytest.LogCaptureFixture) -> None:
    async def work(made: RunningServer) -> None:
        client = WebRtcClient()
        try:
            path = await client.call(made, Authorization=f"Bearer {TOKEN}")
            await client.until("session.created")
            await made.get(f"{path}/hangup", b"", **OWN)
            async with asyncio.timeout(20):
                while "has ended" not in caplog.text:
                    await asyncio.sleep(0.01)
        finally:
            await client.close()

    with caplog.at_level(logging.INFO):
        run(work)
    assert "127.0.0.1" not in caplog.text


def test_a_call_can_be_made_and_ended_at_the_path_of_azure() -> None:
    async def work(made: RunningServer) -> None:
        client = AiortcClient()
        try:
            answer = await made.get("/openai/v1/realtime/calls", (await client.offer()).encode(), **OWN)
            assert answer.status == 201
            path = answer.headers["location"]
            assert path.startswith("/openai/v1/realtime/calls/rtc_")
            assert (await made.get(f"{path}/hangup", b"", **OWN)).status == 200
        finally:
            await client.close()

    run(work)


def test_the_process_that_has_a_call_gets_the_request_to_end_it_and_knows_of_its_calls() -> None:
    siblings = SiblingsWith("rtc_there")

    async def work(made: RunningServer) -> None:
        assert code_of(await post(made, b"{}", "/rtc_nowhere/hangup")) == (404, "call_not_found")
        assert siblings.given == []
        assert code_of(await post(made, b"{}", "/rtc_there/hangup")) == (404, "call_not_found")
        assert siblings.given == [("/v1/realtime/calls/rtc_there/hangup", b"{}")]
        client = AiortcClient()
        try:
            answer = await post(made, (await client.offer()).encode())
            call_id = answer.headers["location"].rpartition("/")[2]
            assert siblings.told == [("begun", "")]
            await post(made, b"", f"/{call_id}/hangup")
            async with asyncio.timeout(20):
                while len(siblings.told) < 2:
                    await asyncio.sleep(0.01)
            assert siblings.told[1] == ("forgotten", call_id)
        finally:
            await client.close()

    run(work, siblings=siblings)


def test_a_call_whose_ice_fails_ends_frees_its_place_and_leaves_other_calls_alone() -> None:
    async def work(made: RunningServer) -> None:
        other, failing, third = WebRtcClient(), AiortcClient(), AiortcClient()
        failing.open_channel("oai-events")
        try:
            await other.call(made, Authorization=f"Bearer {TOKEN}")
            answer = await post(made, unreachable(await failing.offer()).encode())
            assert answer.status == 201
            path = answer.headers["location"].removeprefix("/v1/realtime/calls")
            await failing.accept(unreachable(answer.body.decode()))
            offer = (await third.offer()).encode()
            assert code_of(await post(made, offer)) == (429, "rate_limit_exceeded")
            for count in range(1, 4):
                other.microphone.pcm += tone(600, 220)
                await other.until("output_audio_buffer.stopped", count)
            async with asyncio.timeout(20):
                while (await post(made, offer)).status == 429:  # until the place of the failed call is free
                    await asyncio.sleep(1)
            assert code_of(await post(made, b"", f"{path}/hangup")) == (404, "call_not_found")
            assert failing.connection.connectionState != "connected"
            assert other.told("error") == []
        finally:
            for client in (failing, third, other):
                await client.close()

    hears = ["good morning", "one more thing", "that is all"]
    run(work, lambda: tone_agent(hears=hears), sockets_per_address_max=2)


def test_a_page_of_an_allowed_origin_may_call() -> None:
    async def work(made: RunningServer) -> None:
        def ask(origin: str) -> Any:
            url = f"http://127.0.0.1:{made.port}/v1/realtime/calls"
            request = urllib.request.Request(url, method="OPTIONS", headers={"Origin": origin})
            return urllib.request.urlopen(request, timeout=20)

        answer = await asyncio.to_thread(ask, "https://shop.example")
        assert answer.status == 204
        assert answer.headers["access-control-allow-origin"] == "https://shop.example"
        with pytest.raises(urllib.error.HTTPError, match="403"):
            await asyncio.to_thread(ask, "https://evil.example")

    run(work, origins=("https://shop.example",))
