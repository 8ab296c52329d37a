"""The queue of audio for the ears drops the oldest frames, and never a marker."""

from __future__ import annotations

import asyncio

from duologue.ports.ears import Commit, Frame, Incoming
from duologue.runtime.frame_queue import FrameQueue
from duologue.testing import run_simulated


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


def test_a_full_queue_drops_the_oldest_frame_and_keeps_markers() -> None:
    async def scene() -> None:
        queue = FrameQueue(frames_max=2)
        first, second, third = (Frame(bytes([number, 0])) for number in range(3))
        for item in (first, Commit(1), second, third):
            queue.put(item)
        assert (len(queue), queue.dropped) == (3, 1)
        queue.close()
        queue.put(first)  # too late
        assert [item async for item in queue] == [Commit(1), second, third]

    run_simulated(scene())
