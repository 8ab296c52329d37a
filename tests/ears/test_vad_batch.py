"""One run of the detector serves the frames of many streams, a stream that is alone doesn't wait, and a failure reaches
each of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.ears.silero import VadMemory
from duologue.ears.vad_batch import ALONE_MAX, BATCH_MAX, TICK_S, VadBatches
from duologue.runtime.simulated_clock import run_simulated

Found = list[tuple[float, Exception | None]]


class Loudness:
    """A detector that returns the level of each frame, and records the size of its runs."""

    def __init__(self) -> None:
        self.runs: list[int] = []
        self.fails = False

    def judge(self, frame: Samples, memory: VadMemory) -> float:
        return self.probabilities([frame], [memory])[0]

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
        with batch.stream(), batch.stream():
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
        with batch.stream(), batch.stream():
            for _ in range(BATCH_MAX + 1):
                batch.ask(frame(0.5), VadMemory(), lambda *_: order.append("judged"))
            loop.call_soon(order.append, "other work")
            await asyncio.sleep(1)

    run_simulated(main())
    assert order == ["judged"] * BATCH_MAX + ["other work", "judged"]


@pytest.mark.parametrize("streams", [1, 2])
def test_a_stream_that_is_late_asks_again_in_an_answer_and_does_not_wait(streams: int) -> None:
    vad, found = Loudness(), list[float]()

    async def main() -> None:
        batch = VadBatches().of_loop(vad)

        def answer(probability: float, failure: Exception | None) -> None:
            assert failure is None
            found.append(probability)
            if len(found) < 20:
                batch.ask(frame(len(found) / 32), VadMemory(), answer)

        with ExitStack() as heard:
            for _ in range(streams):
                heard.enter_context(batch.stream())
            batch.ask(frame(0.0), VadMemory(), answer)
            for _ in range(25):
                await asyncio.sleep(0)

    run_simulated(main())
    assert found == [number / 32 for number in range(20)]
    assert vad.runs == [1] * 20


def test_frames_of_several_streams_wait_for_the_next_tick() -> None:
    vad, found = Loudness(), list[tuple[float, float]]()

    async def main() -> None:
        batch, now = VadBatches().of_loop(vad), asyncio.get_running_loop().time
        begun = now()
        with batch.stream(), batch.stream():
            for place in range(8):
                batch.ask(frame(place / 8), VadMemory(), lambda level, _: found.append((level, now() - begun)))
                await asyncio.sleep(0.3 * TICK_S)
            await asyncio.sleep(1)
            batch.ask(frame(1.0), VadMemory(), lambda level, _: found.append((level, now() - begun)))
            await asyncio.sleep(1)

    run_simulated(main())
    assert vad.runs == [1, 3, 3, 1, 1]
    waits_s = [at_s - level * 8 * 0.3 * TICK_S for level, at_s in found[:8]]
    assert [level for level, _ in found] == [place / 8 for place in range(8)] + [1.0]
    assert all(-1e-9 < wait_s <= TICK_S + 1e-9 for wait_s in waits_s)
    assert found[-1][1] == pytest.approx(1 + 8 * 0.3 * TICK_S), "a frame after a while doesn't wait"


def test_a_stream_that_is_alone_is_judged_at_once_but_leaves_time_for_other_work() -> None:
    vad, found = Loudness(), list[str]()

    async def main() -> None:
        batch = VadBatches().of_loop(vad)
        with batch.stream():
            batch.ask(frame(0.0), VadMemory(), lambda *_: found.append("at once"))
            assert found == ["at once"]
            asyncio.get_running_loop().call_soon(found.append, "other work")
            for _ in range(ALONE_MAX):
                batch.ask(frame(0.0), VadMemory(), lambda *_: found.append("late"))
            assert found == ["at once", *["late"] * (ALONE_MAX - 1)]
            await asyncio.sleep(1)

    run_simulated(main())
    assert found == ["at once", *["late"] * (ALONE_MAX - 1), "other work", "late"]


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
