"""A plugin object and the event loop in which it works.

Plugins get their HTTP session from LiveKit's HTTP context, and that session belongs to one event loop. The session is
opened once for each adapter (such as `PluginEars`), in a `contextvars` context of its own. Everything that the plugin
starts is started in that context, where it finds the session. Rule: a plugin object is used in only one event loop. A
function that creates the plugin is called once for each event loop.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from duologue.core.leaves import ErrorClass

from .failures import PluginFailed, plugin_failures

T = TypeVar("T")
CLOSE_S_MAX = 0.05  # longest wait for a stream to close; after that, it is closed in the background
CONNECT_S_MAX = 5.0

_closing: set[asyncio.Task[None]] = set()  # tasks that would be lost without a reference


class PluginLoop:
    """Holds the plugin of one adapter, such as `PluginEars`. `methods` are the names of the methods that the plugin
    must have."""

    def __init__(self, plugin: Any, adapter: str, methods: tuple[str, ...], example: str) -> None:
        self._make: Callable[[], Any] | None = None
        self._plugin: Any = None
        self._adapter, self._methods, self._example = adapter, methods, example
        if callable(plugin) and (isinstance(plugin, type) or not self._fits(plugin)):
            self._make = plugin
        else:
            self._check(plugin)
            self._plugin = plugin
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context: contextvars.Context | None = None
        self._session: AbstractAsyncContextManager[Any] | None = None
        self._opening: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    @property
    def name(self) -> str:
        """The name of the plugin, as used in error messages."""
        provider = str(getattr(self._plugin, "provider", "") or "").rpartition("@")[2]
        return f"{provider} ({self._adapter})" if provider and provider != "unknown" else self._adapter

    async def get(self) -> Any:
        """The plugin, ready for use in the running event loop. Raises PluginFailed if the plugin can't be created."""
        loop = asyncio.get_running_loop()
        if self._loop is loop:
            return self._plugin
        if self._opening is None or self._opening[0] is not loop:
            self._opening = (loop, asyncio.Lock())
        async with self._opening[1]:
            if self._loop is not loop:
                await self._open(loop)
        return self._plugin

    async def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Open the HTTP session. If there is a function that creates the plugin, the plugin is created too."""
        if self._loop is not None and self._make is None:
            raise PluginFailed(
                ErrorClass.UNKNOWN,
                f"this plugin of {self._adapter} belongs to another event loop: "
                f"pass a function that makes it, such as {self._adapter}(lambda: {self._example})",
            )
        context = contextvars.copy_context()
        session = http_context().open()
        await loop.create_task(session.__aenter__(), context=context)
        try:
            self._make_plugin(context)
        except BaseException:
            await loop.create_task(session.__aexit__(None, None, None), context=context)
            raise
        self._loop, self._context, self._session = loop, context, session

    def _make_plugin(self, context: contextvars.Context) -> None:
        if self._make is not None:
            with plugin_failures(self._adapter):
                self._plugin = context.run(self._make)
            self._check(self._plugin)

    def run(self, work: Callable[[], T]) -> T:
        """Call this function of the plugin in the plugin's context, so that tasks that it starts find their HTTP
        session."""
        assert self._context is not None, "call `get` first"
        with plugin_failures(self.name):
            return self._context.copy().run(work)

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Start this coroutine of the plugin in the plugin's context, so that it finds its HTTP session."""
        assert self._context is not None, "call `get` first"
        return asyncio.get_running_loop().create_task(work(), context=self._context.copy())

    async def close(self) -> None:
        """Close the plugin and its HTTP session. Does nothing if they belong to another event loop."""
        loop, session, context = self._loop, self._session, self._context
        self._loop = self._session = self._context = None
        if loop is not asyncio.get_running_loop() or session is None or context is None:
            return
        await loop.create_task(self._plugin.aclose(), context=context)
        await loop.create_task(session.__aexit__(None, None, None), context=context)

    def _fits(self, plugin: Any) -> bool:
        return all(hasattr(plugin, method) for method in self._methods)

    def _check(self, plugin: Any) -> None:
        if not self._fits(plugin):
            raise TypeError(
                f"{self._adapter} takes a plugin object such as {self._example}, or a function that makes one, "
                f"not {type(plugin).__name__}"
            )


async def close_soon(close: Callable[[], Awaitable[None]]) -> None:
    """Close a stream of a plugin. If this takes longer than CLOSE_S_MAX, the function returns and the stream is closed
    in the background. Exceptions from the plugin are ignored, because its work is no longer needed."""
    task = asyncio.ensure_future(_ignoring_failures(close))
    _closing.add(task)
    task.add_done_callback(_closing.discard)
    await asyncio.wait([task], timeout=CLOSE_S_MAX)


def close_unused(plugin: Any) -> None:
    """Close the connections that the plugin's pools no longer use, in the background. Otherwise LiveKit's pool would
    close the connection of a cancelled request only at the beginning of the next request, which would have to wait for
    this."""
    for pool in list(getattr(plugin, "__dict__", {}).values()):
        drain = getattr(pool, "_drain_to_close", None)
        if drain is not None and getattr(pool, "_to_close", None):
            task = asyncio.ensure_future(_ignoring_failures(drain))
            _closing.add(task)
            task.add_done_callback(_closing.discard)


async def _ignoring_failures(close: Callable[[], Awaitable[None]]) -> None:
    try:
        await close()
    except Exception:  # noqa: BLE001 - what is closed is no longer needed
        return


def connect_options() -> Any:
    """Options for a plugin's request. They turn off the plugin's own retries, because the conversation decides about
    retries."""
    return agents().APIConnectOptions(max_retry=0, timeout=CONNECT_S_MAX)


def agents() -> Any:
    """LiveKit's package `livekit.agents`. It is imported here, when it is needed. If it isn't installed, raises
    ModuleNotFoundError, which names the command that installs it."""
    return _load("livekit.agents")


def http_context() -> Any:
    """LiveKit's module that creates HTTP sessions for plugins."""
    return _load("livekit.agents.utils.http_context")


def rtc() -> Any:
    """LiveKit's module that contains the class for audio frames."""
    return _load("livekit.rtc")


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("livekit"):
            raise
        raise ModuleNotFoundError(
            "plugins need livekit-agents: pip install 'duologue[livekit]'", name=missing.name
        ) from None
