"""A scripted worker: its steps in order, on the simulated clock."""

from __future__ import annotations

import asyncio

import pytest

from duologue.ports import Mode, ServiceError
from duologue.ports.scripted_steps import Delay, Fail, Hang
from duologue.runtime.simulated_clock import run_simulated
from duologue.workers.scripted import AskPerson, Partly, Progress, scripted_tool
from tests.workers.worker_fakes import NotedJob


def test_the_steps_report_to_the_job_and_a_text_is_the_result() -> None:
    job = NotedJob()
    worker = scripted_tool("look", Progress("Looking", 0.5), Partly("one"), "three")
    assert run_simulated(worker.run({"where": "here"}, job)) == "three"
    assert job.reports == [("Looking", 0.5)]
    assert job.partials == ["one"]
    assert worker.calls == [{"where": "here"}]


def test_an_answer_of_the_user_is_the_result_unless_a_text_follows() -> None:
    async def run() -> list[object]:
        job = NotedJob(answer="the second")
        asks, overrides = scripted_tool("a", AskPerson("Which?")), scripted_tool("b", AskPerson("Which?"), "done so")
        return [await asks.run({}, job), await overrides.run({}, job), asks.answers]

    assert run_simulated(run()) == ["the second", "done so", ["the second"]]


def test_without_steps_the_tool_is_done_at_once() -> None:
    worker = scripted_tool("look", mode="dispatch", cancellable=True)
    assert (worker.tool.mode, worker.tool.cancellable) == (Mode.DISPATCH, True)
    assert run_simulated(worker.run({}, NotedJob())) == "done"


def test_a_script_takes_its_time_and_can_fail() -> None:
    async def run() -> int:
        began = asyncio.get_running_loop().time()
        with pytest.raises(ServiceError, match="no luck"):
            await scripted_tool("look", Delay(1_500), Fail(message="no luck")).run({}, NotedJob())
        return round((asyncio.get_running_loop().time() - began) * 1000)

    assert run_simulated(run()) == 1_500


def test_a_cancelled_call_is_counted() -> None:
    async def run() -> int:
        worker = scripted_tool("look", Hang())
        running = asyncio.create_task(worker.run({}, NotedJob()))
        await asyncio.sleep(10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return worker.cancelled

    assert run_simulated(run()) == 1
