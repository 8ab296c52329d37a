"""Tools that the client of the call runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue import Context, ServiceError, client_tool
from duologue.core.leaves import ErrorClass
from duologue.ports import Tool
from tests.workers.worker_fakes import NotedJob


@client_tool
def get_weather(city: str, days: int = 1) -> str:
    """The weather in a city."""


class Page:
    """A client that runs tools."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any], int]] = []

    def send(self, data: object) -> None: ...

    async def run(self, tool: Tool, arguments: dict[str, Any], call: int) -> str:
        self.ran.append((tool.name, arguments, call))
        return "sunny"


class JobWithContext(NotedJob):
    """A job of a call."""

    def __init__(self, context: Context[None]) -> None:
        super().__init__()
        self._context = context

    @property
    def context(self) -> Context[None]:
        return self._context


def test_a_function_declares_the_tool() -> None:
    tool = get_weather.tool
    assert (tool.name, tool.description) == ("get_weather", "The weather in a city.")
    assert tool.parameters["required"] == ["city"]
    renamed = client_tool(name="weather", mode="delegate")(lambda: None)
    assert (renamed.tool.name, renamed.tool.mode.value) == ("weather", "delegate")


def test_the_client_gets_the_arguments_and_its_output_is_the_result() -> None:
    context, page = Context[None](), Page()
    context.attach_client(page)
    job = JobWithContext(context)
    assert asyncio.run(get_weather.run({"city": "Bonn"}, job)) == "sunny"
    assert page.ran == [("get_weather", {"city": "Bonn"}, job.call)]


def test_invalid_arguments_never_reach_the_client() -> None:
    context, page = Context[None](), Page()
    context.attach_client(page)
    with pytest.raises(ServiceError) as why:
        asyncio.run(get_weather.run({"days": "many"}, JobWithContext(context)))
    assert why.value.error is ErrorClass.INVALID_ARGS
    assert page.ran == []


def test_a_line_whose_client_runs_no_tools_says_so() -> None:
    for job in (JobWithContext(Context[None]()), NotedJob()):
        with pytest.raises(ServiceError) as why:
            asyncio.run(get_weather.run({"city": "Bonn"}, job))
        assert why.value.error is ErrorClass.TOOL_ERROR
