"""Frames and markers of a stream keep their order, although a frame is judged later than it arrives."""

from __future__ import annotations

import asyncio
import math

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.frame_pairs import FramePair
from duologue.ears.ordered_frames import AHEAD_MAX, WAITING_MAX, OrderedFrames
from duologue.ears.vad_batch import Answer
from duologue.runtime.simulated_clock import run_simulated


class Stream:
    """One stream whose frames are judged when the test says so, or at once if `is_quick` is set."""

    def __init__(self) -> None:
        self.asked: list[Answer] = []
        self.is_quick = False
        self.log: list[str] = []
        self.failures: list[Exception] = []
        self.ordered = OrderedFrames[str](self._judge, self._follow, self._take, self.failures.append)

    def _judge(self, frame: Samples, answer: Answer) -> None:
        if self.is_quick:
            answer(0.5, None)
        else:
            self.asked.append(answer)

    def _follow(self, pair: FramePair, probability: float, failure: Exception | None) -> None:
        if failure is not None:
            raise failure
        self.log.append(f"{pair.heard[0]:.0f} is {probability}")

    def _take(self, marker: str) -> None:
        if marker == "bad":
            raise ValueError(marker)
        self.log.append(marker)

    def put(self, *items: int | str) -> None:
        for item in items:
            self.ordered.put(item if isinstance(item, str) else FramePair(samples(item), None))

    def judge(self, probability: float, failure: Exception | None = None) -> None:
        self.asked.pop(0)(probability, failure)


def samples(level: int) -> Samples:
    return np.full(512, level, np.float32)


def test_a_marker_with_no_frame_before_it_is_taken_at_once() -> None:
    stream = Stream()
    stream.put("commit")
    assert stream.log == ["commit"]


def test_what_comes_after_a_frame_waits_until_the_frame_is_judged() -> None:
    stream = Stream()
    stream.put(1, "commit", 2, "discard", "sounding", 3)
    assert stream.log == []
    stream.judge(0.5)
    assert stream.log == ["1 is 0.5", "commit"]
    stream.judge(0.25)
    assert stream.log[2:] == ["2 is 0.25", "discard", "sounding"]
    stream.judge(0.75)
    assert stream.log[5:] == ["3 is 0.75"]


def test_one_frame_at_a_time_is_judged() -> None:
    """Each needs the memory that the one before it left."""
    stream = Stream()
    stream.put(1, 2, 3)
    assert len(stream.asked) == 1


def test_frames_may_be_judged_at_once_however_many_they_are() -> None:
    stream = Stream()
    stream.put(0, *range(1, WAITING_MAX), "last")
    assert stream.log == []
    stream.is_quick = True
    stream.judge(0.5)  # all that wait are judged, without a recursion for each of them
    assert stream.log == [f"{place} is 0.5" for place in range(WAITING_MAX)] + ["last"]
    stream.put(*range(2_000))
    assert len(stream.log) == WAITING_MAX + 1 + 2_000


def test_a_stopped_stream_takes_nothing_more() -> None:
    stream = Stream()
    stream.put(1, 2, "commit")
    stream.ordered.stop()
    stream.judge(0.5)
    stream.put("commit", 3)
    assert stream.log == []
    assert stream.asked == []


def test_an_exception_is_passed_on_and_ends_the_stream() -> None:
    stream = Stream()
    stream.put("bad", "commit")
    assert [str(failure) for failure in stream.failures] == ["bad"]
    assert stream.log == []


def test_an_exception_after_a_judgement_is_passed_on_too() -> None:
    stream = Stream()
    stream.put(1, "commit")
    stream.judge(math.nan, ZeroDivisionError())
    assert [type(failure) for failure in stream.failures] == [ZeroDivisionError]
    assert stream.log == []


def test_a_reader_waits_only_while_too_much_waits_to_be_judged() -> None:
    stream = Stream()

    async def read() -> None:
        for item in range(AHEAD_MAX + 3):
            stream.put(item)
            if stream.ordered.is_ahead:
                await stream.ordered.settle()

    async def main() -> None:
        reading = asyncio.create_task(read())
        await asyncio.sleep(1)
        assert not reading.done()
        stream.judge(0.5)
        await asyncio.sleep(1)
        stream.judge(0.5)
        await asyncio.sleep(1)
        assert reading.done()

    run_simulated(main())


@pytest.mark.parametrize("ends", ["judged", "stopped"])
def test_the_end_of_a_stream_waits_for_its_last_frame(ends: str) -> None:
    stream = Stream()

    async def main() -> None:
        stream.put(1, "ended")
        settling = asyncio.create_task(stream.ordered.settle(0))
        await asyncio.sleep(1)
        assert not settling.done()
        if ends == "judged":
            stream.judge(0.5)
        else:
            stream.ordered.stop()
        await asyncio.sleep(1)
        assert settling.done()

    run_simulated(main())
    assert stream.log == (["1 is 0.5", "ended"] if ends == "judged" else [])


def test_a_reader_that_cannot_wait_loses_the_oldest_frames_and_no_marker() -> None:
    stream = Stream()
    stream.put(-1, "first", *range(WAITING_MAX + 20), "last")
    while stream.asked:
        stream.judge(0.5)
    assert stream.log[:2] == ["-1 is 0.5", "first"]
    assert stream.log[-1] == "last"
    frames = [line for line in stream.log if "is" in line]
    assert len(frames) == WAITING_MAX - 1  # two of those that may wait are markers
    assert frames[-1] == f"{WAITING_MAX + 19} is 0.5"
