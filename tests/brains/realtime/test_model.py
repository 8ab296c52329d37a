"""A Realtime model as brain, ears, voice and session: renewal, and one conversation after another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue import RealtimeModel, RealtimeSettings, ServiceError
from duologue.brains.realtime.uplink import COPIED_MAX
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import Request
from duologue.ports.ears import Commit, Frame, Heard, Incoming, Partial, SpeechBegan
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing.realtime.server import RealtimeServer, Speak
from tests.brains.realtime_call import RealtimeCall, converse
from tests.limits import WAIT_S


def test_a_renewal_waits_for_the_person_to_finish() -> None:
    async def run() -> None:
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            first = server.session
            await first.begin_speech()
            renewal = asyncio.ensure_future(model.renew(None, lambda event: None))
            await server.until(lambda: len(server.gave("session.updated")) == 2)
            await asyncio.wait([renewal], timeout=0.1)
            assert not renewal.done(), "the user is speaking"
            await first.end_speech("that was it")
            async with asyncio.timeout(WAIT_S):
                await renewal
            await model.close()

    run_jumping(run())


def test_a_renewal_that_fails_leaves_the_old_session_as_it_was() -> None:
    async def run() -> list[Any]:
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            server.refuses = [503]
            with pytest.raises(ServiceError):
                await model.renew(None, lambda event: None)
            parts = [part async for part in model.reply(Request(1, "hello"))]
            await model.close()
            return parts

    assert run_jumping(run())


def test_nothing_is_left_running_when_a_conversation_ends() -> None:
    left: list[str] = []

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: call.line.is_sounding)
        await call.conversation.end()
        left.extend(task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("realtime"))

    converse(act, RealtimeServer([Speak("A long story.", ms=3_000, paced=True)]))
    assert left == []


async def no_audio(ends: bool) -> AsyncIterator[Incoming]:
    """Audio without a frame, which ends at once or never."""
    if not ends:
        await asyncio.Event().wait()
    for frame in ():
        yield frame


def test_what_one_conversation_said_last_is_not_heard_by_the_next() -> None:
    async def run() -> list[Heard]:
        async with RealtimeServer() as server, asyncio.timeout(WAIT_S):
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            await server.session.begin_speech()
            kind = "conversation.item.input_audio_transcription.delta"
            item = server.gave("input_audio_buffer.speech_started")[0]["item_id"]
            await server.session.send(kind, item_id=item, content_index=0, delta="my secret is")
            listening = model.listen(no_audio(ends=False))
            while not isinstance(await anext(listening), Partial):
                pass
            await listening.aclose()
            await model.close()  # ends the utterance, with no listener
            await model.open(None, lambda event: None)
            left = [heard async for heard in model.listen(no_audio(ends=True))]
            await model.close()
            return left

    assert run_jumping(run()) == []


def test_a_model_without_transcription_and_ears_is_refused() -> None:
    with pytest.raises(ValueError, match="transcription=None needs ears"):
        RealtimeModel(settings=RealtimeSettings(transcription=None))


class Hung:
    """Ears that hear nothing until they are woken."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self.got: list[Incoming] = []

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        await self.wake.wait()
        async for item in audio:
            self.got.append(item)
            if isinstance(item, Commit):
                yield SpeechBegan(len(self.got))


async def an_hour(frames: int) -> AsyncIterator[Incoming]:
    for number in range(frames):
        yield Frame(bytes(640), 16_000)
        if number % 1_000 == 0:
            yield Commit(number)
        if number % 50 == 0:
            await asyncio.sleep(1)


def test_audio_for_ears_that_hang_does_not_pile_up() -> None:
    async def scene() -> None:
        ears = Hung()
        model = RealtimeModel(api_key="none", settings=RealtimeSettings(turn_detection="none"), ears=ears)
        asyncio.get_running_loop().call_later(600, ears.wake.set)
        heard = [one async for one in model.listen(an_hour(10_000))]
        assert len(heard) == 10
        assert sum(isinstance(item, Frame) for item in ears.got) <= COPIED_MAX

    run_simulated(scene())
