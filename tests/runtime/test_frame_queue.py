"""The queue of audio for the ears drops the oldest frames, and never a marker."""

from __future__ import annotations

import asyncio

import pytest

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


# -- A consumer that is called

FRAMES = [Frame(bytes([number, 0])) for number in range(4)]


def test_a_consumer_gets_what_waited_and_then_everything_at_once_in_order() -> None:
    async def scene() -> None:
        queue, got = FrameQueue(), list[Incoming]()
        queue.put(FRAMES[0])
        queue.put(Commit(1))
        pushing = asyncio.create_task(queue.push_to(got.append))
        await asyncio.sleep(0)
        assert got == [FRAMES[0], Commit(1)]
        queue.put(FRAMES[1])
        assert got[2:] == [FRAMES[1]], "without a pass of the event loop"
        queue.put(Commit(2))
        queue.close()
        queue.put(FRAMES[2])  # too late
        await pushing
        assert got == [FRAMES[0], Commit(1), FRAMES[1], Commit(2)]
        assert len(queue) == 0

    run_simulated(scene())


def test_a_closed_queue_gives_the_rest_and_ends() -> None:
    async def scene() -> None:
        queue, got = FrameQueue(), list[Incoming]()
        queue.put(FRAMES[0])
        queue.close()
        await queue.push_to(got.append)
        assert got == [FRAMES[0]]

    run_simulated(scene())


def test_what_comes_after_a_consumer_was_cancelled_waits_for_the_next_one() -> None:
    async def scene() -> None:
        queue, got = FrameQueue(), list[Incoming]()
        pushing = asyncio.create_task(queue.push_to(got.append))
        await asyncio.sleep(0)
        queue.put(FRAMES[0])
        pushing.cancel()
        await asyncio.sleep(0)
        queue.put(FRAMES[1])
        queue.put(FRAMES[2])
        queue.close()
        assert got == [FRAMES[0]]
        assert [item async for item in queue] == FRAMES[1:3]

    run_simulated(scene())


def test_a_consumer_that_fails_does_not_fail_the_line() -> None:
    def refuse(item: Incoming) -> None:
        raise ZeroDivisionError

    async def scene() -> None:
        queue = FrameQueue()
        pushing = asyncio.create_task(queue.push_to(refuse))
        await asyncio.sleep(0)
        queue.put(FRAMES[0])
        queue.put(FRAMES[1])
        with pytest.raises(ZeroDivisionError):
            await pushing
        queue.close()
        assert [item async for item in queue] == [FRAMES[1]]

    run_simulated(scene())
