"""Connections to MCP servers: calls, progress, questions, failures and reconnects.

Most tests run four times: over both transports, at the newest revision of the protocol ("auto") and at
that of 2025 ("legacy"), because progress, questions and cancelling travel differently in each.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports import ServiceError
from duologue.workers import McpServer
from duologue.workers.mcp import McpDialect
from tests.limits import WAIT_S
from tests.workers.errand_shop import Shop, WebServer, Workers, ask, by_process, failure_of, with_workers
from tests.workers.worker_fakes import NotedJob


def test_several_calls_run_at_once(shop: Shop) -> None:
    async def main() -> list[object]:
        return await asyncio.gather(*(ask(shop.workers["add"], a=n, b=1) for n in range(20)))

    assert shop.run(main()) == [str(n + 1) for n in range(20)]


# -- Progress, cancelling, questions


def test_progress_arrives_and_a_cancel_reaches_only_its_own_call(shop: Shop) -> None:
    async def main() -> None:
        job, token = NotedJob(), os.urandom(8).hex()
        running = asyncio.create_task(ask(shop.workers["long_errand"], job, token=token))
        await job.hears("")
        assert job.reports == [("a quarter", 0.25), ("half way", 0.5), ("", None)]
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await ask(shop.workers["was_cancelled"], token=token) == "true"
        assert await ask(shop.workers["add"], a=1, b=1) == "2"

    shop.run(main())


def test_a_question_for_one_piece_of_text_is_asked_through_the_job(shop: Shop) -> None:
    job = NotedJob(answer="large")
    assert shop.run(ask(shop.workers["order_pizza"], job)) == "one large pizza"
    assert job.asked == ["What size?"]


def test_a_question_that_is_not_for_free_text_is_declined(shop: Shop) -> None:
    job = NotedJob(answer="thick")
    failure = shop.run(failure_of(ask(shop.workers["choose_dough"], job)))
    assert failure.error is ErrorClass.TOOL_ERROR
    assert "decline" in str(failure)
    assert job.asked == []


def test_a_question_that_cannot_be_asked_is_cancelled_and_the_call_ends(shop: Shop) -> None:
    class Deaf(NotedJob):
        async def ask(self, question: str) -> str:
            raise ServiceError(ErrorClass.UNKNOWN, question)

    failure = shop.run(failure_of(ask(shop.workers["order_pizza"], Deaf())))
    assert failure.error is ErrorClass.TOOL_ERROR
    assert "cancel" in str(failure)


def test_a_question_never_reaches_the_job_of_another_call(shop: Shop) -> None:
    async def main() -> None:
        other, mine = NotedJob(answer="tiny"), NotedJob(answer="large")
        running = asyncio.create_task(ask(shop.workers["long_errand"], other, token="other"))
        await other.hears("half way")
        if shop.way == ("stdio", "legacy"):  # the one way on which nothing tells whose question it is
            assert "decline" in str(await failure_of(ask(shop.workers["order_pizza"], mine)))
        else:
            assert await ask(shop.workers["order_pizza"], mine) == "one large pizza"
        assert other.asked == []
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    shop.run(main())


def test_a_question_on_a_line_of_several_callers_reaches_only_the_caller_whose_call_it_is(shop: Shop) -> None:
    """A process with the old protocol doesn't say whose question it is. A call that another caller has given up may
    still ask, so the question is declined."""

    async def main() -> None:
        other, mine = NotedJob(answer="tiny"), NotedJob(answer="large")
        theirs = shop.workers_of_another_caller()
        running = asyncio.create_task(ask(theirs["long_errand"], other, token="given up"))
        await other.hears("half way")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        if shop.way == ("stdio", "legacy"):
            assert "decline" in str(await failure_of(ask(shop.workers["order_pizza"], mine)))
            assert mine.asked == []
        else:
            assert await ask(shop.workers["order_pizza"], mine) == "one large pizza"
        assert other.asked == []

    shop.run(main())


# -- Failures


@pytest.mark.req("L-12")
def test_a_tool_that_fails_is_a_tool_error_with_its_own_message(shop: Shop) -> None:
    failure = shop.run(failure_of(ask(shop.workers["empty_till"])))
    assert failure.error is ErrorClass.TOOL_ERROR
    assert "the till is empty" in str(failure)


@pytest.mark.parametrize("dialect", ["auto", "legacy"])
def test_a_killed_process_fails_its_call_and_the_next_call_starts_a_new_one(dialect: McpDialect) -> None:
    async def main(workers: Workers) -> None:
        first = int(str(await ask(workers["pid"])))
        job = NotedJob()
        running = asyncio.create_task(ask(workers["long_errand"], job, token="killed"))
        await job.hears("half way")
        os.kill(first, signal.SIGKILL)
        failure = await failure_of(running)
        assert failure.error is ErrorClass.NETWORK_TIMEOUT
        pids = await asyncio.gather(ask(workers["pid"]), ask(workers["pid"]))
        assert pids[0] == pids[1] != str(first), "both came over one new process"
        mine = NotedJob(answer="large")
        assert await ask(workers["order_pizza"], mine) == "one large pizza", "not asked of the call that reopened"

    with_workers(by_process(dialect=dialect), main)


def test_a_process_that_died_between_calls_is_restarted_by_the_next_call() -> None:
    server = by_process()

    async def main(workers: Workers) -> None:
        first = str(await ask(workers["pid"]))
        os.kill(int(first), signal.SIGKILL)
        while server.is_connected:
            await asyncio.sleep(0.01)
        assert await ask(workers["pid"]) != first
        assert server.is_connected

    with_workers(server, main)


@pytest.mark.parametrize("dialect", ["auto", "legacy"])
def test_a_web_server_that_dies_fails_its_call_and_is_reached_again_after_a_restart(
    mortal_web: WebServer, dialect: McpDialect
) -> None:
    async def main(workers: Workers) -> None:
        job = NotedJob()
        running = asyncio.create_task(ask(workers["long_errand"], job, token="killed"))
        await job.hears("half way")
        mortal_web.kill()
        assert (await failure_of(running)).error is ErrorClass.NETWORK_TIMEOUT
        away = await failure_of(ask(workers["add"], a=1, b=1))
        assert away.error is ErrorClass.NETWORK_TIMEOUT
        mortal_web.start()
        assert await ask(workers["add"], a=1, b=1) == "2"

    with_workers(McpServer.http(mortal_web.url(), dialect=dialect), main)


@pytest.mark.parametrize("dialect", ["auto", "legacy"])
def test_a_web_server_that_was_restarted_between_calls_fails_no_call(
    mortal_web: WebServer, dialect: McpDialect
) -> None:
    async def main(workers: Workers) -> None:
        assert await ask(workers["add"], a=1, b=1) == "2"
        mortal_web.kill()
        mortal_web.start()
        assert await ask(workers["add"], a=1, b=2) == "3"

    with_workers(McpServer.http(mortal_web.url(), dialect=dialect), main)


# -- Opening and closing


def failure_to_open(server: McpServer) -> ServiceError:
    return asyncio.run(asyncio.wait_for(failure_of(server.open()), WAIT_S))


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ErrorClass.AUTH_FAILURE),
        (403, ErrorClass.AUTH_FAILURE),
        (429, ErrorClass.RATE_LIMIT),
        (503, ErrorClass.SERVER_ERROR),
        (404, ErrorClass.INVALID_ARGS),
    ],
)
def test_a_web_server_that_refuses_is_classified_by_its_status(web: WebServer, status: int, error: ErrorClass) -> None:
    assert failure_to_open(McpServer.http(web.url(f"/status/{status}/mcp"))).error is error


def test_an_unreachable_server_is_reported() -> None:
    gone = failure_to_open(McpServer.http("http://127.0.0.1:9/mcp"))
    assert (gone.error, str(gone)) == (ErrorClass.NETWORK_TIMEOUT, "127.0.0.1:9 can't be reached")
    missing = failure_to_open(McpServer.stdio("/no/such/command"))
    assert missing.error is ErrorClass.UNKNOWN
    assert "/no/such/command can't be started" in str(missing)
    ended = failure_to_open(McpServer.stdio(sys.executable, "-c", "", name="mayfly"))
    assert (ended.error, str(ended)) == (ErrorClass.NETWORK_TIMEOUT, "the connection to mayfly was lost")


def test_opening_a_server_that_never_answers_times_out() -> None:
    deaf = McpServer.stdio(sys.executable, "-c", "import sys; sys.stdin.read()", name="deaf", open_ms_max=300)
    failure = failure_to_open(deaf)
    assert (failure.error, str(failure)) == (ErrorClass.NETWORK_TIMEOUT, "deaf did not answer within 0.3 s")
