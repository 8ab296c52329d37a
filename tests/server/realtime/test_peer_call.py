"""Whole calls over WebRTC, with a real aiortc client: spoken turns, an interruption, a tool, a path that breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from duologue.lab.sim.lossy_network import LossyNetwork, run_lossy
from duologue.server.realtime.routes import realtime_routes
from tests.lines.webrtc.aiortc_client import tone
from tests.server.realtime.client_script import WEATHER
from tests.server.realtime.tone_agent import WORD_MS, tone_agent
from tests.server.realtime.webrtc_client import WebRtcClient
from tests.server.running_server import RunningServer, running_server

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


def call(
    talk: Callable[[WebRtcClient, RunningServer], Awaitable[None]],
    hears: list[str],
    network: LossyNetwork | None = None,
) -> WebRtcClient:
    async def run() -> WebRtcClient:
        async with running_server(lambda: tone_agent(hears=hears)) as made:
            made.server.add_routes(realtime_routes(made.server))
            client = WebRtcClient()
            try:
                await client.call(made)
                await talk(client, made)
            finally:
                await client.close()
            return client

    return run_lossy(asyncio.wait_for(run(), 120), network or LossyNetwork())


@pytest.mark.req("L-24")
@pytest.mark.parametrize("network", [LossyNetwork(), LossyNetwork(0.10, 80)], ids=["good network", "loss and jitter"])
def test_a_call_with_a_turn_an_interruption_and_a_tool(network: LossyNetwork) -> None:
    async def talk(client: WebRtcClient, made: RunningServer) -> None:
        client.send("session.update", session={"type": "realtime", "tools": [WEATHER]})
        await client.until("session.updated")
        client.microphone.pcm += tone(600, 220)
        await client.until("output_audio_buffer.stopped")
        # An interruption: what was heard is counted by packets, and the client is told.
        client.microphone.pcm += tone(600, 220)
        await client.until("output_audio_buffer.started", 2)
        await asyncio.sleep(1.0)
        client.microphone.pcm += tone(600, 220)
        cleared = await client.until("output_audio_buffer.cleared")
        assert cleared["response_id"] == client.told("output_audio_buffer.started")[1]["response_id"]
        truncated = await client.until("conversation.item.truncated")
        assert 500 < truncated["audio_end_ms"] < 40 * WORD_MS
        # A tool, after the answer to what interrupted.
        await client.until("output_audio_buffer.stopped", 2)
        client.microphone.pcm += tone(600, 220)
        made_call = await client.until("response.function_call_arguments.done")
        output = {"type": "function_call_output", "call_id": made_call["call_id"], "output": "sun"}
        client.send("conversation.item.create", item=output)
        client.send("response.create")
        await client.until("output_audio_buffer.stopped", 3)

    client = call(talk, ["good morning", "tell me a story", "stop please now", "the weather"], network)
    assert (network.sound_lost > 0, network.other_lost > 0) == (network.loss > 0, network.loss > 0)
    assert client.told("error") == []
    assert client.told("response.output_audio.delta") == []
    words = [event["transcript"] for event in client.told("response.output_audio_transcript.done")]
    assert words[0] == "You said good morning."
    assert words[-1] == "The tool says sun."
    assert len(bytes(client.peer.heard).replace(b"\0", b"")) > 48_000  # it was heard


def test_output_audio_buffer_clear_stops_the_agent() -> None:
    async def talk(client: WebRtcClient, made: RunningServer) -> None:
        client.send("conversation.item.create", item=_said("Tell me a story."))
        client.send("response.create")
        await client.until("output_audio_buffer.started")
        client.send("output_audio_buffer.clear")
        await client.until("output_audio_buffer.cleared")
        truncated = await client.until("conversation.item.truncated")
        assert truncated["audio_end_ms"] < 2_000

    call(talk, [])


def _said(text: str) -> dict[str, object]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
