"""A plugin and its event loop: sessions, kinds, closing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.plugins.plugin_loop import CLOSE_S_MAX, PluginLoop, agents, close_soon, close_unused, connect_options
from duologue.ports import ServiceError
from tests.limits import TEST_S
from tests.needs import needs_package


class Plugin:
    provider = "Vendor"

    def __init__(self) -> None:
        needs_package("livekit.agents", "pip install 'duologue[dev]'")
        self.closed = False

    def chat(self) -> Any:
        from livekit.agents.utils import http_context

        return http_context.http_session()

    async def aclose(self) -> None:
        self.closed = True


def made(plugin: Any) -> PluginLoop:
    return PluginLoop(plugin, "PluginBrain", ("chat",), "anthropic.LLM()")


def run(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, TEST_S))


def test_the_session_is_there_in_every_task_and_is_closed_in_the_end() -> None:
    async def work() -> None:
        plugin = Plugin()
        loop = made(plugin)
        assert await loop.get() is plugin
        first = loop.run(plugin.chat)

        async def elsewhere() -> Any:
            assert await loop.get() is plugin
            return loop.run(plugin.chat)

        assert await asyncio.create_task(elsewhere()) is first
        assert not first.closed
        await loop.close()
        assert plugin.closed
        assert first.closed

    run(work())


def test_conversations_that_begin_at_the_same_time_share_one_plugin() -> None:
    found: list[Plugin] = []

    def make() -> Plugin:
        found.append(Plugin())
        return found[-1]

    async def work() -> None:
        loop = made(make)
        await asyncio.gather(*(loop.get() for _ in range(5)))
        await loop.close()

    run(work())
    assert len(found) == 1


def test_a_function_makes_one_plugin_for_each_event_loop() -> None:
    found: list[Plugin] = []

    def make() -> Plugin:
        found.append(Plugin())
        return found[-1]

    loop = made(make)

    async def work() -> None:
        assert await loop.get() is await loop.get()
        await loop.close()

    run(work())
    run(work())
    assert len(found) == 2


def test_a_function_that_returns_something_else_is_refused() -> None:
    needs_package("livekit.agents", "pip install 'duologue[dev]'")
    with pytest.raises(TypeError, match="not int"):
        run(made(lambda: 7).get())


def test_a_function_that_raises_is_a_failure_of_the_service() -> None:
    needs_package("livekit.agents", "pip install 'duologue[dev]'")

    def make() -> Plugin:
        raise ValueError("VENDOR_API_KEY is not set: api key")

    with pytest.raises(ServiceError, match="set VENDOR_API_KEY"):
        run(made(make).get())


def test_requests_are_never_retried_by_the_plugin() -> None:
    needs_package("livekit.agents", "pip install 'duologue[dev]'")
    assert connect_options().max_retry == 0


def test_a_close_that_hangs_is_not_waited_for() -> None:
    async def work() -> float:
        never = asyncio.Event()
        began = asyncio.get_running_loop().time()
        await close_soon(never.wait)  # type: ignore[arg-type]
        took = asyncio.get_running_loop().time() - began
        never.set()
        return took

    assert run_jumping(work()) == pytest.approx(CLOSE_S_MAX)


def test_a_close_that_raises_is_survived() -> None:
    async def close() -> None:
        raise RuntimeError("gone")

    run(close_soon(close))


def test_connections_that_a_pool_no_longer_uses_are_closed_at_once() -> None:
    class Pool:
        def __init__(self, *unused: str) -> None:
            self._to_close = set(unused)
            self.drains = 0

        async def _drain_to_close(self) -> None:
            self.drains += 1
            self._to_close.clear()
            raise OSError("already gone")

    class Pooled:
        def __init__(self) -> None:
            self.left, self.busy = Pool("a connection"), Pool()
            self.key = "secret"

    async def work() -> tuple[int, int]:
        plugin = Pooled()
        close_unused(plugin)
        await asyncio.sleep(0)
        close_unused(plugin)  # the first call has closed all
        close_unused(object())
        await asyncio.sleep(0)
        return plugin.left.drains, plugin.busy.drains

    assert run(work()) == (1, 0)


def test_without_the_package_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import sys

    def missing(name: str, *rest: Any) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.delitem(sys.modules, "livekit.agents", raising=False)
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'duologue\[livekit\]'"):
        agents()
