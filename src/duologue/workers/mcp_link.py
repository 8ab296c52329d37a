"""One connection to an MCP server, which a separate task holds open.

The SDK requires that a connection is closed by the task that opened it. So one task, the owner, opens the connection,
waits and closes it, while tool calls come from other tasks. Rule: a link that is over is never opened again. A caller
that needs the server makes a new link.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolResult,
    ElicitRequestParams,
    ElicitResult,
    Implementation,
)
from pydantic import ValidationError

from duologue import __version__
from duologue.core.leaves import ErrorClass
from duologue.ports import Job, ServiceError, Tool
from duologue.ports.failure import classify_status

from .mcp import Http, McpDialect, Place, Stdio
from .mcp_content import answer_elicitation, text_of
from .results import FAILURE_CHARS_MAX, shorten

PAGES_MAX = 100
CLOSE_S_MAX = 10.0  # the SDK gives a process 2 s to end, 2 s after SIGTERM, 2 s after SIGKILL
CONNECT_S_MAX = 30.0
QUIET_S_MAX = 3600.0  # longest wait for a message; the conversation's own deadline is much shorter
REMEDY = "with shared=False it can ask"
LOG = logging.getLogger("duologue.tools")
US = Implementation(name="duologue", version=__version__)


class Undelivered(Exception):
    """The tool call can't have reached the server, so the caller may retry it over a new link."""


@dataclass(slots=True, eq=False)
class Attempt:
    """One request in progress: its job, and what happened to the request at the HTTP level."""

    job: Job | None = None
    status: int = 0
    unreachable: bool = False
    broken: bool = False


# The current request. The SDK sends it, and handles its HTTP response, within the caller's context.
_ATTEMPT: ContextVar[Attempt | None] = ContextVar("duologue_mcp_attempt", default=None)


