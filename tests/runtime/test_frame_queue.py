"""The queue of audio for the ears drops the oldest frames, and never a marker."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ports.ears import Commit, Frame, Incoming
from duologue.runtime.frame_queue import FrameQueue


@pytest.mark.req("C-REQ-003")
def test_ears_that_are_slower_than_the_line_lose_the_oldest_sound_and_no_marker() -> None:
    frames = FrameQueue(frames_max=10)
    for number in range(1_000):
        frames.put(Frame(bytes([number % 250])))
        if number % 100 == 0:
            frames.put(Commit(number))

    async def read() -> list[Incoming]:
        frames.close()
        return [item async for item in frames]

    got = asyncio.run(read())
    assert [item.turn for item in got if isinstance(item, Commit)] == list(range(0, 1_000, 100))
    assert len([item for item in got if isinstance(item, Frame)]) == 10
    assert frames.dropped == 990
