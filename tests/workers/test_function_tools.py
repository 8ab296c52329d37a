"""Functions as tools: declared, run in threads or awaited, with a job to report to."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, Mode, ServiceError
from duologue.workers import FunctionWorker, as_worker, tool
from duologue.workers.function_tools import ThreadJob
from tests.limits import WAIT_S
from tests.workers.booking_tool import book, refusal, run
from tests.workers.worker_fakes import NotedJob


def test_options_set_the_tools_name_description_and_mode() -> None:
    @tool(name="dig-deep", description="Digs.", mode="delegate", cancellable=True)
    def dig(metres: int) -> int:
        return metres

    made = as_worker(dig).tool
    assert (made.name, made.description, made.mode, made.cancellable) == ("dig-deep", "Digs.", Mode.DELEGATE, True)
    assert tool(mode=Mode.DISPATCH)(dig) is dig
    assert as_worker(dig).tool.mode is Mode.DISPATCH


def test_a_decorated_function_can_still_be_called_directly() -> None:
    @tool
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert add(2) == 3
    assert not isinstance(add, FunctionWorker)


def many(*names: str) -> None: ...


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "dot.ted"])
def test_a_name_that_models_do_not_accept_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="can't be a tool's name: pass name="):
        tool(name=name)(many)


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'tool', 'delegate', 'dispatch', not 'later'"):
        tool(mode="later")(run)  # type: ignore[arg-type]


# -- Running


def test_an_async_function_is_awaited() -> None:
    @tool
    async def fetch(n: int) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"n": n}

    assert run(fetch, {"n": 1}) == {"n": 1}


def test_a_plain_function_runs_in_a_thread_with_its_context() -> None:
    caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller")
    seen: list[object] = []
    go_on = threading.Event()

    def work() -> str:
        seen.append((caller.get(), threading.current_thread() is threading.main_thread()))
        return "free" if go_on.wait(WAIT_S) else "the loop was held up"

    async def main() -> object:
        caller.set("Ada")
        running = asyncio.create_task(as_worker(work).run({}, NotedJob()))
        await asyncio.sleep(0)
        go_on.set()  # only a loop that goes on gets here
        return await running

    assert asyncio.run(main()) == "free"
    assert seen == [("Ada", False)]


def test_methods_know_their_object() -> None:
    class Shop:
        def __init__(self, stock: dict[str, int]) -> None:
            self.stock = stock

        @tool(cancellable=True)
        async def find(self, what: str) -> int:
            """How many there are."""
            return self.stock[what]

        def count(self) -> int:
            return len(self.stock)

        @classmethod
        @tool
        def name(cls) -> str:
            return cls.__name__

        @staticmethod
        @tool
        def twice(n: int) -> int:
            return 2 * n

    shop, other = Shop({"apple": 3}), Shop({"apple": 5, "pear": 1})
    assert as_worker(shop.find).tool.parameters["required"] == ["what"]
    assert as_worker(shop.find).tool.cancellable
    assert run(shop.find, {"what": "apple"}) == 3
    assert run(other.find, {"what": "apple"}) == 5
    assert run(other.count, {}) == 2
    assert run(shop.name, {}) == "Shop"
    assert run(Shop.twice, {"n": 4}) == 8
    with pytest.raises(TypeError, match=r"find is a method: pass the method of an instance"):
        as_worker(Shop.find)


def test_a_wrapped_function_keeps_its_hints_and_is_awaited() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @tool
    @logged
    async def find(what: str, job: Job) -> str:
        return f"{what}? {await job.ask('Which one?')}"

    assert list(as_worker(find).tool.parameters["properties"]) == ["what"]
    assert run(find, {"what": "apple"}, NotedJob(answer="the red one")) == "apple? the red one"


def test_a_worker_is_returned_unchanged_and_a_class_is_refused() -> None:
    worker = as_worker(book)
    assert as_worker(worker) is worker
    with pytest.raises(TypeError, match="FunctionWorker is a class: pass an instance of it"):
        as_worker(FunctionWorker)


# -- Jobs


def test_a_parameter_of_type_job_gets_the_running_job_and_is_not_in_the_schema() -> None:
    @tool(mode="delegate")
    async def plan(goal: str, job: Job) -> str:
        """Plan something.

        Args:
            goal: What for.
            job: Not for brains.
        """
        job.progress("thinking", 0.5)
        job.partial("half a plan")
        job.detach()
        return f"{goal} by {await job.ask('When?')}, call {job.call}"

    job = NotedJob(call=7, answer="Friday")
    assert list(as_worker(plan).tool.parameters["properties"]) == ["goal"]
    assert run(plan, {"goal": "party"}, job) == "party by Friday, call 7"
    assert (job.reports, job.partials, job.asked, job.detached) == (
        [("thinking", 0.5)],
        ["half a plan"],
        ["When?"],
        True,
    )
    assert "`job` is not an argument" in refusal(plan, {"goal": "x", "job": 1})


def test_an_optional_job_is_a_job_too() -> None:
    def work(job: Job | None = None) -> bool:
        return job is not None

    assert run(work, {}) is True
    assert as_worker(work).tool.parameters["properties"] == {}


def test_a_thread_reports_to_its_job_in_the_event_loop() -> None:
    threads = []

    class Watching(NotedJob):
        def progress(self, text: str, fraction: float | None = None) -> None:
            threads.append(threading.current_thread())
            super().progress(text, fraction)

    def work(job: Job) -> int:
        job.progress("one", 0.1)
        job.partial("some")
        job.detach()
        job.progress("two")
        return job.call

    async def main() -> Watching:
        job = Watching(call=3)
        assert await as_worker(work).run({}, job) == 3
        return job

    job = asyncio.run(main())
    assert job.reports == [("one", 0.1), ("two", None)]
    assert (job.partials, job.detached) == (["some"], True)
    assert set(threads) == {threading.main_thread()}


def test_without_threads_the_job_gets_reports_at_once() -> None:
    async def main() -> None:
        job = NotedJob()
        ThreadJob(job).progress("now")
        assert job.reports == [("now", None)]

    asyncio.run(main())


def test_only_an_async_function_can_ask_the_user() -> None:
    def work(job: Job) -> str:
        return job.ask("Which?")  # type: ignore[return-value]

    with pytest.raises(ServiceError, match="write `async def`"):
        run(work, {})


def test_reports_of_a_cancelled_thread_are_dropped() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.progress("started")
        go_on.wait(WAIT_S)
        job.progress("too late")
        ended.set()

    async def main() -> NotedJob:
        job = NotedJob()
        running = asyncio.create_task(as_worker(work).run({}, job))
        await job.hears("started")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        go_on.set()
        assert await asyncio.to_thread(ended.wait, WAIT_S)
        await asyncio.sleep(0)
        return job

    assert asyncio.run(main()).reports == [("started", None)]


def test_cancelling_the_job_cancels_an_async_function() -> None:
    seen = []

    async def work(job: Job) -> None:
        job.progress("started")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        job = NotedJob()
        running = asyncio.create_task(as_worker(work).run({}, job))
        await job.hears("started")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert seen == ["cancelled"]


# -- Failures


@pytest.mark.req("L-12")
def test_a_function_that_raises_is_a_tool_error_whatever_it_raised() -> None:
    def locked() -> None:
        raise PermissionError("the door is locked")

    async def empty() -> None:
        raise KeyError

    for work, said in ((locked, "PermissionError: the door is locked"), (empty, "KeyError")):
        with pytest.raises(ServiceError) as failed:
            run(work, {})
        assert failed.value.error is ErrorClass.TOOL_ERROR
        assert str(failed.value) == said
        assert isinstance(failed.value.__cause__, PermissionError | KeyError)


def test_a_function_may_classify_its_failure_itself() -> None:
    def busy() -> None:
        raise ServiceError(ErrorClass.RATE_LIMIT, "later")

    with pytest.raises(ServiceError) as failed:
        run(busy, {})
    assert failed.value.error is ErrorClass.RATE_LIMIT


# -- What it costs


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_workers_loads_neither_pydantic_nor_the_mcp_sdk() -> None:
    code = "import sys, duologue.workers; print(sorted({'pydantic', 'mcp', 'mcp_types', 'httpx2'} & set(sys.modules)))"
    assert in_a_fresh_python(code) == "[]"


@pytest.mark.parametrize(
    ("missing", "use", "advice"),
    [
        ("pydantic", "duologue.workers.as_worker(f)", "pip install 'duologue[tools]'"),
        ("mcp", "asyncio.run(duologue.workers.McpServer.stdio('x').open())", "pip install 'duologue[mcp]'"),
    ],
)
def test_a_missing_package_is_named_in_one_line(missing: str, use: str, advice: str) -> None:
    code = (
        f"import asyncio, sys; sys.modules['{missing}'] = None\n"
        f"import duologue.workers\ndef f(n: int) -> int: ...\n"
        f"try:\n    {use}\nexcept ImportError as missing: print(missing)"
    )
    assert in_a_fresh_python(code).endswith(advice)
