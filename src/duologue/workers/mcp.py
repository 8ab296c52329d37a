"""An MCP server as a source of workers. The server is a process on this computer, or a server on the web.

When the server is opened, the MCP SDK is imported, and each tool that the server lists becomes a worker. Rule: a tool
call that may have reached the server is never repeated. A tool call that can't have reached the server is retried one
time, over a new connection.
"""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, Mode, ServiceError, Tool, Worker

from .function_tools import ModeName, mode_of

if TYPE_CHECKING:
    from .mcp_link import McpLink

OPEN_MS_MAX = 30_000
NAME_CHARS_MAX = 64  # the longest function name that models accept
McpDialect: TypeAlias = Literal["auto", "legacy"]


@dataclass(frozen=True, slots=True)
class Stdio:
    """A server that runs as a child process and communicates over stdin and stdout."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None  # added to a small, safe part of this process's environment
    cwd: str | None = None

    @property
    def name(self) -> str:
        return self.command.replace("\\", "/").rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Http:
    """A server that is reached over streamable HTTP."""

    url: str
    headers: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        return re.sub(r"^\w+://([^/?#]*@)?", "", self.url).split("/")[0]


Place: TypeAlias = Stdio | Http


class Options(TypedDict, total=False):
    """The keyword arguments of McpServer."""

    name: str
    prefix: str
    modes: Mapping[str, ModeName] | None
    cancellable: Collection[str]
    open_ms_max: int
    dialect: McpDialect
    shared: bool


class McpServer:
    """An MCP server. In `modes` and `cancellable`, use the server's own names for its tools. Brains see these names
    with `prefix` in front. When the server requests a single piece of text, the user is asked for it. Forms and web
    pages can't be spoken, so requests for them are declined.

    `dialect="legacy"` is for old servers that fail when a client asks for their protocol revision: with this option,
    they aren't asked. Such a server doesn't say which tool call its question belongs to, if it runs as a process. With
    `shared=False`, each conversation has its own connection, so every question can be passed on. Otherwise, the
    server's questions are declined as soon as a second conversation has used the server.
    """

    def __init__(
        self,
        place: Place,
        *,
        name: str = "",
        prefix: str = "",
        modes: Mapping[str, ModeName] | None = None,
        cancellable: Collection[str] = (),
        open_ms_max: int = OPEN_MS_MAX,
        dialect: McpDialect = "auto",
        shared: bool = True,
    ) -> None:
        self.shared = shared
        self.place = place
        self.name = name or place.name
        self.open_ms_max = open_ms_max
        self.dialect: McpDialect = dialect
        self._prefix = prefix
        self._modes = {tool: mode_of(mode) for tool, mode in (modes or {}).items()}
        self._cancellable = tuple(cancellable)
        self._link: McpLink | None = None
        self._workers: list[McpWorker] = []

    @classmethod
    def stdio(
        cls,
        command: str,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        **options: Unpack[Options],
    ) -> McpServer:
        """A server that is started with this command. `options` are the keyword arguments of McpServer."""
        return cls(Stdio(command, args, env, cwd), **options)

    @classmethod
    def http(cls, url: str, headers: Mapping[str, str] | None = None, **options: Unpack[Options]) -> McpServer:
        """A server at this URL. `options` are the keyword arguments of McpServer."""
        return cls(Http(url, headers), **options)

    @property
    def is_connected(self) -> bool:
        """Is the connection open? If it was lost, the next tool call opens it again."""
        return self._link is not None and self._link.is_up

    async def open(self) -> None:
        """Connect and list the tools. Raises ServiceError if the server can't be reached."""
        await asyncio.to_thread(_load_sdk)  # loading takes most of a second, and audio may be playing
        if self._link is None or self._link.is_over:
            self._link = self._new_link(self._link)
        try:
            await self._link.opened()
            self._workers = self._list_workers(self._link)
        except BaseException:
            await self.close()
            raise

    def workers(self) -> list[Worker]:
        """A worker for each tool that the server listed when it was opened. Each conversation must call this for
        itself, because the workers of one list belong to one caller."""
        if not self._workers and self._link is None:
            raise RuntimeError(
                f"{self.name} is not open: `await server.open()` first, or pass the server itself as a tool"
            )
        caller = object()
        return [replace(worker, caller=caller) for worker in self._workers]

    def for_one_conversation(self) -> McpServer:
        """The server object that a conversation should use: this object or, with `shared=False`, a copy that isn't open
        yet."""
        if self.shared:
            return self
        own = copy(self)
        own._link, own._workers = None, []
        return own

    async def close(self) -> None:
        """Disconnect. Tool calls in progress fail. If the server was started as a process, the process is ended."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def __aenter__(self) -> McpServer:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def call(self, tool: str, arguments: dict[str, Any], job: Job, caller: object = None) -> str:
        """Call a tool and return its result as text. `tool` is the server's own name for the tool, without the prefix.
        A question from the server is passed only to the caller whose tool call it belongs to."""
        from .mcp_link import Undelivered

        try:
            return await (await self._connected()).call(tool, arguments, job, caller)
        except Undelivered:
            try:
                return await (await self._connected()).call(tool, arguments, job, caller)
            except Undelivered:
                raise ServiceError(ErrorClass.NETWORK_TIMEOUT, f"{self.name} can't be reached") from None

    async def _connected(self) -> McpLink:
        """The open connection. If the connection was lost, it is opened again. Callers that wait at the same time share
        one attempt."""
        if self._link is None:
            raise ServiceError(ErrorClass.NETWORK_TIMEOUT, f"{self.name} is not open")
        if self._link.is_over:
            self._link = self._new_link(self._link)
        link = self._link
        await link.opened()
        return link

    def _new_link(self, before: McpLink | None) -> McpLink:
        from .mcp_link import McpLink

        return McpLink(self.name, self.place, self.open_ms_max, self.dialect, before)

    def _list_workers(self, link: McpLink) -> list[McpWorker]:
        unknown = [name for name in (*self._modes, *self._cancellable) if name not in link.tools]
        if unknown:
            raise ValueError(f"{self.name} has no tool {unknown[0]!r}; it has: {', '.join(link.tools) or 'none'}")
        names: dict[str, str] = {}
        for remote in link.tools:
            names[_free_name(self._prefix + remote, names)] = remote
        return [McpWorker(self, remote, self._describe(name, link.tools[remote])) for name, remote in names.items()]

    def _describe(self, name: str, listed: Tool) -> Tool:
        mode = self._modes.get(listed.name, Mode.TOOL)
        return Tool(name, listed.description, listed.parameters, mode, listed.name in self._cancellable)


@dataclass(frozen=True, slots=True)
class McpWorker:
    """One tool of an MCP server, for one caller."""

    server: McpServer
    remote: str  # the server's own name of the tool
    tool: Tool
    caller: object = None

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        from .mcp_content import check_arguments

        check_arguments(self.tool.parameters, arguments)
        return await self.server.call(self.remote, arguments, job, self.caller)


def _load_sdk() -> None:
    try:
        importlib.import_module("duologue.workers.mcp_link")
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("duologue"):
            raise
        raise ImportError("MCP servers need the MCP SDK: pip install 'duologue[mcp]'") from None


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """A unique tool name that models accept. MCP also allows dots and other characters, which are replaced."""
    clean = re.sub(r"[^a-zA-Z0-9_-]", "_", wanted)[:NAME_CHARS_MAX]
    name, number = clean, 1
    while name in taken:
        number += 1
        name = f"{clean[: NAME_CHARS_MAX - 4]}_{number}"
    return name
