"""Simulated time in which models take time: what work costs, its order, and that no result comes too soon."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ears.model_threads import ModelLane, ModelThreads, Urgency
from duologue.lab.recordings.busy_clock import TimedLoop, run_timed
from duologue.runtime.simulated_clock import SimulationStuck, end

THREADS = ModelThreads()  # never started: the loop does their work


class Processor:
    """Replaces the module `time`: work sets how long it takes."""

    def __init__(self) -> None:
        self.spent_s = 0.0

    def thread_time(self) -> float:
        return self.spent_s


@pytest.fixture(autouse=True)
def processor(monkeypatch: pytest.MonkeyPatch) -> Processor:
    made = Processor()
    monkeypatch.setattr("duologue.lab.recordings.busy_clock.time", made)
    return made


@dataclass
class Desk:
    """Sends work to the loop and records when its result came."""

    processor: Processor
    log: list[tuple[str, int]]

    def work(self, cost_ms: int, answer: object = None) -> Callable[[], object]:
        def do() -> object:
            self.processor.spent_s += cost_ms / 1000
            if isinstance(answer, Exception):
                raise answer
            return answer

        return do

    async def ask(self, name: str, cost_ms: int, lane: ModelLane) -> object:
        answer = await asyncio.get_running_loop().run_in_executor(lane, self.work(cost_ms, name))
        self.log.append((name, now_ms()))
        return answer


def now_ms() -> int:
    return round(asyncio.get_running_loop().time() * 1000)


def lane(urgency: Urgency) -> ModelLane:
    return ModelLane(THREADS, urgency)


def run(processor: Processor, scene: Callable[[Desk], Awaitable[None]]) -> list[tuple[str, int]]:
    async def main() -> list[tuple[str, int]]:
        desk = Desk(processor, [])
        await scene(desk)
        return desk.log

    return run_timed(main())


# -- What it costs


@pytest.mark.parametrize("urgency", list(Urgency))
@pytest.mark.parametrize("cost_ms", [0, 1, 35, 700])
def test_work_takes_as_long_as_it_kept_the_processor_busy(processor: Processor, urgency: Urgency, cost_ms: int) -> None:
    async def scene(desk: Desk) -> None:
        assert await desk.ask("one", cost_ms, lane(urgency)) == "one"

    assert run(processor, scene) == [("one", cost_ms)]


def test_work_that_is_not_of_a_model_takes_no_time(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        assert await asyncio.get_running_loop().run_in_executor(None, desk.work(500, "done")) == "done"
        assert now_ms() == 0

    run(processor, scene)


def test_a_caller_waits_for_each_result(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        for name in ("one", "two", "three"):
            await desk.ask(name, 100, lane(Urgency.FINAL))

    assert run(processor, scene) == [("one", 100), ("two", 200), ("three", 300)]


def test_a_failure_takes_its_time_too_and_is_raised_in_the_caller(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        with pytest.raises(ZeroDivisionError):
            await asyncio.get_running_loop().run_in_executor(lane(Urgency.FINAL), desk.work(250, ZeroDivisionError()))
        assert now_ms() == 250
        await desk.ask("next", 10, lane(Urgency.FINAL))

    assert run(processor, scene) == [("next", 260)]


def test_the_time_of_all_work_is_counted(processor: Processor) -> None:
    loop = TimedLoop()

    async def main() -> None:
        desk = Desk(processor, [])
        await asyncio.gather(*(desk.ask(str(urgency), 100, lane(urgency)) for urgency in Urgency))

    try:
        loop.run_until_complete(main())
    finally:
        end(loop)
    assert loop.worked_s == pytest.approx(0.1 * len(Urgency))


# -- Order


def test_slow_work_queues_and_the_urgent_comes_first(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        await asyncio.gather(
            desk.ask("partial 1", 100, lane(Urgency.PARTIAL)),
            desk.ask("partial 2", 100, lane(Urgency.PARTIAL)),
            desk.ask("final", 100, lane(Urgency.FINAL)),
            desk.ask("partial 3", 100, lane(Urgency.PARTIAL)),
        )

    assert run(processor, scene) == [("partial 1", 100), ("final", 200), ("partial 2", 300), ("partial 3", 400)]


def test_frames_never_wait_for_slow_work_nor_hold_it_up(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        await asyncio.gather(
            desk.ask("final", 300, lane(Urgency.FINAL)),
            desk.ask("partial", 300, lane(Urgency.PARTIAL)),
            desk.ask("frame 1", 2, lane(Urgency.FRAME)),
            desk.ask("frame 2", 2, lane(Urgency.FRAME)),
        )

    assert run(processor, scene) == [("frame 1", 2), ("frame 2", 2), ("final", 300), ("partial", 600)]


def test_work_that_becomes_urgent_while_it_waits_goes_ahead(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        mine = lane(Urgency.PARTIAL)
        asyncio.get_running_loop().call_later(0.05, setattr, mine, "urgency", Urgency.FINAL)
        await asyncio.gather(
            desk.ask("first", 100, lane(Urgency.PARTIAL)),
            desk.ask("other", 100, lane(Urgency.PARTIAL)),
            desk.ask("mine", 100, mine),
        )

    assert run(processor, scene) == [("first", 100), ("mine", 200), ("other", 300)]


def test_two_threads_work_at_once(processor: Processor) -> None:
    loop, log = TimedLoop(slow_max=2), list[tuple[str, int]]()

    async def main() -> None:
        desk = Desk(processor, log)
        await asyncio.gather(*(desk.ask(name, 100, lane(Urgency.FINAL)) for name in "abc"))

    try:
        loop.run_until_complete(main())
    finally:
        end(loop)
    assert log == [("a", 100), ("b", 100), ("c", 200)]


# -- Cancelling


def test_work_that_is_cancelled_while_it_waits_is_not_begun(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        first = asyncio.ensure_future(desk.ask("first", 100, lane(Urgency.FINAL)))
        second = asyncio.ensure_future(desk.ask("second", 100, lane(Urgency.FINAL)))
        third = asyncio.ensure_future(desk.ask("third", 100, lane(Urgency.FINAL)))
        await asyncio.sleep(0.05)
        second.cancel()
        await asyncio.gather(first, third)

    assert run(processor, scene) == [("first", 100), ("third", 200)]
    assert processor.spent_s == pytest.approx(0.2)


def test_work_that_is_given_up_while_it_runs_keeps_its_thread_to_the_end(processor: Processor) -> None:
    async def scene(desk: Desk) -> None:
        first = asyncio.ensure_future(desk.ask("first", 100, lane(Urgency.FINAL)))
        second = asyncio.ensure_future(desk.ask("second", 100, lane(Urgency.FINAL)))
        await asyncio.sleep(0.05)
        first.cancel()
        await second

    assert run(processor, scene) == [("second", 200)]


def test_a_loop_that_ends_while_work_waits_leaves_nothing_behind(processor: Processor) -> None:
    async def main() -> None:
        desk = Desk(processor, [])
        for _ in range(3):
            asyncio.ensure_future(desk.ask("never", 500, lane(Urgency.FINAL)))  # noqa: RUF006
        await asyncio.sleep(0.1)

    run_timed(main())
    assert processor.spent_s == pytest.approx(0.5)


def test_a_run_returns_raises_and_gets_stuck_like_any_simulation(processor: Processor) -> None:
    async def value() -> int:
        return 7

    async def failing() -> None:
        raise KeyError

    async def waiting() -> None:
        await asyncio.get_running_loop().create_future()

    assert run_timed(value()) == 7
    with pytest.raises(KeyError):
        run_timed(failing())
    with pytest.raises(SimulationStuck):
        run_timed(waiting())


# -- Random work


jobs = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 200), st.sampled_from(list(Urgency))), min_size=1, max_size=20
)


@given(given_jobs=jobs, slow_max=st.integers(1, 3))
def test_no_answer_comes_sooner_than_a_machine_could_give_it(
    given_jobs: list[tuple[int, int, Urgency]], slow_max: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        processor = Processor()
        patch.setattr("duologue.lab.recordings.busy_clock.time", processor)
        loop, answers = TimedLoop(slow_max), dict[int, int]()

        async def one(number: int, at_ms: int, cost_ms: int, urgency: Urgency) -> None:
            await asyncio.sleep(at_ms / 1000)
            work = Desk(processor, []).work(cost_ms, number)
            assert await asyncio.get_running_loop().run_in_executor(lane(urgency), work) == number
            answers[number] = now_ms()

        async def main() -> None:
            await asyncio.gather(*(one(number, *job) for number, job in enumerate(given_jobs)))

        try:
            loop.run_until_complete(main())
        finally:
            end(loop)
    assert len(answers) == len(given_jobs)
    for number, (at_ms, cost_ms, urgency) in enumerate(given_jobs):
        assert answers[number] >= at_ms + cost_ms
        if urgency is Urgency.FRAME:
            assert answers[number] == at_ms + cost_ms
    slow = [(answers[number] - cost, answers[number]) for number, (_, cost, u) in enumerate(given_jobs) if u and cost]
    for start, _ in slow:
        assert sum(other <= start < until for other, until in slow) <= slow_max, "more at once than there are threads"
