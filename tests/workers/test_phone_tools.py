"""The tools with which a brain acts on a telephone call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue import CallInfo, Context, press_keys, transfer_to
from duologue.ports.context import NotPossible, TransferFailed
from duologue.ports.failure import ServiceError
from duologue.workers.function_tools import as_worker
from tests.workers.worker_fakes import NotedJob


class NotedCall(Context[None]):
    """A context that notes what is done to its call."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__(CallInfo(line="phone"))
        self.done: list[tuple[str, ...]] = []
        self._failure = failure

    async def transfer(self, to: str, *, briefing: str = "", ring_s: float | None = None) -> None:
        self.done.append(("transfer", to, briefing))
        if self._failure is not None:
            raise self._failure

    async def send_digits(self, digits: str) -> None:
        self.done.append(("keys", digits))
        if self._failure is not None:
            raise self._failure


def run(tool: Any, arguments: dict[str, Any], call: NotedCall) -> str:
    job = NotedJob()
    job.context = call
    return str(asyncio.run(as_worker(tool).run(arguments, job)))


def test_the_brain_sees_names_and_never_numbers() -> None:
    tool = transfer_to(billing="+4930123456", support="+4930123457").tool
    assert tool.parameters["properties"]["to"]["enum"] == ["billing", "support"]
    assert "+49" not in repr(tool)


def test_the_call_goes_to_the_number_with_that_name() -> None:
    call = NotedCall()
    assert run(transfer_to(billing="+4930123456"), {"to": "billing"}, call) == "transferred to billing"
    assert call.done == [("transfer", "+4930123456", "")]


def test_a_briefing_is_passed_on_and_required() -> None:
    call, tool = NotedCall(), transfer_to(briefing=True, billing="+4930123456")
    run(tool, {"to": "billing", "briefing": "Ada asks about invoice 17."}, call)
    assert call.done == [("transfer", "+4930123456", "Ada asks about invoice 17.")]
    with pytest.raises(ServiceError, match="briefing"):
        run(tool, {"to": "billing", "briefing": " "}, call)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (TransferFailed("busy", "the line is busy"), "not transferred, busy: the line is busy"),
        (NotPossible("set `number`"), "not transferred: set `number`"),
    ],
)
def test_a_transfer_that_fails_is_told_to_the_brain(failure: Exception, told: str) -> None:
    assert run(transfer_to(billing="+4930123456"), {"to": "billing"}, NotedCall(failure)).startswith(told)


def test_another_name_is_an_invalid_argument() -> None:
    with pytest.raises(ServiceError, match="one of billing"):
        run(transfer_to(billing="+4930123456"), {"to": "sales"}, NotedCall())


def test_a_tool_without_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match="at least one number"):
        transfer_to()


def test_keys_are_pressed_or_refused_with_a_reason() -> None:
    call = NotedCall()
    assert run(press_keys, {"keys": "1"}, call) == "pressed"
    assert call.done == [("keys", "1")]
    assert run(press_keys, {"keys": "x"}, NotedCall(NotPossible("no key"))) == "not pressed: no key"
