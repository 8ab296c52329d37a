"""A TTS plugin as a voice: ElevenLabs' real plugin against a server that speaks its protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.plugins import PluginVoice
from duologue.ports import ServiceError, Sound
from duologue.ports.markup import SpeechTag, TaggedText
from duologue.voice.ledger import Ledger
from duologue.voice.markup import ELEVENLABS, Markup
from tests.limits import TEST_S
from tests.needs import needs_plugin
from tests.plugins.elevenlabs_service import CHAR_MS, ElevenLabsService

TRIED = (("elevenlabs", "TTS"),)
TEXT = "Your table is booked for seven."


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def voice_of(service: ElevenLabsService, markup: Markup | None = None, **settings: Any) -> PluginVoice:
    elevenlabs = needs_plugin("elevenlabs")
    url = f"http://127.0.0.1:{service.port}/v1"
    given = {"api_key": "secret-key", "base_url": url, "encoding": "pcm_24000", **settings}
    return PluginVoice(lambda: elevenlabs.TTS(**given), markup=markup)


async def speak(voice: PluginVoice, text: str = TEXT) -> list[Sound]:
    return [sound async for sound in voice.speak(text)]


def ledger_of(sounds: list[Sound], text: str = TEXT) -> Ledger:
    ledger = Ledger()
    ledger.begin(text)
    for sound in sounds:
        ledger.add(sound)
    ledger.end()
    return ledger


def heard_after(ledger: Ledger, chars: int) -> str:
    return ledger.split(chars * CHAR_MS).heard


@pytest.mark.parametrize("late", [False, True])
def test_heard_text_is_exact_to_the_word_even_if_word_times_come_late(late: bool) -> None:
    async def work() -> None:
        async with ElevenLabsService() as service:
            service.late = late
            voice = voice_of(service)
            ledger = ledger_of(await speak(voice))
            await voice.close()
        assert abs(ledger.total_ms - len(TEXT) * CHAR_MS) <= 20
        assert heard_after(ledger, TEXT.index("booked") - 2) == "Your table"
        # The plugin counts the space after a word as a part of it.
        assert heard_after(ledger, TEXT.index("booked") + len("booked") - 1) == "Your table is"
        assert heard_after(ledger, TEXT.index("booked") + len("booked") + 1) == "Your table is booked"
        assert ledger.split(ledger.total_ms).heard == TEXT

    run(work())


def test_markup_is_sent_as_the_service_takes_it_and_is_no_part_of_any_word() -> None:
    tags = (SpeechTag("emotion", "calm", 0, 31), SpeechTag("break", "300", 11, 11), SpeechTag("phonemes", "əz", 11, 13))

    async def work() -> None:
        async with ElevenLabsService() as service:
            voice = voice_of(service, markup=ELEVENLABS, enable_ssml_parsing=True)
            sounds = [sound async for sound in voice.speak_tagged(TaggedText(TEXT, tags))]
            (sent,) = service.texts.values()
            assert service.query["enable_ssml_parsing"] == "true"
            await voice.close()
        told = 'Your table <break time="0.3s" /><phoneme alphabet="ipa" ph="əz">is</phoneme> booked for seven.'
        assert sent.strip() == told
        assert [word.text for sound in sounds for word in sound.words] == TEXT.split()
        # In this service, every character takes its time, also those of tags.
        ledger = ledger_of(sounds)
        assert heard_after(ledger, told.index(" booked")) == "Your table"
        assert heard_after(ledger, told.index(" booked") + 1) == "Your table is"

    run(work())


def test_without_markup_tags_are_left_out_and_something_else_is_refused() -> None:
    async def work() -> None:
        async with ElevenLabsService() as service:
            voice = voice_of(service)
            await anext(voice.speak_tagged(TaggedText(TEXT, (SpeechTag("break", "300", 11, 11),))))
            assert [text.strip() for text in service.texts.values()] == [TEXT]
            await voice.close()

    run(work())
    with pytest.raises(TypeError, match="markup must be a Markup"):
        PluginVoice(lambda: None, markup="<speak>")  # type: ignore[arg-type]


def test_without_word_times_heard_text_is_estimated() -> None:
    async def work() -> None:
        async with ElevenLabsService() as service:
            service.without_times = True
            voice = voice_of(service)
            sounds = await speak(voice)
            await voice.close()
        assert not any(sound.words for sound in sounds)
        half = ledger_of(sounds).split(len(TEXT) * CHAR_MS // 2).heard
        assert half
        assert TEXT.startswith(half)
        assert half != TEXT

    run(work())


def test_the_sound_comes_while_the_service_still_speaks() -> None:
    async def work() -> None:
        async with ElevenLabsService() as service:
            service.stalls_after = 2
            voice = voice_of(service)
            stream = voice.speak(TEXT)
            assert (await anext(stream)).ms >= 20
            await stream.aclose()
            await voice.close()

    run(work())


def test_after_a_closed_sentence_the_connection_is_still_good() -> None:
    async def work() -> None:
        async with ElevenLabsService() as service:
            service.stalls_after = 2
            voice = voice_of(service)
            stream = voice.speak(TEXT)
            await anext(stream)
            await stream.aclose()
            service.stalls_after = None
            assert ledger_of(await speak(voice)).text == TEXT
            assert len(service.requests) == 1
            await voice.close()
            await service.until(lambda: service.open == 0)

    run(work())


def test_usage_counts_characters_and_sound() -> None:
    async def work() -> None:
        async with ElevenLabsService() as service:
            voice = voice_of(service)
            sounds = await speak(voice)
            await voice.close()
        assert voice.usage.characters == len(TEXT)
        assert voice.usage.spoken_ms == sum(sound.ms for sound in sounds)

    run(work())


# -- Failures


def failure_of(service: ElevenLabsService, text: str = TEXT, **settings: Any) -> ServiceError:
    async def work() -> ServiceError:
        async with service:
            voice = voice_of(service, **settings)
            with pytest.raises(ServiceError) as raised:
                await speak(voice, text)
            await voice.close()
            assert len(service.requests) == 1, "the plugin has retried"
        return raised.value

    failure: ServiceError = run(work())
    assert TEXT not in str(failure)
    assert "secret-key" not in str(failure)
    return failure


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ErrorClass.AUTH_FAILURE), (429, ErrorClass.RATE_LIMIT), (503, ErrorClass.SERVER_ERROR)],
)
def test_a_refused_handshake_is_classified_and_never_retried(status: int, error: ErrorClass) -> None:
    service = ElevenLabsService()
    service.refuses = [status]
    failure = failure_of(service)
    assert failure.error is error
    assert str(status) in str(failure)


def test_an_unknown_voice_names_the_setting() -> None:
    service = ElevenLabsService()
    service.error = "A voice with the voice_id nobody does not exist"
    failure = failure_of(service)
    assert failure.error is ErrorClass.INVALID_ARGS
    assert "voice" in str(failure)
    assert "nobody" not in str(failure)


def test_mp3_where_pcm_was_asked_is_refused_with_the_name_of_the_setting() -> None:
    service = ElevenLabsService()
    service.audio = b"ID3\x04" + bytes(4000)
    failure = failure_of(service)
    assert failure.error is ErrorClass.INVALID_ARGS
    assert "MP3 instead of pcm" in str(failure)


def test_a_connection_that_breaks_in_a_sentence_fails_it() -> None:
    service = ElevenLabsService()
    service.breaks_after = 2
    assert failure_of(service).error is ErrorClass.NETWORK_TIMEOUT


def test_a_plugin_without_a_key_names_its_variable() -> None:
    elevenlabs = needs_plugin("elevenlabs")
    with pytest.raises(ServiceError, match="set ELEVEN_API_KEY") as raised:
        run(speak(PluginVoice(elevenlabs.TTS)))
    assert raised.value.error is ErrorClass.AUTH_FAILURE


def test_a_plugin_object_in_a_second_event_loop_is_refused_with_what_to_do() -> None:
    elevenlabs = needs_plugin("elevenlabs")
    voice = PluginVoice(elevenlabs.TTS(api_key="k", base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(ServiceError, match="can't be reached"):
        run(speak(voice))
    with pytest.raises(ServiceError, match="another event loop: pass a function"):
        run(speak(voice))


def test_another_kind_of_plugin_is_refused_at_once() -> None:
    deepgram = needs_plugin("deepgram")
    with pytest.raises(TypeError, match=r"PluginVoice takes a plugin object such as elevenlabs\.TTS\(\)"):
        PluginVoice(deepgram.STT(api_key="k"))
