"""The model threads: urgent work first, slow work never takes the last thread, failures reach the caller."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from duologue.ears.model_threads import SWITCH_S, ModelLane, ModelThreads, Urgency
from duologue.fairness.counted_pools import PoolCounts
from duologue.fairness.owner import context_of

LONG_S = 20  # nothing here takes that long


@pytest.fixture
def threads() -> Iterator[ModelThreads]:
    made = ModelThreads(slow_max=1)
    yield made
    made.close()


class Blocker:
    """Slow work that ends when `end` is set."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.end = threading.Event()

    def __call__(self) -> None:
        self.began.set()
        assert self.end.wait(LONG_S)


@pytest.mark.parametrize(("before_s", "after_s"), [(0.005, SWITCH_S), (0.0005, 0.0005)])
def test_threads_that_compute_in_python_soon_give_way_to_the_event_loop(before_s: float, after_s: float) -> None:
    was_s = sys.getswitchinterval()
    sys.setswitchinterval(before_s)
    threads = ModelThreads(slow_max=1)
    try:
        ModelLane(threads, Urgency.FRAME).submit(int).result(20)
        assert sys.getswitchinterval() == pytest.approx(after_s)
    finally:
        threads.close()
        sys.setswitchinterval(was_s)


def test_work_returns_its_result_or_raises_its_failure(threads: ModelThreads) -> None:
    lane = ModelLane(threads, Urgency.PARTIAL)
    assert lane.submit(pow, 2, 10).result(LONG_S) == 1024
    with pytest.raises(ZeroDivisionError):
        lane.submit(lambda: 1 // 0).result(LONG_S)
    assert lane.submit(pow, 2, 3).result(LONG_S) == 8


def test_running_waiting_and_done_work_is_counted(threads: ModelThreads) -> None:
    slow = [Blocker(), Blocker()]
    futures = [ModelLane(threads, Urgency.FINAL).submit(work) for work in slow]
    assert slow[0].began.wait(LONG_S)
    assert threads.counts == PoolCounts(running=1, waiting=1)
    slow[0].end.set()
    assert slow[1].began.wait(LONG_S)
    assert threads.counts == PoolCounts(running=1, done=1)
    slow[1].end.set()
    futures[1].result(LONG_S)


def test_abandoned_work_no_longer_counts_as_running(threads: ModelThreads) -> None:
    hanging, lane = Blocker(), ModelLane(threads, Urgency.FINAL)
    future = lane.submit(hanging)
    assert hanging.began.wait(LONG_S)
    lane.abandon()
    lane.abandon()
    assert threads.counts == PoolCounts(done=1)
    hanging.end.set()
    future.result(LONG_S)
    ModelLane(threads, Urgency.FINAL).submit(int).result(LONG_S)
    assert threads.counts.running <= 1


def test_a_frame_is_processed_while_all_other_threads_transcribe(threads: ModelThreads) -> None:
    slow = [Blocker(), Blocker()]
    waiting = [ModelLane(threads, Urgency.FINAL).submit(work) for work in slow]
    assert slow[0].began.wait(LONG_S)
    assert ModelLane(threads, Urgency.FRAME).submit(pow, 2, 2).result(LONG_S) == 4
    assert not slow[1].began.is_set()
    for work in slow:
        work.end.set()
    for future in waiting:
        future.result(LONG_S)


def test_urgent_work_comes_first_and_equal_work_in_its_order(threads: ModelThreads) -> None:
    slow, order = Blocker(), []
    first = ModelLane(threads, Urgency.FINAL).submit(slow)
    assert slow.began.wait(LONG_S)
    partial, final = ModelLane(threads, Urgency.PARTIAL), ModelLane(threads, Urgency.FINAL)
    late = ModelLane(threads, Urgency.PARTIAL)
    jobs = [
        partial.submit(order.append, "partial"),
        partial.submit(order.append, "second partial"),
        late.submit(order.append, "a partial that became final"),
        final.submit(order.append, "final"),
    ]
    late.urgency = Urgency.FINAL
    slow.end.set()
    for job in [first, *jobs]:
        job.result(LONG_S)
    assert order == ["a partial that became final", "final", "partial", "second partial"]


def test_work_that_is_cancelled_in_time_never_runs(threads: ModelThreads) -> None:
    slow, done = Blocker(), []
    lane = ModelLane(threads, Urgency.PARTIAL)
    lane.submit(slow)
    assert slow.began.wait(LONG_S)
    cancelled = lane.submit(done.append, 1)
    assert cancelled.cancel()
    slow.end.set()
    lane.submit(done.append, 2).result(LONG_S)
    assert done == [2]


def test_stopped_threads_cancel_queued_work_and_accept_no_more() -> None:
    threads, slow = ModelThreads(slow_max=1), Blocker()
    lane = ModelLane(threads, Urgency.PARTIAL)
    running = lane.submit(slow)
    assert slow.began.wait(LONG_S)
    waiting = lane.submit(pow, 2, 2)
    closing = threading.Thread(target=threads.close)
    closing.start()
    with pytest.raises(CancelledError):
        waiting.result(LONG_S)
    slow.end.set()
    closing.join(LONG_S)
    assert running.result(LONG_S) is None
    with pytest.raises(RuntimeError, match="stopped"):
        lane.submit(pow, 2, 2)


@pytest.mark.parametrize("urgency", [Urgency.FRAME, Urgency.PARTIAL])
def test_work_that_hangs_does_not_keep_other_work_waiting(threads: ModelThreads, urgency: Urgency) -> None:
    hanging = [Blocker() for _ in range(3)]
    for work in hanging:
        lane = ModelLane(threads, urgency)
        lane.submit(work)
        assert work.began.wait(LONG_S)
        lane.abandon()
        lane.abandon()  # once is enough
    assert ModelLane(threads, Urgency.FINAL).submit(pow, 2, 2).result(LONG_S) == 4
    for work in hanging:
        work.end.set()


def test_work_that_hung_and_returns_at_last_changes_nothing(threads: ModelThreads) -> None:
    lane, hung, slow = ModelLane(threads, Urgency.FINAL), Blocker(), [Blocker(), Blocker()]
    late = lane.submit(hung)
    assert hung.began.wait(LONG_S)
    lane.abandon()
    hung.end.set()
    late.result(LONG_S)
    waiting = [ModelLane(threads, Urgency.FINAL).submit(work) for work in slow]
    assert slow[0].began.wait(LONG_S)
    assert ModelLane(threads, Urgency.FRAME).submit(pow, 2, 2).result(LONG_S) == 4, "a thread is left for frames"
    assert not slow[1].began.is_set()
    for work in slow:
        work.end.set()
    for future in waiting:
        future.result(LONG_S)


def test_queued_work_that_is_abandoned_never_runs(threads: ModelThreads) -> None:
    slow, done = Blocker(), []
    ModelLane(threads, Urgency.FINAL).submit(slow)
    assert slow.began.wait(LONG_S)
    lane = ModelLane(threads, Urgency.FINAL)
    lane.submit(done.append, 1)
    lane.abandon()
    slow.end.set()
    ModelLane(threads, Urgency.FINAL).submit(done.append, 2).result(LONG_S)
    assert done == [2]


def test_a_lane_without_work_has_nothing_to_abandon(threads: ModelThreads) -> None:
    ModelLane(threads, Urgency.FINAL).abandon()
    assert ModelLane(threads, Urgency.FINAL).submit(pow, 2, 2).result(LONG_S) == 4


def test_equally_urgent_work_of_two_conversations_runs_in_turns(threads: ModelThreads) -> None:
    blocker, order = Blocker(), []
    greedy, honest = (context_of(name).run(ModelLane, threads, Urgency.PARTIAL) for name in ("greedy", "honest"))
    first = greedy.submit(blocker)
    assert blocker.began.wait(LONG_S)
    waiting = [greedy.submit(order.append, f"g{number}") for number in range(3)]
    waiting += [honest.submit(order.append, "h0"), honest.submit(order.append, "h1")]
    blocker.end.set()
    for work in (first, *waiting):
        work.result(LONG_S)
    assert order == ["h0", "g0", "h1", "g1", "g2"]
