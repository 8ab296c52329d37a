"""Deepgram's live transcription as ears, against a server on a local port that speaks its protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from duologue import DeepgramEars
from duologue.core.leaves import ErrorClass
from duologue.ears.deepgram import read_message
from duologue.ears.service_utterances import OnsetHeard, SilenceHeard, TextHeard
from duologue.ports import ServiceError
from duologue.ports.ears import Commit, Final, Frame, Partial, SpeechBegan, SpeechEnded
from tests.plugins.deepgram_service import DeepgramService
from tests.plugins.test_ears import LOUD, LOUD_PCM, SILENT, Listening, run


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy and the key of this machine."""
    monkeypatch.delenv("DEEPGRAM_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def ears_of(service: DeepgramService, **settings: Any) -> DeepgramEars:
    return DeepgramEars(api_key="secret-key", url=f"ws://127.0.0.1:{service.port}", **settings)


def test_speech_becomes_an_onset_partial_text_an_end_and_one_final_text() -> None:
    async def work() -> None:
        async with DeepgramService(hears=("I would like two tickets.",)) as service:
            ears = ears_of(service, extra={"keyterm": "ticket"})
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 40, *[SILENT] * 20)
            final = await listening.until(Final)
            assert final.text == "I would like two tickets."
            assert [type(one) for one in listening.heard] == [SpeechBegan, Partial, Partial, SpeechEnded, Final]
            listening.audio.feed(None)
            assert [one async for one in listening.stream] == []
            await service.until(lambda: service.open == 0)
            assert ears.usage.heard_ms == 1_200
            assert service.query["keyterm"] == "ticket"
            assert service.query["sample_rate"] == "16000"

    run(work())


@pytest.mark.req("H-15")
def test_a_final_text_after_the_commit_stays_with_its_utterance() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            listening = Listening(ears_of(service))
            listening.audio.feed(*[Frame(LOUD_PCM[:320], 8_000)] * 25)
            began = asyncio.ensure_future(listening.until(Partial))
            await service.until(lambda: service.audio_ms >= 450)
            await service.say("two tick", final=False)
            assert (await began).text == "two tick"
            listening.audio.feed(Commit(1))
            await service.until(lambda: service.finalizes == 1)
            await service.say("two tickets", final=True)
            assert await listening.until(Final) == Final("two tickets", 0.9, 1, 0.9)
            await listening.stream.aclose()
            await service.until(lambda: service.open == 0)
            assert service.query["sample_rate"] == "8000"

    run(work())


@pytest.mark.parametrize(
    ("status", "error"), [(401, ErrorClass.AUTH_FAILURE), (400, ErrorClass.INVALID_ARGS), (429, ErrorClass.RATE_LIMIT)]
)
def test_a_refused_handshake_is_classified_and_never_retried(status: int, error: ErrorClass) -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            service.refuses = [status]
            listening = Listening(ears_of(service))
            listening.audio.feed(LOUD)
            with pytest.raises(ServiceError) as raised:
                await listening.until(Final)
            assert raised.value.error is error
            assert "secret-key" not in str(raised.value)
            assert len(service.requests) == 1

    run(work())


def test_a_connection_that_breaks_fails_the_ears() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            listening = Listening(ears_of(service))
            listening.audio.feed(*[LOUD] * 10)
            waiting = asyncio.ensure_future(listening.until(Final))
            await service.until(lambda: service.audio_ms > 0)
            await service.drop()
            with pytest.raises(ServiceError) as raised:
                await waiting
            assert raised.value.error is ErrorClass.NETWORK_TIMEOUT

    run(work())


def test_audio_of_another_rate_is_refused() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            listening = Listening(ears_of(service))
            listening.audio.feed(LOUD, Frame(bytes(320), 8_000))
            with pytest.raises(ServiceError, match="with the same rate in all frames"):
                await listening.until(Final)

    run(work())


def test_without_a_key_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ServiceError, match="set DEEPGRAM_API_KEY"):
        DeepgramEars()
    monkeypatch.setenv("DEEPGRAM_API_KEY", "k")
    assert DeepgramEars(language="en-US").languages == frozenset({"en"})
    assert DeepgramEars(language="multi").languages is None
    with pytest.raises(ServiceError, match="set DEEPGRAM_API_KEY"):
        DeepgramEars(url="wss://elsewhere.example")


def test_messages() -> None:
    assert read_message('{"type": "SpeechStarted"}') == [OnsetHeard()]
    assert read_message('{"type": "UtteranceEnd"}') == [SilenceHeard()]
    assert read_message('{"type": "Metadata"}') == []
    found = {"transcript": "", "confidence": 0, "words": []}
    result = {"type": "Results", "start": 0.5, "duration": 1.0, "is_final": True, "speech_final": True}
    assert read_message(json.dumps({**result, "channel": {"alternatives": [found]}})) == [SilenceHeard()]
    said = {"transcript": "yes", "confidence": 0, "words": []}
    heard = read_message(json.dumps({**result, "channel": {"alternatives": [said]}}))
    assert heard == [TextHeard("yes", 1.0, 1_500, settled=True), SilenceHeard()]
    bare = {"type": "Results", "start": 0.5, "duration": 1.0, "channel": {"alternatives": [said]}}
    assert read_message(json.dumps(bare)) == [TextHeard("yes", 1.0, 1_500, settled=False)]


def test_an_error_of_the_service_fails_the_ears() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            listening = Listening(ears_of(service))
            listening.audio.feed(*[LOUD] * 10)
            waiting = asyncio.ensure_future(listening.until(Final))
            await service.until(lambda: service.audio_ms > 0)
            await service.fail()
            with pytest.raises(ServiceError) as raised:
                await waiting
            assert raised.value.error is ErrorClass.SERVER_ERROR
            assert "secret" not in str(raised.value)

    run(work())


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"type": "Results"}', '{"type": "Results", "channel": {"alternatives": []}}']
)
def test_a_message_that_cannot_be_read_is_a_failure_of_the_service(text: str) -> None:
    with pytest.raises(ServiceError) as raised:
        read_message(text)
    assert raised.value.error is ErrorClass.SERVER_ERROR
