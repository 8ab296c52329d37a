"""An STT plugin as ears: Deepgram's real plugin against a server that speaks its protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import numpy as np
import pytest

from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.plugins import PluginEars
from duologue.ports import ServiceError
from duologue.ports.ears import Commit, Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded, TurnOver
from tests.limits import TEST_S, WAIT_S
from tests.needs import needs_plugin
from tests.plugins.deepgram_service import DeepgramService

TRIED = (("deepgram", "STT"),)
LOUD_PCM = (np.sin(np.arange(320) / 5) * 12_000).astype(np.int16).tobytes()
LOUD, SILENT = Frame(LOUD_PCM), Frame(bytes(640))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return run_jumping(asyncio.wait_for(work, TEST_S))


def ears_of(service: DeepgramService, **settings: Any) -> PluginEars:
    deepgram = needs_plugin("deepgram")
    url = f"http://127.0.0.1:{service.port}/v1/listen"
    return PluginEars(lambda: deepgram.STT(api_key="secret-key", base_url=url), **settings)


class Audio:
    """Audio that a test feeds."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Incoming | None] = asyncio.Queue()

    def feed(self, *items: Incoming | None) -> None:
        for item in items:
            self._queue.put_nowait(item)

    async def __aiter__(self) -> AsyncIterator[Incoming]:
        while (item := await self._queue.get()) is not None:
            yield item


class Listening:
    """Ears that listen to a test's audio."""

    def __init__(self, ears: PluginEars) -> None:
        self.audio, self.heard = Audio(), list[Heard]()
        self.stream = ears.listen(self.audio.__aiter__())

    async def until(self, kind: type[Heard]) -> Any:
        """The next report of this kind."""
        async with asyncio.timeout(WAIT_S):
            while True:
                report = await anext(self.stream)
                self.heard.append(report)
                if isinstance(report, kind):
                    return report


def test_speech_becomes_an_onset_partial_text_an_end_and_one_final_text() -> None:
    async def work() -> None:
        async with DeepgramService(hears=("I would like two tickets.",)) as service:
            ears = ears_of(service)
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 40, *[SILENT] * 20)
            final = await listening.until(Final)
            assert final.text == "I would like two tickets."
            assert final.confidence == pytest.approx(0.9)
            kinds = [type(one) for one in listening.heard]
            assert kinds == [SpeechBegan, Partial, Partial, SpeechEnded, Final]
            listening.audio.feed(None)
            assert [one async for one in listening.stream] == []
            await ears.close()
            assert ears.usage.heard_ms >= 1_000
        assert service.query["sample_rate"] == "16000"

    run(work())


@pytest.mark.req("H-15")
def test_a_final_text_after_the_commit_stays_with_its_utterance() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 25)
            began = asyncio.ensure_future(listening.until(Partial))
            await service.until(lambda: service.audio_ms >= 450)
            await service.say("two tick", final=False)
            assert (await began).text == "two tick"
            listening.audio.feed(Commit(1))
            await service.until(lambda: service.finalizes == 1)
            await service.say("two tickets", final=True)
            assert await listening.until(Final) == Final("two tickets", 0.9, 1, 0.9)
            await listening.stream.aclose()
            await ears.close()

    run(work())


def test_a_service_that_judges_turns_ends_the_turn() -> None:
    async def work() -> None:
        async with DeepgramService(hears=("Yes.",)) as service:
            ears = ears_of(service, judges_turns=True)
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 20, *[SILENT] * 20)
            assert await listening.until(TurnOver) == TurnOver(1)
            await listening.stream.aclose()
            await ears.close()

    run(work())


def test_audio_of_another_rate_is_converted() -> None:
    async def work() -> None:
        async with DeepgramService(hears=("Yes.",)) as service:
            ears = ears_of(service)
            listening = Listening(ears)
            eight = Frame(LOUD_PCM[:320], 8_000)
            listening.audio.feed(*[LOUD] * 10, *[eight] * 30, *[Frame(bytes(320), 8_000)] * 20)
            assert (await listening.until(Final)).text == "Yes."
            await listening.stream.aclose()
            await ears.close()

    run(work())


