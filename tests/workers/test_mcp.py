"""MCP servers as sources of workers: their tools, names, opening and closing."""

from __future__ import annotations

import asyncio
import os

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports import Mode
from duologue.workers import McpServer
from tests.limits import TEST_S, WAIT_S
from tests.workers.errand_shop import Shop, WebServer, Workers, ask, by_process, failure_of, with_workers
from tests.workers.worker_fakes import NotedJob

# -- Tools and results


def test_every_tool_of_the_server_becomes_a_worker(shop: Shop) -> None:
    tool = shop.workers["add"].tool
    assert tool.description == "Add two numbers."
    assert tool.parameters["required"] == ["a", "b"]
    assert (tool.mode, tool.cancellable) == (Mode.TOOL, False)
    long = shop.workers["long_errand"].tool
    assert (long.mode, long.cancellable) == (Mode.DELEGATE, True)
    assert shop.run(ask(shop.workers["add"], a=2, b=3)) == "5"


def test_tool_names_are_cleaned_for_models_and_the_server_gets_its_own(web: WebServer) -> None:
    async def main(workers: Workers) -> None:
        assert await ask(workers["shop_files_find"], pattern="*.txt") == "*.txt here"

    with_workers(McpServer.http(web.url(), prefix="shop."), main)


@pytest.mark.req("L-07")
def test_arguments_are_checked_here_and_by_the_server(shop: Shop) -> None:
    here = shop.run(failure_of(ask(shop.workers["add"], a="x")))
    assert here.error is ErrorClass.INVALID_ARGS
    assert str(here) == "wrong arguments: `b` is missing; `a` should be of type integer"
    there = shop.run(failure_of(ask(shop.workers["no_shelf"])))
    assert (there.error, str(there)) == (ErrorClass.INVALID_ARGS, "there is no such shelf")


def test_headers_go_with_every_call(web: WebServer) -> None:
    async def main(workers: Workers) -> None:
        assert await ask(workers["header"], name="x-shop") == "corner"

    with_workers(McpServer.http(web.url(), {"x-shop": "corner"}), main)


def test_a_mode_for_a_tool_that_is_not_there_is_refused(web: WebServer) -> None:
    server = McpServer.http(web.url(), modes={"long_erand": "delegate"})
    with pytest.raises(ValueError, match="no tool 'long_erand'; it has: add, "):
        asyncio.run(server.open())


def test_closing_ends_the_process_and_fails_the_calls_in_progress() -> None:
    async def main() -> None:
        server = by_process(env={"SHOP": "corner"})
        await server.open()
        workers = {worker.tool.name: worker for worker in server.workers()}
        assert await ask(workers["variable"], name="SHOP") == "corner"
        pid = int(str(await ask(workers["pid"])))
        job = NotedJob()
        running = asyncio.create_task(ask(workers["long_errand"], job, token="closed"))
        await job.hears("half way")
        await server.close()
        assert (await failure_of(running)).error is ErrorClass.NETWORK_TIMEOUT
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert "is not open" in str(await failure_of(ask(workers["add"], a=1, b=1)))
        await server.open()
        assert await ask(workers["add"], a=1, b=1) == "2"
        await server.close()

    asyncio.run(asyncio.wait_for(main(), TEST_S))


def test_a_server_may_be_closed_by_another_task_than_the_one_that_opened_it(web: WebServer) -> None:
    async def main() -> None:
        for server in (McpServer.http(web.url()), by_process()):
            await asyncio.create_task(server.open())
            await asyncio.create_task(server.close())
            await server.close()

    asyncio.run(asyncio.wait_for(main(), WAIT_S))


def test_a_server_that_is_not_shared_gives_each_conversation_a_connection_of_its_own() -> None:
    async def main() -> None:
        server = by_process(shared=False)
        first, second = server.for_one_conversation(), server.for_one_conversation()
        async with first, second:
            pids = [
                await ask(next(worker for worker in own.workers() if worker.tool.name == "pid"))
                for own in (first, second)
            ]
        assert pids[0] != pids[1]
        assert by_process().for_one_conversation().shared

    asyncio.run(asyncio.wait_for(main(), TEST_S))
