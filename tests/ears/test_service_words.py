"""The words of a service with streams, for ears that detect speech themselves: Deepgram, natively and by plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from duologue.ears.deepgram import DeepgramEars
from duologue.plugins import PluginEars
from duologue.ports import ServiceError
from duologue.ports.words import WordStream, WrittenText
from tests.limits import TEST_S, WAIT_S
from tests.plugins.deepgram_service import DeepgramService
from tests.plugins.test_ears import LOUD_PCM
from tests.plugins.test_ears import ears_of as plugin_ears_of

FRAME_MS = 20


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy of this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def native_ears_of(service: DeepgramService, **settings: Any) -> DeepgramEars:
    return DeepgramEars(api_key="secret-key", url=f"ws://127.0.0.1:{service.port}", **settings)


@pytest.fixture(params=["native", "plugin"])
def ears_of(request: pytest.FixtureRequest) -> Callable[..., DeepgramEars | PluginEars]:
    return native_ears_of if request.param == "native" else plugin_ears_of


async def close(ears: DeepgramEars | PluginEars) -> None:
    if isinstance(ears, PluginEars):
        await ears.close()


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


class Follower:
    """Notes what a stream of words tells."""

    def __init__(self, words: WordStream) -> None:
        self.texts: list[tuple[int, WrittenText]] = []
        self.late: list[tuple[int, WrittenText]] = []
        self.turns_over = 0
        self._more = asyncio.Event()
        words.follow(
            lambda number, text: self._note(self.texts, (number, text)),
            lambda number, text: self._note(self.late, (number, text)),
            self._note_turn_over,
        )

    def _note(self, where: list[tuple[int, WrittenText]], what: tuple[int, WrittenText]) -> None:
        where.append(what)
        self._more.set()

    def _note_turn_over(self) -> None:
        self.turns_over += 1
        self._more.set()

    async def until(self, is_so: Any) -> None:
        async with asyncio.timeout(WAIT_S):
            while not is_so():
                self._more.clear()
                await self._more.wait()


def speak(words: WordStream, ms: int, loud: bool = True) -> None:
    for _ in range(ms // FRAME_MS):
        words.hear(LOUD_PCM if loud else bytes(640))


def test_the_text_grows_and_is_final_when_the_ears_say_so(ears_of: Any) -> None:
    async def work() -> None:
        async with DeepgramService(hears=("Two tickets for Friday.",)) as service:
            service.keeps_last_until_finalize = True
            ears = ears_of(service)
            words = await ears.open_words()
            told = Follower(words)
            words.begin(5, 0)
            speak(words, 800)
            speak(words, 200, loud=False)
            await told.until(lambda: told.texts)
            assert told.texts[0] == (5, WrittenText("Two tickets", pytest.approx(0.9), 0.5))  # type: ignore[arg-type]
            final = await words.finish(5, 1_000, 800)
            assert final.text == "Two tickets for Friday."
            assert final.stability == 1.0
            assert service.finalizes == 1
            await words.close()
            await service.until(lambda: service.open == 0)
            await close(ears)

    run(work())


def test_text_that_comes_after_the_time_limit_is_told_as_late(ears_of: Any) -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service, text_ms_max=50)
            words = await ears.open_words()
            told = Follower(words)
            words.begin(1, 0)
            speak(words, 500)
            await service.until(lambda: service.audio_ms >= 450)
            await service.say("two tick", final=False, at_ms=(0, 400))
            await told.until(lambda: told.texts)
            assert (await words.finish(1, 500, 450)).text == "two tick"
            await service.say("two tickets", final=True, at_ms=(0, 450))
            await told.until(lambda: told.late)
            assert [(number, text.text) for number, text in told.late] == [(1, "two tickets")]
            await words.close()
            await close(ears)

    run(work())


def test_a_final_text_that_does_not_reach_the_end_of_the_voice_is_waited_for(ears_of: Any) -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            words = await ears.open_words()
            told = Follower(words)
            words.begin(1, 0)
            speak(words, 2_000)
            await service.until(lambda: service.audio_ms >= 1_950)
            await service.say("two tickets", final=True, at_ms=(0, 800))
            await told.until(lambda: told.texts)
            finishing = asyncio.ensure_future(words.finish(1, 2_000, 1_900))
            await service.until(lambda: service.finalizes == 1)
            assert not finishing.done()
            await service.say("for Friday", final=True, at_ms=(900, 1_850))
            assert (await finishing).text == "two tickets for Friday"
            await words.close()
            await close(ears)

    run(work())


def test_a_discarded_utterance_leaves_nothing_for_the_next(ears_of: Any) -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            words = await ears.open_words()
            told = Follower(words)
            words.begin(1, 0)
            speak(words, 500)
            await service.until(lambda: service.audio_ms >= 450)
            await service.say("hm", final=False, at_ms=(0, 400))
            await told.until(lambda: told.texts)
            words.discard(1)
            words.begin(2, 500)
            speak(words, 500)
            await service.until(lambda: service.audio_ms >= 950)
            await service.say("hm", final=True, at_ms=(0, 400))
            await service.say("yes", final=True, end=True, at_ms=(600, 900))
            await told.until(lambda: told.turns_over)
            assert (await words.finish(2, 1_000, 900)).text == "yes"
            await words.close()
            await close(ears)

    run(work())


def test_a_service_that_fails_fails_the_final_text(ears_of: Any) -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            words = await ears.open_words()
            words.begin(1, 0)
            speak(words, 200)
            await service.until(lambda: service.audio_ms > 0)
            finishing = asyncio.ensure_future(words.finish(1, 200, 200))
            await service.until(lambda: service.finalizes == 1)
            await service.drop()
            with pytest.raises(ServiceError, match="closed the connection"):
                await finishing
            await words.close()
            await close(ears)

    run(work())
