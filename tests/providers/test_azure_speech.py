"""Azure's speech plugins: `make providers`. The TTS plugin against a server that speaks its protocol; the STT plugin
talks through a closed native SDK, so only its construction and the events that it makes are tried."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, Self
from xml.etree import ElementTree

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ears.service_utterances import OnsetHeard, SilenceHeard, TextHeard
from duologue.plugins import PluginEars, PluginVoice
from duologue.plugins.speech_events import read_event
from duologue.ports import ServiceError
from duologue.ports.markup import SpeechTag, TaggedText
from duologue.voice.markup import SSML_BODY
from tests.limits import TEST_S
from tests.needs import needs_plugin

TRIED = (("azure", "TTS"),)
MAPPED = (("azure", "STT"),)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


class AzureSpeech:
    """Azure's `POST /cognitiveservices/v1` on a local port: SSML in, a second of PCM out. It keeps the texts."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.documents: list[str] = []

    async def __aenter__(self) -> Self:
        from aiohttp import web

        async def answer(request: Any) -> Any:
            assert request.headers["Ocp-Apim-Subscription-Key"] == "secret-key"
            assert request.headers["Content-Type"] == "application/ssml+xml"
            assert request.headers["X-Microsoft-OutputFormat"] == "raw-24khz-16bit-mono-pcm"
            self.documents.append(await request.text())
            return web.Response(status=self.status, body=bytes(48_000) if self.status == 200 else b"a secret")

        app = web.Application()
        app.router.add_post("/cognitiveservices/v1", answer)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def voice(self) -> PluginVoice:
        azure = needs_plugin("azure")
        url = f"http://127.0.0.1:{self.port}/cognitiveservices/v1"
        return PluginVoice(
            lambda: azure.TTS(speech_key="secret-key", speech_region="x", speech_endpoint=url), markup=SSML_BODY
        )


def test_a_sentence_is_sent_as_ssml_that_can_be_parsed() -> None:
    async def work() -> None:
        async with AzureSpeech() as service:
            voice = service.voice()
            tags = (SpeechTag("speed", "0.8", 0, 5), SpeechTag("break", "300", 6, 6))
            sounds = [sound async for sound in voice.speak_tagged(TaggedText("R & D <3.", tags))]
            assert 1_000 <= sum(sound.ms for sound in sounds) <= 1_020
            assert [sound async for sound in voice.speak("R & D.")]
            await voice.close()
        spoken = [ElementTree.fromstring(text) for text in service.documents]
        assert ["".join(one.itertext()) for one in spoken] == ["R & D <3.", "R & D."]
        assert [node.tag.rpartition("}")[2] for node in spoken[0].iter()] == ["speak", "voice", "prosody", "break"]

    run(work())


@pytest.mark.parametrize(("status", "error"), [(401, ErrorClass.AUTH_FAILURE), (429, ErrorClass.RATE_LIMIT)])
def test_failures_are_classified_without_the_words_of_the_service(status: int, error: ErrorClass) -> None:
    async def work() -> None:
        async with AzureSpeech(status) as service:
            voice = service.voice()
            with pytest.raises(ServiceError) as raised:
                await anext(voice.speak("Hello."))
            assert raised.value.error is error
            assert "secret" not in str(raised.value)
            await voice.close()

    run(work())


def test_the_events_of_recognition_are_mapped() -> None:
    """The handlers that the SDK calls, with objects of the SDK's shape."""
    azure = needs_plugin("azure")
    PluginEars(lambda: azure.STT(speech_key="secret-key", speech_region="x"))

    async def work() -> list[Any]:
        from livekit.agents import utils

        stream = object.__new__(needs_plugin("azure.stt").SpeechStream)
        events = utils.aio.Chan[Any]()
        plugin = azure.STT(speech_key="secret-key", speech_region="x")
        vars(stream).update(_opts=vars(plugin)["_config"], _loop=asyncio.get_running_loop(), _event_ch=events)
        vars(stream).update(_start_time_offset=0.0, _speaking=False)
        said = SimpleNamespace(text="two tickets", offset=5_000_000, duration=10_000_000, properties={}, json="")
        event = SimpleNamespace(result=said)
        for handler in ("_on_speech_start", "_on_recognizing", "_on_recognized", "_on_speech_end"):
            getattr(stream, handler)(event)
        return [read_event(await events.recv()) for _ in range(4)]

    began, partial, final, ended = run(work())
    assert isinstance(began, OnsetHeard)
    assert isinstance(partial, TextHeard)
    assert not partial.settled
    assert isinstance(final, TextHeard)
    assert (final.text, final.settled, final.end_ms) == ("two tickets", True, 1_500)
    assert isinstance(ended, SilenceHeard)
