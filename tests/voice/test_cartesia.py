"""A Cartesia voice against a server on a local port that speaks its WebSocket protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue import CartesiaVoice
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import ServiceError, Sound
from duologue.ports.markup import SpeechTag, TaggedText
from duologue.voice.ledger import Ledger
from tests.limits import TEST_S
from tests.plugins.cartesia_service import CHAR_MS, CartesiaService

TEXT = "Your table is booked for seven."


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy and the key of this machine."""
    monkeypatch.delenv("CARTESIA_API_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def voice_of(service: CartesiaService, **settings: Any) -> CartesiaVoice:
    return CartesiaVoice("a-voice", **{"api_key": "secret-key", "url": f"ws://127.0.0.1:{service.port}", **settings})


async def speak(voice: CartesiaVoice, text: str = TEXT) -> list[Sound]:
    return [sound async for sound in voice.speak(text)]


def test_heard_text_is_exact_to_the_word() -> None:
    async def work() -> None:
        async with CartesiaService() as service:
            voice = voice_of(service)
            ledger = Ledger()
            ledger.begin(TEXT)
            for sound in await speak(voice):
                ledger.add(sound)
            ledger.end()
            await voice.close()
        assert ledger.split((TEXT.index("booked") + 5) * CHAR_MS).heard == "Your table is"
        assert ledger.split((TEXT.index("booked") + 6) * CHAR_MS).heard == "Your table is booked"
        assert ledger.split(ledger.total_ms).heard == TEXT
        assert ledger.total_ms == -(-len(TEXT) * CHAR_MS // 20) * 20

    run(work())


@pytest.mark.parametrize("times_tags", [False, True])
@pytest.mark.parametrize("model", ["sonic-3", "sonic-2"])
def test_tags_are_sent_to_models_that_take_them_and_heard_text_stays_exact(model: str, times_tags: bool) -> None:
    tags = (SpeechTag("speed", "0.8", 0, 10), SpeechTag("break", "300", 11, 11), SpeechTag("phonemes", "əz", 11, 13))

    async def work() -> None:
        async with CartesiaService() as service:
            service.times_tags = times_tags
            voice = voice_of(service, model=model)
            ledger = Ledger()
            ledger.begin(TEXT)
            async for sound in voice.speak_tagged(TaggedText(TEXT, tags)):
                ledger.add(sound)
            ledger.end()
            (sent,) = service.texts.values()
            await voice.close()
        told = '<speed ratio="0.8"/>Your table<speed ratio="1"/> <break time="300ms"/>is booked for seven.'
        assert sent == (told if model == "sonic-3" else TEXT)
        assert ledger.split((TEXT.index("booked") + 5) * CHAR_MS).heard == "Your table is"
        assert ledger.split((TEXT.index("booked") + 6) * CHAR_MS).heard == "Your table is booked"
        assert ledger.split(ledger.total_ms).heard == TEXT

    run(work())


def test_all_sentences_use_one_connection_also_at_the_same_time() -> None:
    async def work() -> None:
        async with CartesiaService() as service:
            voice = voice_of(service)
            found = await asyncio.gather(*(speak(voice, text) for text in (TEXT, "Hello there.", "Good bye.")))
            assert [sum(one.ms for one in sounds) // CHAR_MS for sounds in found] == [31, 12, 9]
            assert len(service.requests) == 1
            assert await speak(voice, "  ") == []
            await voice.close()
            await service.until(lambda: service.open == 0)

    run(work())


def test_a_closed_sentence_is_cancelled_at_the_service() -> None:
    async def work() -> None:
        async with CartesiaService() as service:
            service.stalls_after = 2
            voice = voice_of(service)
            stream = voice.speak(TEXT)
            await anext(stream)
            await stream.aclose()
            await service.until(lambda: service.cancelled)
            assert service.cancelled == list(service.texts)
            service.stalls_after = None
            assert await speak(voice)
            await voice.close()

    run(work())


def test_after_a_lost_connection_the_next_sentence_connects_again() -> None:
    async def work() -> None:
        async with CartesiaService() as service:
            service.breaks_after = 1
            voice = voice_of(service)
            with pytest.raises(ServiceError) as raised:
                await speak(voice)
            assert raised.value.error is ErrorClass.NETWORK_TIMEOUT
            service.breaks_after = None
            assert await speak(voice)
            assert len(service.requests) == 2
            await voice.close()

    run(work())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"refuses": [401]}, ErrorClass.AUTH_FAILURE),
        ({"refuses": [429]}, ErrorClass.RATE_LIMIT),
        ({"error": "no such voice: secret words"}, ErrorClass.INVALID_ARGS),
        ({"error": "bad message: secret words", "error_without_context": True}, ErrorClass.INVALID_ARGS),
    ],
)
def test_failures_are_classified_and_never_retried(change: dict[str, Any], error: ErrorClass) -> None:
    async def work() -> None:
        async with CartesiaService() as service:
            for name, value in change.items():
                setattr(service, name, value)
            voice = voice_of(service)
            with pytest.raises(ServiceError) as raised:
                await speak(voice)
            assert raised.value.error is error
            assert "secret" not in str(raised.value)
            assert len(service.requests) == 1
            await voice.close()

    run(work())


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(ServiceError, match="can't be reached"):
        run(speak(CartesiaVoice("a-voice", api_key="k", url="ws://127.0.0.1:9")))


def test_without_a_key_or_a_voice_the_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARTESIA_API_KEY", "from-environment")
    with pytest.raises(ServiceError, match="pass api_key, or set CARTESIA_API_KEY"):
        CartesiaVoice("a-voice", url="wss://elsewhere.example")
    with pytest.raises(ValueError, match="voice is empty"):
        CartesiaVoice("")
    assert CartesiaVoice("a-voice")
