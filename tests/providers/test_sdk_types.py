"""Deepgram's and Cartesia's protocols, as their own SDKs know them: `make providers`.

Every message that our ears, our voice and the scripted servers of the tests send is checked with the types of the
vendor's SDK, and the vendor's own client talks to the scripted server.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue import CartesiaVoice, DeepgramEars
from duologue.ports.ears import Commit, Final
from tests.limits import TEST_S, WAIT_S
from tests.needs import needs_package
from tests.plugins.cartesia_service import CHAR_MS, RATE_HZ, CartesiaService
from tests.plugins.deepgram_service import DeepgramService
from tests.plugins.test_ears import LOUD, LOUD_PCM, SILENT, Listening

TEXT = "Your table is booked for seven."
KEY = "secret-key"
LEGACY = {"error"}  # of Cartesia's errors, in the version of the protocol that we ask for


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


def types_of(sdk: str, module: str) -> Any:
    return needs_package(f"{sdk}.{module}", "make providers")


def unknown_fields(model: Any) -> set[str]:
    """The names of fields in a message that the SDK's types don't have."""
    found = set(model.model_extra or {})
    for name in type(model).model_fields:
        value = getattr(model, name)
        for one in value if isinstance(value, list) else [value]:
            found |= unknown_fields(one) if hasattr(one, "model_extra") else set()
    return found


def check(model: type[Any], message: dict[str, Any], allowed: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Raise ValidationError or AssertionError if this message isn't one of the SDK's type."""
    assert unknown_fields(model.model_validate(message)) <= allowed, message


# -- Deepgram


def deepgram_types() -> dict[str, Any]:
    listen = types_of("deepgram", "listen.v1.types")
    kinds = ("Results", "Metadata", "SpeechStarted", "UtteranceEnd", "Error", "Finalize", "CloseStream", "KeepAlive")
    return {kind: getattr(listen, f"ListenV1{kind}") for kind in kinds}


def test_deepgrams_types_notice_a_wrong_message() -> None:
    kinds = deepgram_types()
    with pytest.raises(ValueError, match="transaction_key"):
        check(kinds["Metadata"], {"type": "Metadata", "request_id": "r1"})
    with pytest.raises(AssertionError):
        check(kinds["Finalize"], {"type": "Finalize", "mood": 1})


def test_what_our_ears_and_the_scripted_deepgram_send_is_as_the_sdk_knows_it() -> None:
    kinds = deepgram_types()
    client = types_of("deepgram", "listen.v1.client").V1Client

    async def work() -> DeepgramService:
        async with DeepgramService(hears=("I would like two tickets.", "Yes.")) as service:
            listening = Listening(DeepgramEars(api_key=KEY, url=f"ws://127.0.0.1:{service.port}"))
            listening.audio.feed(*[LOUD] * 40, *[SILENT] * 20)
            assert (await listening.until(Final)).text == "I would like two tickets."
            listening.audio.feed(*[LOUD] * 20, Commit(2), None)
            assert (await listening.until(Final)).text == "Yes."
            await service.until(lambda: service.open == 0)
            return service

    service = run(work())
    assert {message["type"] for message in service.received} == {"Finalize", "CloseStream"}
    assert {message["type"] for message in service.sent} == {"Results", "SpeechStarted", "Metadata"}
    for message in (*service.received, *service.sent):
        check(kinds[message["type"]], message)
    known = inspect.signature(client.connect).parameters
    assert set(service.query) <= set(known)


def test_deepgrams_own_client_works_with_the_scripted_server() -> None:
    deepgram = needs_package("deepgram", "make providers")
    where = types_of("deepgram", "environment").DeepgramClientEnvironment

    async def work() -> list[Any]:
        async with DeepgramService(hears=("I would like two tickets.",)) as service:
            base, ws = f"http://127.0.0.1:{service.port}", f"ws://127.0.0.1:{service.port}"
            here = where(base=base, production=ws, agent=ws, agent_rest=base)
            client = deepgram.AsyncDeepgramClient(api_key=KEY, environment=here)
            options = {"model": "nova-3", "encoding": "linear16", "sample_rate": 16_000, "channels": 1}
            found = []
            async with client.listen.v1.connect(**options, interim_results="true") as socket:
                for _ in range(20):
                    await socket.send_media(LOUD_PCM)
                await service.until(lambda: service.sent)
                await socket.send_finalize()
                await service.until(lambda: service.finalizes)
                await socket.send_close_stream()
                async with asyncio.timeout(WAIT_S):
                    async for message in socket:
                        found.append(message)
            return found

    found = run(work())
    texts = [one.channel.alternatives[0].transcript for one in found if one.type == "Results" and one.is_final]
    assert texts == ["I would like two tickets."]
    assert found[-1].type == "Metadata"


# -- Cartesia


def test_what_our_voice_and_the_scripted_cartesia_send_is_as_the_sdk_knows_it() -> None:
    events, requests = types_of("cartesia", "types.websocket_response"), types_of("cartesia", "types")
    cancel = types_of("cartesia", "types.websocket_client_event").CancelContextRequest
    kinds = {"chunk": events.Chunk, "timestamps": events.Timestamps, "done": events.Done, "error": events.Error}

    async def work() -> CartesiaService:
        async with CartesiaService() as service:
            voice = CartesiaVoice("a-voice", api_key=KEY, url=f"ws://127.0.0.1:{service.port}")
            assert [sound async for sound in voice.speak(TEXT)]
            stream = voice.speak(TEXT)
            await anext(stream)
            service.stalls_after = 1
            await stream.aclose()
            stream = voice.speak(TEXT)
            await anext(stream)
            await stream.aclose()
            await service.until(lambda: service.cancelled)
            service.error = "no such voice"
            for service.error_without_context in (False, True):
                with pytest.raises(Exception, match="rejected the request"):
                    [sound async for sound in voice.speak(TEXT)]
            await voice.close()
            return service

    service = run(work())
    assert {message["type"] for message in service.sent} == set(kinds)
    for message in service.sent:
        check(kinds[message["type"]], message, LEGACY)
    assert any("cancel" in message for message in service.received)
    for message in service.received:
        check(cancel if "cancel" in message else requests.GenerationRequest, message)


def test_cartesias_own_client_works_with_the_scripted_server() -> None:
    cartesia = needs_package("cartesia", "make providers")

    async def work() -> list[Any]:
        async with CartesiaService() as service:
            service.key_header, service.key = "authorization", f"Bearer {KEY}"
            client = cartesia.AsyncCartesia(api_key=KEY, websocket_base_url=f"ws://127.0.0.1:{service.port}")
            async with client.tts.websocket_connect() as socket:
                context = socket.context()
                await context.send(
                    model_id="sonic-3",
                    transcript=TEXT,
                    voice={"mode": "id", "id": "a-voice"},
                    output_format={"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE_HZ},
                    add_timestamps=True,
                    continue_=False,
                )
                async with asyncio.timeout(WAIT_S):
                    return [event async for event in context.receive()]

    events = run(work())
    sound = b"".join(base64.b64decode(event.data) for event in events if event.type == "chunk")
    assert len(sound) == len(TEXT) * CHAR_MS * RATE_HZ // 1_000 * 2
    (times,) = [event.word_timestamps for event in events if event.type == "timestamps"]
    assert times.words == TEXT.split()
