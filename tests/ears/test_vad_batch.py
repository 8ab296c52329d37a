"""One run of the detector serves all frames that arrived together, and a failure reaches each of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import numpy as np

from duologue.audio.frames import Samples
from duologue.ears.silero import VadMemory
from duologue.ears.vad_batch import BATCH_MAX, VadBatches
from duologue.runtime.simulated_clock import run_simulated

Found = list[tuple[float, Exception | None]]


class Loudness:
    """A detector that returns the level of each frame, and records the size of its runs."""

    def __init__(self) -> None:
        self.runs: list[int] = []
        self.fails = False

    def probabilities(self, frames: Sequence[Samples], memories: Sequence[VadMemory]) -> list[float]:
        assert len(frames) == len(memories)
        self.runs.append(len(frames))
        if self.fails:
            raise ZeroDivisionError
        return [float(frame[0]) for frame in frames]


def frame(level: float) -> Samples:
    return np.full(512, level, np.float32)


def judged(vad: Loudness, *levels: float) -> Found:
    """What is found in frames of these levels that arrive together."""
    found: Found = []

    async def main() -> None:
        batch = VadBatches().of_loop(vad)
        for level in levels:
            batch.ask(frame(level), VadMemory(), lambda *answer: found.append(answer))
        assert not found, "frames that arrive now share a run"
        await asyncio.sleep(1)

    run_simulated(main())
    return found


def test_frames_that_arrive_together_share_one_run_and_get_their_own_result() -> None:
    vad, levels = Loudness(), [number / 8 for number in range(8)]
    assert judged(vad, *levels) == [(level, None) for level in levels]
    assert vad.runs == [8]


def test_more_frames_than_a_batch_takes_go_into_the_next_run() -> None:
    vad = Loudness()
    assert judged(vad, *[0.5] * (BATCH_MAX + 3)) == [(0.5, None)] * (BATCH_MAX + 3)
    assert vad.runs == [BATCH_MAX, 3]


def test_other_work_of_the_loop_runs_between_two_runs() -> None:
    vad, order = Loudness(), list[str]()

    async def main() -> None:
        loop, batch = asyncio.get_running_loop(), VadBatches().of_loop(vad)
        for _ in range(BATCH_MAX + 1):
            batch.ask(frame(0.5), VadMemory(), lambda *_: order.append("judged"))
        loop.call_soon(order.append, "other work")
        await asyncio.sleep(1)

    run_simulated(main())
    assert order == ["judged"] * BATCH_MAX + ["other work", "judged"]


def test_a_frame_that_is_asked_about_in_an_answer_goes_into_the_next_run() -> None:
    vad, found = Loudness(), list[float]()

    async def main() -> None:
        batch = VadBatches().of_loop(vad)

        def answer(probability: float, failure: Exception | None) -> None:
            assert failure is None
            found.append(probability)
            if len(found) < 3:
                batch.ask(frame(0.25 * len(found)), VadMemory(), answer)

        batch.ask(frame(1.0), VadMemory(), answer)
        await asyncio.sleep(1)

    run_simulated(main())
    assert found == [1.0, 0.25, 0.5]
    assert vad.runs == [1, 1, 1]


def test_a_failure_reaches_every_stream_and_the_next_run_works() -> None:
    vad = Loudness()
    vad.fails = True
    failed = judged(vad, 0.1, 0.2)
    assert len(failed) == 2
    assert all(math.isnan(probability) and isinstance(why, ZeroDivisionError) for probability, why in failed)
    vad.fails = False
    assert judged(vad, 0.25) == [(0.25, None)]


def test_each_event_loop_has_its_own_batch() -> None:
    batches, vad = VadBatches(), Loudness()

    async def main() -> int:
        assert batches.of_loop(vad) is batches.of_loop(vad)
        return id(batches.of_loop(vad))

    with asyncio.Runner() as one, asyncio.Runner() as other:
        assert one.run(main()) != other.run(main())
