"""One run of the detector serves all frames that arrived together, and a failure reaches each of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.model_threads import ModelLane, ModelThreads, Urgency
from duologue.ears.silero import VadMemory
from duologue.ears.vad_batch import BATCH_MAX, VadBatches
from duologue.runtime.simulated_clock import run_simulated
from tests.limits import WAIT_S


class Loudness:
    """A detector that returns the level of each frame, and records the size of its runs."""

    def __init__(self) -> None:
        self.runs: list[int] = []
        self.fails = False

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]:
        self.runs.append(len(frames))
        if self.fails:
            raise ZeroDivisionError
        return [float(frame[0]) for frame in frames]


@pytest.fixture
def lane() -> Iterator[ModelLane]:
    threads = ModelThreads(slow_max=1)
    yield ModelLane(threads, Urgency.FRAME)
    threads.close()


def frame(level: float) -> Samples:
    return np.full(512, level, np.float32)


def test_frames_that_arrive_together_share_one_run_and_get_their_own_result(lane: ModelLane) -> None:
    vad = Loudness()

    async def main() -> None:
        batch = VadBatches().of_loop(vad, lane)
        levels = [number / 8 for number in range(8)]
        assert await asyncio.gather(*(batch.request(frame(level), VadMemory()) for level in levels)) == levels

    run_simulated(main())
    assert vad.runs == [8]


def test_more_frames_than_a_batch_takes_go_into_the_next_run(lane: ModelLane) -> None:
    vad = Loudness()

    async def main() -> None:
        batch = VadBatches().of_loop(vad, lane)
        found = await asyncio.gather(*(batch.request(frame(0.5), VadMemory()) for _ in range(BATCH_MAX + 3)))
        assert found == [0.5] * (BATCH_MAX + 3)

    run_simulated(main())
    assert vad.runs == [BATCH_MAX, 3]


def test_a_cancelled_request_is_left_out(lane: ModelLane) -> None:
    vad = Loudness()

    async def main() -> None:
        batch = VadBatches().of_loop(vad, lane)
        cancelled, other = batch.request(frame(0.1), VadMemory()), batch.request(frame(0.2), VadMemory())
        cancelled.cancel()
        assert await other == pytest.approx(0.2)

    run_simulated(main())
    assert vad.runs == [1]


def test_a_failure_reaches_every_request_and_the_next_run_works(lane: ModelLane) -> None:
    vad = Loudness()

    async def main() -> None:
        batch = VadBatches().of_loop(vad, lane)
        vad.fails = True
        failed = await asyncio.gather(
            *(batch.request(frame(0.1), VadMemory()) for _ in range(2)), return_exceptions=True
        )
        assert all(isinstance(failure, ZeroDivisionError) for failure in failed)
        vad.fails = False
        assert await batch.request(frame(0.25), VadMemory()) == 0.25

    run_simulated(main())


def test_each_event_loop_has_its_own_batch(lane: ModelLane) -> None:
    batches, vad = VadBatches(), Loudness()

    async def main() -> int:
        assert batches.of_loop(vad, lane) is batches.of_loop(vad, lane)
        return id(batches.of_loop(vad, lane))

    with asyncio.Runner() as one, asyncio.Runner() as other:
        assert one.run(main()) != other.run(main())


def test_a_run_that_hangs_is_left_behind(lane: ModelLane) -> None:
    class Hanging(Loudness):
        def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]:
            began.set()
            assert may.wait(WAIT_S)
            return super().probabilities(frames, memories)

    began, may = threading.Event(), threading.Event()

    async def main() -> None:
        batches, vad = VadBatches(), Loudness()
        hung = batches.of_loop(Hanging(), lane).request(frame(0.1), VadMemory())
        assert await asyncio.to_thread(began.wait, 20)
        batches.abandon()
        batches.abandon()  # once is enough
        assert await batches.of_loop(vad, lane).request(frame(0.5), VadMemory()) == 0.5
        may.set()
        assert await hung == pytest.approx(0.1)

    asyncio.run(asyncio.wait_for(main(), 60))
