"""Ears of our own beside a Realtime model that hang: the audio for them doesn't pile up, and no marker is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from duologue.brains.realtime import RealtimeModel, RealtimeSettings
from duologue.brains.realtime.model import COPIED_MAX
from duologue.ports.ears import Commit, Frame, Heard, Incoming, SpeechBegan
from duologue.runtime.simulated_clock import run_simulated


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