class McpLink:
    """One connection to a server. Create it inside a running event loop: it starts to open immediately."""

    def __init__(self, name: str, place: Place, open_ms_max: int, dialect: McpDialect, before: McpLink | None) -> None:
        self.tools: dict[str, Tool] = {}
        self._name = name
        self._place = place
        self._open_s_max = open_ms_max / 1000
        self._dialect = dialect
        self._client: Client | None = None
        self._failure: ServiceError | None = None
        self._attempts: list[Attempt] = []
        self._caller: object = None  # of the newest call
        self._has_several_callers = False
        self._settled = asyncio.Event()  # opened, or failed to open
        self._over = asyncio.Event()
        self._owner = asyncio.create_task(self._hold(before), name=f"mcp {name}")

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def is_up(self) -> bool:
        return self._client is not None and not self.is_over

    async def opened(self) -> None:
        """Wait until the connection is open. Raises ServiceError if it failed to open."""
        await self._settled.wait()
        if self._failure is not None:
            raise ServiceError(self._failure.error, str(self._failure))

    async def close(self) -> None:
        """Close the connection, and wait at most CLOSE_S_MAX until the server is released."""
        self._over.set()
        _, pending = await asyncio.wait([self._owner], timeout=CLOSE_S_MAX)
        for owner in pending:
            owner.cancel()

    async def call(self, tool: str, arguments: dict[str, Any], job: Job, caller: object = None) -> str:
        """Call a tool and return its result as text. If the caller is cancelled, the request is cancelled too, and the
        server is notified. Raises Undelivered if the request can't have reached the server, and ServiceError for other
        failures."""
        client = self._client
        if client is None or self.is_over:
            raise Undelivered
        if tool not in self.tools:
            raise ServiceError(ErrorClass.INVALID_ARGS, f"{self._name} no longer has the tool {tool!r}")
        self._has_several_callers |= self._caller is not None and caller is not self._caller
        self._caller = caller
        attempt = Attempt(job)
        token = _ATTEMPT.set(attempt)
        self._attempts.append(attempt)

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            if attempt in self._attempts:
                job.progress(message or "", min(1.0, max(0.0, progress / total)) if total else None)

        try:
            return _read(await client.call_tool(tool, arguments, progress_callback=report_progress))
        except MCPError as failure:
            raise self._explain(failure, attempt) from None
        except (RuntimeError, ValidationError):
            raise ServiceError(ErrorClass.SERVER_ERROR, f"{self._name} sent a result that can't be read") from None
        finally:
            self._attempts.remove(attempt)
            _ATTEMPT.reset(token)

    async def _hold(self, before: McpLink | None) -> None:
        """The owner task: open the connection, wait for its end, close it."""
        attempt = Attempt()
        _ATTEMPT.set(attempt)  # instead of the Attempt of the call that may have started this task
        try:
            if before is not None:
                await before.close()  # two processes of one server could disturb each other
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._open_s_max):
                    client = await stack.enter_async_context(self._dial())
                    self.tools = await _list_tools(client)
                self._client = client
                self._settled.set()
                await self._over.wait()
        except Exception as failure:  # noqa: BLE001 - any failure is raised to the callers that wait in `opened`
            self._failure = self._explain_end(failure, attempt)
        finally:
            self._client = None
            self._over.set()
            self._settled.set()

    def _dial(self) -> Client:
        place = self._place
        transport = _start(place) if isinstance(place, Stdio) else _reach(place)
        return Client(
            self._watch(transport),
            mode=self._dialect,
            client_info=US,
            elicitation_callback=self._ask,
            cache=None,
        )

    @asynccontextmanager
    async def _watch(self, transport: Any) -> AsyncIterator[Any]:
        """Open the transport. When the server closes its side, this link ends."""
        async with transport as (read, write):
            yield ClosingStream(read, self._over), write

    async def _ask(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002
        """Ask the user a question from the server. The question belongs to the tool call in whose context it arrived.
        If the context shows no tool call, the question belongs to the only tool call in progress. But if several
        callers have used this link, such a question is declined, because it could reach the wrong user."""
        attempt = _ATTEMPT.get()
        if attempt is None or attempt.job is None:
            is_certain = len(self._attempts) == 1 and not self._has_several_callers
            attempt = self._attempts[0] if is_certain else None
            if self._has_several_callers:
                LOG.warning("%s asked a question that may belong to another caller: declined (%s)", self._name, REMEDY)
        try:
            return await answer_elicitation(params, attempt.job if attempt else None)
        except Exception:  # noqa: BLE001 - if the user can't be asked, the server gets "cancel" and the call goes on
            return ElicitResult(action="cancel")

    def _explain(self, failure: MCPError, attempt: Attempt) -> ServiceError | Undelivered:
        """The exception for the caller whose request failed. If the request can't have reached the server, also mark
        this link as over."""
        is_stale = attempt.status == 404 and failure.code == INVALID_REQUEST  # the server no longer knows the session
        if attempt.unreachable or is_stale:
            self._over.set()
            return Undelivered()
        if attempt.broken or failure.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
            return ServiceError(ErrorClass.NETWORK_TIMEOUT, f"the connection to {self._name} was lost")
        if failure.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
            return ServiceError(ErrorClass.INVALID_ARGS, failure.message)
        if failure.code == INTERNAL_ERROR and attempt.status >= 400:
            return ServiceError(classify_status(attempt.status), f"{self._name} answered HTTP {attempt.status}")
        if failure.code in (INTERNAL_ERROR, PARSE_ERROR):
            return ServiceError(ErrorClass.SERVER_ERROR, failure.message)
        return ServiceError(ErrorClass.TOOL_ERROR, failure.message)

    def _explain_end(self, failure: BaseException, attempt: Attempt) -> ServiceError:
        """The exception for callers that wait until the link is open, if opening failed."""
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        if isinstance(failure, MCPError):
            explained = self._explain(failure, attempt)
            if isinstance(explained, ServiceError):
                return explained
        if isinstance(failure, TimeoutError):
            late = f"{self._name} did not answer within {self._open_s_max:g} s"
            return ServiceError(ErrorClass.NETWORK_TIMEOUT, late)
        if isinstance(failure, OSError) and isinstance(self._place, Stdio):
            return ServiceError(ErrorClass.UNKNOWN, f"{self._place.command} can't be started: {failure.strerror}")
        return ServiceError(ErrorClass.NETWORK_TIMEOUT, f"{self._name} can't be reached")


class ClosingStream:
    """A stream that sets the event `ended` when it ends. This is needed because the SDK doesn't report the end."""

    def __init__(self, inner: Any, ended: asyncio.Event) -> None:
        self._inner = inner
        self._ended = ended

    @property
    def last_context(self) -> Any:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            message: SessionMessage | Exception = await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended.set()
            raise
        return message

    def __aiter__(self) -> ClosingStream:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> ClosingStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class NotingClient(httpx2.AsyncClient):
    """An HTTP client that records the outcome of each request in the request's Attempt. If a request fails, this client
    returns a response with status 503 to the SDK, because an exception would end the connection and all other tool
    calls."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        # Methods other than POST belong to the connection, not to a request.
        attempt = (_ATTEMPT.get() if request.method == "POST" else None) or Attempt()
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as failure:
            attempt.unreachable = isinstance(failure, httpx2.ConnectError | httpx2.ConnectTimeout)
            attempt.broken = not attempt.unreachable
            return httpx2.Response(503, request=request)
        attempt.status = response.status_code
        attempt.unreachable = attempt.broken = False
        return response


def _start(place: Stdio) -> Any:
    env = dict(place.env) if place.env is not None else None
    parameters = StdioServerParameters(command=place.command, args=list(place.args), env=env, cwd=place.cwd)
    return stdio_client(parameters, errlog=sys.stderr)


@asynccontextmanager
async def _reach(place: Http) -> AsyncIterator[Any]:
    timeout = httpx2.Timeout(CONNECT_S_MAX, read=QUIET_S_MAX)
    async with (
        NotingClient(headers=dict(place.headers or {}), timeout=timeout) as client,
        streamable_http_client(place.url, http_client=client) as streams,
    ):
        yield streams


async def _list_tools(client: Client) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await client.list_tools(cursor=cursor)
        for listed in page.tools:
            tools[listed.name] = Tool(listed.name, listed.description or listed.title or "", listed.input_schema)
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools


def _read(result: CallToolResult) -> str:
    text = text_of(result)
    if result.is_error:
        raise ServiceError(ErrorClass.TOOL_ERROR, shorten(text, FAILURE_CHARS_MAX))
    return text
