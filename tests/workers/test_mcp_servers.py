"""MCP servers as workers, against a real server: as a process over stdio, and over streamable HTTP.

Most tests run four times: over both transports, at the newest revision of the protocol ("auto") and at
that of 2025 ("legacy"), because progress, questions and cancelling travel differently in each.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, Mode, ServiceError, Worker
from duologue.workers import McpServer
from duologue.workers.mcp import McpDialect
from duologue.workers.mcp_content import check_arguments, text_of
from tests.workers.worker_fakes import WAIT_S_MAX, NotedJob

SCRIPT = str(Path(__file__).with_name("mcp_errand_server.py"))
WAYS = [(transport, dialect) for transport in ("stdio", "http") for dialect in ("auto", "legacy")]

Workers = dict[str, Worker]
T = TypeVar("T")


class WebServer:
    """The errand server in a process of its own, on a free port that it keeps when it is restarted."""

    def __init__(self) -> None:
        self.port = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, SCRIPT, "http", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    server = WebServer()
    yield server
    server.kill()


@pytest.fixture
def mortal_web() -> Iterator[WebServer]:
    """One that the test may kill."""
    server = WebServer()
    yield server
    server.kill()


class Shop:
    """The errand server, open for the whole module: its event loop stands still between two tests."""

    def __init__(self, server: McpServer, way: tuple[str, str]) -> None:
        self.way = way
        self._server = server
        self._runner = asyncio.Runner()
        self.run(server.open())
        self.workers = {worker.tool.name: worker for worker in server.workers()}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(asyncio.wait_for(work, WAIT_S_MAX))

    def close(self) -> None:
        self.run(self._server.close())
        self._runner.close()


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    """The errand server, each time over another transport and dialect."""
    transport, dialect = request.param
    options: Any = {"dialect": dialect, "modes": {"long_errand": "delegate"}, "cancellable": ["long_errand"]}
    if transport == "stdio":
        server = McpServer.stdio(sys.executable, SCRIPT, **options)
    else:
        server = McpServer.http(request.getfixturevalue("web").url(), **options)
    shop = Shop(server, request.param)
    yield shop
    shop.close()


def with_workers(server: McpServer, main: Callable[[Workers], Awaitable[None]]) -> None:
    """A test with a server of its own."""

    async def run() -> None:
        async with asyncio.timeout(2 * WAIT_S_MAX), server:
            await main({worker.tool.name: worker for worker in server.workers()})

    asyncio.run(run())


async def ask(worker: Worker, job: Job | None = None, **arguments: Any) -> object:
    return await worker.run(arguments, job or NotedJob())


async def failure_of(work: Awaitable[object]) -> ServiceError:
    with pytest.raises(ServiceError) as failed:
        await work
    return failed.value


# -- Tools and results


def test_every_tool_of_the_server_becomes_a_worker(shop: Shop) -> None:
    tool = shop.workers["add"].tool
    assert tool.description == "Add two numbers."
    assert tool.parameters["required"] == ["a", "b"]
    assert (tool.mode, tool.cancellable) == (Mode.TOOL, False)
    long = shop.workers["long_errand"].tool
    assert (long.mode, long.cancellable) == (Mode.DELEGATE, True)
    assert shop.run(ask(shop.workers["add"], a=2, b=3)) == "5"


def test_names_are_made_fit_for_models_and_the_server_is_called_by_its_own(web: WebServer) -> None:
    async def main(workers: Workers) -> None:
        assert await ask(workers["shop_files_find"], pattern="*.txt") == "*.txt here"

    with_workers(McpServer.http(web.url(), prefix="shop."), main)


def test_results_are_text_and_pictures_are_named(shop: Shop) -> None:
    weather = str(shop.run(ask(shop.workers["weather"], city="Rome")))
    assert weather.count("Rome") == 1, "structured content that the text repeats is told once"
    assert shop.run(ask(shop.workers["picture"])) == "Here it is.\n[image: image/png, 3 kB]"
    assert shop.run(ask(shop.workers["nothing"])) == "done"


def test_several_calls_run_at_once(shop: Shop) -> None:
    async def main() -> list[object]:
        return await asyncio.gather(*(ask(shop.workers["add"], a=n, b=1) for n in range(20)))

    assert shop.run(main()) == [str(n + 1) for n in range(20)]


# -- Progress, cancelling, questions


def test_progress_arrives_and_a_cancel_is_seen_by_the_server_and_harms_nothing_else(shop: Shop) -> None:
    async def main() -> None:
        job, token = NotedJob(), os.urandom(8).hex()
        running = asyncio.create_task(ask(shop.workers["long_errand"], job, token=token))
        await job.hears("")
        assert job.told == [("a quarter", 0.25), ("half way", 0.5), ("", None)]
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


# -- Failures


@pytest.mark.req("L-12")
def test_a_tool_that_fails_is_a_tool_error_with_its_own_words(shop: Shop) -> None:
    failure = shop.run(failure_of(ask(shop.workers["empty_till"])))
    assert failure.error is ErrorClass.TOOL_ERROR
    assert "the till is empty" in str(failure)


@pytest.mark.req("L-07")
def test_arguments_are_checked_here_and_by_the_server(shop: Shop) -> None:
    here = shop.run(failure_of(ask(shop.workers["add"], a="x")))
    assert here.error is ErrorClass.INVALID_ARGS
    assert str(here) == "wrong arguments: `b` is missing; `a` should be of type integer"
    there = shop.run(failure_of(ask(shop.workers["no_shelf"])))
    assert (there.error, str(there)) == (ErrorClass.INVALID_ARGS, "there is no such shelf")


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

    with_workers(McpServer.stdio(sys.executable, SCRIPT, dialect=dialect), main)


def test_a_process_that_died_between_calls_costs_no_call_once_that_is_noticed() -> None:
    server = McpServer.stdio(sys.executable, SCRIPT)

    async def main(workers: Workers) -> None:
        first = str(await ask(workers["pid"]))
        os.kill(int(first), signal.SIGKILL)
        while server.is_connected:
            await asyncio.sleep(0.01)
        assert await ask(workers["pid"]) != first
        assert server.is_connected

    with_workers(server, main)


@pytest.mark.parametrize("dialect", ["auto", "legacy"])
def test_a_web_server_that_dies_fails_its_call_and_is_found_again_when_it_is_back(
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
def test_a_web_server_that_was_restarted_between_calls_costs_no_call(
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
    return asyncio.run(asyncio.wait_for(failure_of(server.open()), WAIT_S_MAX))


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


def test_a_server_that_is_not_there_is_said_so() -> None:
    gone = failure_to_open(McpServer.http("http://127.0.0.1:9/mcp"))
    assert (gone.error, str(gone)) == (ErrorClass.NETWORK_TIMEOUT, "127.0.0.1:9 can't be reached")
    missing = failure_to_open(McpServer.stdio("/no/such/command"))
    assert missing.error is ErrorClass.UNKNOWN
    assert "/no/such/command can't be started" in str(missing)
    ended = failure_to_open(McpServer.stdio(sys.executable, "-c", "", name="mayfly"))
    assert (ended.error, str(ended)) == (ErrorClass.NETWORK_TIMEOUT, "the connection to mayfly was lost")


def test_a_server_that_does_not_answer_is_given_up() -> None:
    deaf = McpServer.stdio(sys.executable, "-c", "import sys; sys.stdin.read()", name="deaf", open_ms_max=300)
    failure = failure_to_open(deaf)
    assert (failure.error, str(failure)) == (ErrorClass.NETWORK_TIMEOUT, "deaf did not answer within 0.3 s")


def test_headers_go_with_every_call(web: WebServer) -> None:
    async def main(workers: Workers) -> None:
        assert await ask(workers["header"], name="x-shop") == "corner"

    with_workers(McpServer.http(web.url(), {"x-shop": "corner"}), main)


def test_a_mode_for_a_tool_that_is_not_there_is_refused(web: WebServer) -> None:
    server = McpServer.http(web.url(), modes={"long_erand": "delegate"})
    with pytest.raises(ValueError, match="no tool 'long_erand'; it has: add, "):
        asyncio.run(server.open())


def test_closing_ends_the_process_and_fails_the_calls_under_way() -> None:
    async def main() -> None:
        server = McpServer.stdio(sys.executable, SCRIPT, env={"SHOP": "corner"})
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

    asyncio.run(asyncio.wait_for(main(), 2 * WAIT_S_MAX))


def test_it_may_be_closed_by_another_task_than_opened_it(web: WebServer) -> None:
    async def main() -> None:
        for server in (McpServer.http(web.url()), McpServer.stdio(sys.executable, SCRIPT)):
            await asyncio.create_task(server.open())
            await asyncio.create_task(server.close())
            await server.close()

    asyncio.run(asyncio.wait_for(main(), WAIT_S_MAX))


# -- What servers write: results and schemas


@pytest.mark.parametrize(
    ("texts", "structured", "said"),
    [
        (["5"], {"result": 5}, "5"),
        (['{"result": 5}'], {"result": 5}, '{"result": 5}'),
        (["one", "two"], {"result": ["one", "two"]}, "one\ntwo"),
        (["sunny"], {"degrees": 21}, 'sunny\n{"degrees":21}'),
        ([], {"degrees": 21}, '{"degrees":21}'),
        ([], None, "done"),
    ],
)
def test_structured_content_is_told_unless_the_text_says_the_same(texts: list[str], structured: Any, said: str) -> None:
    content: list[ContentBlock] = [TextContent(text=text) for text in texts]
    assert text_of(CallToolResult(content=content, structured_content=structured)) == said


def test_files_and_sound_are_named() -> None:
    content: list[ContentBlock] = [
        AudioContent(data="A" * 8192, mime_type="audio/wav"),
        ResourceLink(name="menu", uri="file:///menu.pdf"),
        EmbeddedResource(resource=TextResourceContents(uri="file:///note.txt", text="Closed on Mondays.")),
        EmbeddedResource(resource=BlobResourceContents(uri="file:///plan.png", blob="AAAA")),
    ]
    assert text_of(CallToolResult(content=content)).splitlines() == [
        "[audio: audio/wav, 6 kB]",
        "[file: menu, file:///menu.pdf]",
        "Closed on Mondays.",
        "[file: file:///plan.png, unknown type, 1 kB]",
    ]


@pytest.mark.parametrize(
    ("schema", "arguments", "said"),
    [
        ({"properties": {"n": {"minimum": 3}}}, {"n": 1}, "`n` breaks minimum: 3"),
        ({"properties": {"n": {"const": "x"}}}, {"n": "y" * 500}, "`n` should be x"),
        ({"additionalProperties": False}, {"secret": "y" * 500}, "`secret` is not an argument"),
        (
            {"properties": {"at": {"properties": {"x": {"type": ["integer", "null"]}}, "required": ["x", "y"]}}},
            {"at": {"x": "left"}},
            '`at.y` is missing; `at.x` should be of type ["integer","null"]',
        ),
        ({"minProperties": 1}, {}, "`arguments` breaks minProperties: 1"),
    ],
)
def test_wrong_arguments_are_named_and_not_quoted(schema: dict[str, Any], arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ServiceError) as refused:
        check_arguments({"type": "object"} | schema, arguments)
    assert str(refused.value) == f"wrong arguments: {said}"


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "https://example.invalid/schema"}, {"properties": 3}], ids=str
)
def test_a_schema_that_cannot_be_used_leaves_the_judgement_to_the_server(schema: dict[str, Any]) -> None:
    check_arguments(schema, {"n": 1})
