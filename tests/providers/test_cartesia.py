"""Cartesia's TTS plugin against a server that speaks its WebSocket protocol: `make providers`."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.plugins import PluginVoice
from duologue.ports import ServiceError, Sound
from duologue.voice.ledger import Ledger
from tests.limits import TEST_S
from tests.needs import needs_plugin
from tests.plugins.cartesia_service import CHAR_MS, CartesiaService

TRIED = (("cartesia", "TTS"),)
TEXT = "Your table is booked for seven."


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


def voice_of(service: CartesiaService) -> PluginVoice:
    cartesia = needs_plugin("cartesia")
    return PluginVoice(lambda: cartesia.TTS(api_key="secret-key", base_url=f"http://127.0.0.1:{service.port}"))


async def speak(voice: PluginVoice) -> list[Sound]:
    return [sound async for sound in voice.speak(TEXT)]


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
        assert ledger.split((TEXT.index("booked") + 3) * CHAR_MS).heard == "Your table is"
        assert ledger.split((TEXT.index("booked") + 6) * CHAR_MS).heard == "Your table is booked"
        assert ledger.split(ledger.total_ms).heard == TEXT

    run(work())


def test_a_closed_sentence_leaves_nothing_for_the_next() -> None:
    async def work() -> None:
        async with CartesiaService() as service:
            service.stalls_after = 2
            voice = voice_of(service)
            stream = voice.speak(TEXT)
            await anext(stream)
            await stream.aclose()
            service.stalls_after = None
            assert sum(sound.ms for sound in await speak(voice)) >= len(TEXT) * CHAR_MS
            await voice.close()

    run(work())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"refuses": [401]}, ErrorClass.AUTH_FAILURE),
        ({"refuses": [503]}, ErrorClass.SERVER_ERROR),
        ({"error": "voice not found"}, ErrorClass.INVALID_ARGS),
        ({"breaks_after": 1}, ErrorClass.NETWORK_TIMEOUT),
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
            assert len(service.requests) == 1
            await voice.close()

    run(work())
