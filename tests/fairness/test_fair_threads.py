"""Real threads: work of one conversation doesn't delay that of another one, and what doesn't fit is refused."""

from __future__ import annotations

import asyncio
import threading

import pytest

from duologue.fairness.fair_queue import QueueFull, Shares
from duologue.fairness.fair_threads import FairThreads
from duologue.fairness.owner import context_of, owner
from tests.limits import WAIT_S


def pool(places: int = 4, each_max: int = 2, waiting_max: int = 16) -> FairThreads:
    return FairThreads("test", Shares(places, each_max, waiting_max))


def test_seven_blocking_calls_of_one_conversation_dont_delay_another_one() -> None:
    threads, release = pool(), threading.Event()
    blocked = [threads.submit_for("greedy", release.wait) for _ in range(7)]
    assert threads.submit_for("honest", lambda: "served").result(WAIT_S) == "served"
    assert threads.counts.running == 2
    assert not any(one.done() for one in blocked)
    release.set()
    assert all(one.result(WAIT_S) for one in blocked)


def test_several_calls_run_at_the_same_time_if_there_is_room() -> None:
    threads, together = pool(places=8), threading.Barrier(3)
    futures = [threads.submit_for(str(number), together.wait) for number in range(3)]
    assert sorted(one.result(WAIT_S) for one in futures) == [0, 1, 2]


def test_work_that_doesnt_fit_is_refused_and_counted() -> None:
    threads, release = pool(places=1, waiting_max=1), threading.Event()
    started = threading.Event()

    def block() -> None:
        started.set()
        release.wait()

    threads.submit_for("greedy", block)
    assert started.wait(WAIT_S)
    second = threads.submit_for("greedy", release.wait)
    with pytest.raises(QueueFull):
        threads.submit_for("greedy", release.wait)
    assert threads.counts.refused == 1
    release.set()
    second.result(WAIT_S)


def test_work_is_counted_for_the_conversation_whose_task_asks() -> None:
    async def main() -> str:
        threads = pool()
        return await asyncio.get_running_loop().create_task(threads.run(owner), context=context_of("mine"))

    assert asyncio.run(main()) == "mine"
    assert owner() == ""


def test_a_failure_reaches_the_caller_and_the_thread_goes_on() -> None:
    threads = pool(places=1)

    def fail() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        threads.submit_for("a", fail).result(WAIT_S)
    assert threads.submit_for("a", lambda: 1).result(WAIT_S) == 1


def test_cancelled_work_never_runs() -> None:
    threads, release, ran = pool(places=1), threading.Event(), []
    first = threads.submit_for("a", release.wait)
    second = threads.submit_for("a", lambda: ran.append(1))
    assert second.cancel()
    release.set()
    first.result(WAIT_S)
    threads.submit_for("a", lambda: None).result(WAIT_S)
    assert not ran
