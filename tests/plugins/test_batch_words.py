"""The words of a plugin without streaming, for ears with their own voice detection."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from duologue.plugins import PluginEars
from duologue.ports.words import WordStream, WrittenText
from tests.limits import TEST_S
from tests.plugins.test_ears import LOUD_PCM, batch_plugin


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


def speak(words: WordStream, ms: int, loud: bool = True) -> None:
    for _ in range(ms // 20):
        words.hear(LOUD_PCM if loud else bytes(640))


def test_a_plugin_without_streaming_gets_the_audio_of_one_utterance() -> None:
    async def work() -> None:
        plugin = batch_plugin(["Yes please."])
        ears = PluginEars(plugin)
        words = await ears.open_words()
        speak(words, 1_000)
        words.begin(1, 400)
        final = await words.finish(1, 900, 800)
        assert final == WrittenText("Yes please.", 1.0, 1.0)
        assert plugin.lengths == [pytest.approx(0.5)]
        assert ears.usage.heard_ms == 500
        words.begin(2, 950)
        words.discard(2)
        assert (await words.finish(2, 1_000, 1_000)).text == ""
        await words.close()
        await ears.close()

    run(work())


def test_old_audio_is_dropped() -> None:
    async def work() -> None:
        plugin = batch_plugin(["Yes."])
        words = await PluginEars(plugin).open_words()
        speak(words, 65_000, loud=False)
        words.begin(1, 64_000)
        await words.finish(1, 64_500, 64_400)
        assert plugin.lengths == [pytest.approx(0.5, abs=0.01)]

    run(work())