def test_closing_the_ears_closes_the_connection() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 10)
            waiting = asyncio.ensure_future(anext(listening.stream))
            await service.until(lambda: service.audio_ms > 0)
            waiting.cancel()
            await asyncio.wait([waiting])
            await listening.stream.aclose()
            await service.until(lambda: service.open == 0)
            await ears.close()

    run(work())


@pytest.mark.parametrize(("status", "error"), [(401, ErrorClass.AUTH_FAILURE), (429, ErrorClass.RATE_LIMIT)])
def test_a_refused_handshake_is_classified_and_never_retried(status: int, error: ErrorClass) -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            service.refuses = [status]
            ears = ears_of(service)
            listening = Listening(ears)
            with pytest.raises(ServiceError) as raised:
                await listening.until(Final)
            assert raised.value.error is error
            assert "secret-key" not in str(raised.value)
            assert len(service.requests) == 1
            await ears.close()

    run(work())


def test_a_connection_that_breaks_fails_the_ears() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            listening = Listening(ears)
            listening.audio.feed(*[LOUD] * 10)
            waiting = asyncio.ensure_future(listening.until(Final))
            await service.until(lambda: service.audio_ms > 0)
            await service.drop()
            with pytest.raises(ServiceError) as raised:
                await waiting
            assert raised.value.error is ErrorClass.NETWORK_TIMEOUT
            await ears.close()

    run(work())


def test_a_frame_that_is_not_pcm_is_refused() -> None:
    async def work() -> None:
        async with DeepgramService() as service:
            ears = ears_of(service)
            listening = Listening(ears)
            listening.audio.feed(Frame(b"abc"))
            with pytest.raises(ServiceError, match="isn't 16-bit PCM"):
                await listening.until(Final)
            await ears.close()

    run(work())


# -- A plugin that recognises whole utterances


def batch_plugin(texts: list[str]) -> Any:
    """A plugin without streaming, written with LiveKit's classes."""
    needs_plugin("deepgram")
    from livekit.agents import stt

    class Batch(stt.STT):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
            self.lengths: list[float] = []

        async def _recognize_impl(self, buffer: Any, *, language: Any = None, conn_options: Any = None) -> Any:
            frames = buffer if isinstance(buffer, list) else [buffer]
            self.lengths.append(sum(frame.duration for frame in frames))
            said = stt.SpeechData(language="en", text=texts.pop(0))
            return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[said])

    return Batch()


def test_a_plugin_without_streaming_hears_through_the_stream_adapter() -> None:
    needs_plugin("deepgram")
    from livekit.agents import vad

    class LoudStream(vad.VADStream):  # type: ignore[misc]
        async def _main_task(self) -> None:
            frames, quiet = list[Any](), 0
            async for frame in self._input_ch:
                if isinstance(frame, self._FlushSentinel):
                    continue
                is_loud = max(frame.data) > 1_000
                if is_loud and not frames:
                    self._event_ch.send_nowait(self._event("START_OF_SPEECH", []))
                if is_loud or frames:
                    frames.append(frame)
                    quiet = 0 if is_loud else quiet + 1
                if quiet > 5:
                    self._event_ch.send_nowait(self._event("END_OF_SPEECH", frames))
                    frames, quiet = [], 0

        def _event(self, kind: str, frames: list[Any]) -> Any:
            return vad.VADEvent(
                type=vad.VADEventType[kind],
                samples_index=0,
                timestamp=0.0,
                speech_duration=0.0,
                silence_duration=0.0,
                frames=frames,
            )

    class LoudVad(vad.VAD):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(capabilities=vad.VADCapabilities(update_interval=0.02))

        def stream(self) -> Any:
            return LoudStream(self)

    async def work() -> None:
        plugin = batch_plugin(["Yes please.", "Thank you."])
        listening = Listening(PluginEars(plugin, vad=LoudVad()))
        listening.audio.feed(*[LOUD] * 30, *[SILENT] * 20)
        assert await listening.until(Final) == Final("Yes please.", 1.0, 1)
        listening.audio.feed(*[LOUD] * 10, *[SILENT] * 20)
        assert await listening.until(Final) == Final("Thank you.", 1.0, 2)
        assert plugin.lengths[0] == pytest.approx(0.72, abs=0.05)
        await listening.stream.aclose()

    run(work())
