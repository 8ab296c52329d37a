"""Google's speech plugins and Google's own gRPC clients against a server with Google's messages: `make providers`.

Only the address is replaced: a plugin can't be told another one, so its client gets a channel to this machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.plugins import PluginEars, PluginVoice
from duologue.ports import Final, Frame, Partial, ServiceError, SpeechBegan, SpeechEnded
from tests.needs import needs_package, needs_plugin
from tests.providers.google_speech_service import CHAR_MS, GoogleSpeechService

TRIED = (("google", "STT"), ("google", "TTS"))
TEXT = "Your table is booked for seven."


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 20))


def needs_google() -> Any:
    needs_package("google.cloud.speech_v2", "make providers")
    return needs_plugin("google")


def credentials() -> Any:
    from google.auth.credentials import AnonymousCredentials

    class Anonymous(AnonymousCredentials):  # type: ignore[misc]
        project_id = quota_project_id = "a-project"

    return Anonymous()


def ears_of(service: GoogleSpeechService) -> PluginEars:
    google = needs_google()
    from google.cloud.speech_v2 import SpeechAsyncClient
    from google.cloud.speech_v2.services.speech.transports import SpeechGrpcAsyncIOTransport

    def make() -> Any:
        plugin = google.STT(
            credentials=credentials(), model="chirp_3", languages="en-US", enable_voice_activity_events=True
        )

        async def connect(timeout: float) -> Any:
            return SpeechAsyncClient(transport=SpeechGrpcAsyncIOTransport(channel=service.channel()))

        vars(vars(plugin)["_pool"]).update(_connect_cb=connect)
        vars(plugin).update(_get_recognizer=lambda client: "projects/a-project/locations/global/recognizers/_")
        return plugin

    return PluginEars(make)


def voice_of(service: GoogleSpeechService) -> PluginVoice:
    google = needs_google()
    from google.cloud.texttospeech import TextToSpeechAsyncClient
    from google.cloud.texttospeech_v1.services.text_to_speech.transports import TextToSpeechGrpcAsyncIOTransport

    def make() -> Any:
        plugin = google.TTS(credentials_info={}, language="en-US", voice_name="en-US-Chirp3-HD-Charon")
        transport = TextToSpeechGrpcAsyncIOTransport(channel=service.channel())
        vars(plugin).update(_client=TextToSpeechAsyncClient(transport=transport))
        return plugin

    return PluginVoice(make)


def test_speech_becomes_an_onset_partial_text_an_end_and_one_final_text() -> None:
    async def work() -> None:
        async with GoogleSpeechService("two tickets to Oslo") as service:
            ears = ears_of(service)

            async def audio() -> Any:
                for _ in range(100):
                    yield Frame(bytes(640))

            heard = [one async for one in ears.listen(audio())]
            kinds = [type(one) for one in heard]
            assert kinds[0] is SpeechBegan
            assert any(isinstance(one, Partial) and one.text.startswith("two tickets") for one in heard)
            assert [one.text for one in heard if isinstance(one, Final)] == ["two tickets to Oslo"]
            assert SpeechEnded in kinds
            assert service.audio_bytes == 64_000
            assert service.configs[0].config.explicit_decoding_config.sample_rate_hertz == 16_000
            await ears.close()

    run(work())


def test_closing_the_ears_ends_the_call() -> None:
    async def work() -> None:
        async with GoogleSpeechService("two tickets") as service:
            ears = ears_of(service)
            going_on = asyncio.Event()

            async def audio() -> Any:
                for _ in range(60):
                    yield Frame(bytes(640))
                await going_on.wait()

            stream = ears.listen(audio())
            assert isinstance(await anext(stream), SpeechBegan)
            await stream.aclose()
            await service.ended.wait()
            await ears.close()

    run(work())


def test_a_sentence_is_spoken() -> None:
    async def work() -> None:
        async with GoogleSpeechService() as service:
            voice = voice_of(service)
            sounds = [sound async for sound in voice.speak(TEXT)]
            assert [text.strip() for text in service.spoken] == [TEXT]
            assert 0 <= sum(sound.ms for sound in sounds) - len(service.spoken[0]) * CHAR_MS <= 20
            await voice.close()

    run(work())


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("UNAUTHENTICATED", ErrorClass.AUTH_FAILURE),
        ("RESOURCE_EXHAUSTED", ErrorClass.RATE_LIMIT),
        ("INVALID_ARGUMENT", ErrorClass.INVALID_ARGS),
        ("INTERNAL", ErrorClass.SERVER_ERROR),
    ],
)
@pytest.mark.parametrize("part", ["ears", "voice"])
def test_failures_are_classified_without_the_words_of_the_service(part: str, status: str, error: ErrorClass) -> None:
    async def work() -> None:
        async with GoogleSpeechService("two tickets") as service:
            service.refuses = getattr(needs_package("grpc", "make providers").StatusCode, status)
            made: Any = ears_of(service) if part == "ears" else voice_of(service)

            async def audio() -> Any:  # none: a client that writes when the call ends may see "internal error" instead
                await asyncio.Event().wait()
                yield

            stream = made.listen(audio()) if part == "ears" else made.speak(TEXT)
            with pytest.raises(ServiceError) as raised:
                async for _ in stream:
                    pass
            assert raised.value.error is error
            assert "secret" not in str(raised.value)
            await made.close()

    run(work())
