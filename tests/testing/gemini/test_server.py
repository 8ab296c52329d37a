"""The scripted Gemini server gets along with Google's own client."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import pytest
from google import genai
from google.genai import types
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing.gemini import CallTool, GeminiServer, Speak
from tests.limits import WAIT_S


@pytest.mark.req("L-24")
def test_the_official_client_holds_a_whole_turn_with_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect_without_tls(uri: str, **options: Any) -> Any:  # with a key, the client insists on TLS
        return connect(uri.replace("wss://", "ws://"), additional_headers=options["additional_headers"])

    monkeypatch.setattr("google.genai.live.ws_connect", connect_without_tls)

    async def run() -> tuple[GeminiServer, str, int, str]:
        script = [[Speak("It is sunny.", ms=200), CallTool("look", {"place": "Rome"}, "c1")], Speak("Bye.", ms=400)]
        async with asyncio.timeout(WAIT_S), GeminiServer(script, hears=["hello"]) as server:
            base = server.url.partition("/ws/")[0].replace("ws://", "http://")
            client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=base))
            off = types.AutomaticActivityDetection(disabled=True)
            config = types.LiveConnectConfig(
                response_modalities=[types.Modality.AUDIO],
                realtime_input_config=types.RealtimeInputConfig(automatic_activity_detection=off),
                input_audio_transcription=types.AudioTranscriptionConfig(),
                session_resumption=types.SessionResumptionConfig(),
            )
            heard, words, size = "", "", 0
            async with client.aio.live.connect(model="m", config=config) as session:
                await session.send_realtime_input(activity_start=types.ActivityStart())
                pcm = types.Blob(data=bytes(3_200), mime_type="audio/pcm;rate=16000")
                await session.send_realtime_input(audio=pcm)
                await session.send_realtime_input(activity_end=types.ActivityEnd())
                done = False
                while not done:
                    async for message in session.receive():
                        said: Any = message.server_content
                        if said and said.input_transcription:
                            heard += said.input_transcription.text
                        if said and said.output_transcription:
                            words += said.output_transcription.text
                        size += len(message.data or b"")
                        for call in message.tool_call.function_calls or [] if message.tool_call else []:
                            response = types.FunctionResponse(id=call.id, name=call.name, response={"output": "x"})
                            await session.send_tool_response(function_responses=[response])
                        done = bool(said and said.turn_complete)
            assert server.handshakes[0].headers["x-goog-api-key"] == "k"
            return server, heard, size, words

    server, heard, size, words = run_jumping(run())
    assert (heard, words, size) == (" hello", "It is sunny. Bye. ", 600 * 48)
    assert server.session.heard_ms == 100


def test_a_handshake_can_be_refused() -> None:
    async def run() -> None:
        async with GeminiServer() as server:
            server.refuses = [HTTPStatus.TOO_MANY_REQUESTS]
            await connect(server.url)

    with pytest.raises(InvalidStatus):
        run_jumping(run())
