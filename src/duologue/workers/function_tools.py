"""Plain functions as tools. A function's type hints become the schema, and its docstring becomes the description.

Async functions are awaited. Other functions run in a thread, so that they never block the audio. Rule: `@tool` returns
the function itself, so it can still be called as usual. `as_worker` makes a worker from it.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import sys
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

from duologue.core.leaves import ErrorClass
from duologue.fairness.fair_threads import TOOLS
from duologue.ports import Job, Mode, ServiceError, Tool, Worker
from duologue.ports.context import Context

from .approval import FOR_THE_MODEL, check_question, refusal
from .results import failure_text
from .schema import Contract, contract_of, description_of

F = TypeVar("F", bound=Callable[..., Any])
ModeName: TypeAlias = Mode | Literal["tool", "delegate", "dispatch"]

_MARK = "__duologue_tool__"
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # function names that models accept


@dataclass(frozen=True, slots=True)
class Declared:
    """The tool that a function declares, and the contract that checks the arguments of each tool call."""

    tool: Tool
    contract: Contract
    confirm: str | None = None  # the question that the user must answer with yes before the tool runs


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    mode: ModeName = "tool",
    cancellable: bool = False,
    idempotent: bool = False,
    confirm: str | None = None,
) -> Callable[[F], F]: ...
def tool(
    function: F | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    mode: ModeName = "tool",
    cancellable: bool = False,
    idempotent: bool = False,
    confirm: str | None = None,
) -> F | Callable[[F], F]:
    """Declare a function or a method as a tool: `@tool`, or `@tool(mode="delegate", cancellable=True)`. With `confirm`,
    such as "Shall I send {amount} euros to {to}?", the user is asked this question first, and the function runs only
    after a yes."""
    around = sys._getframe(1).f_locals  # type hints may use names that are local to the caller

    def declare(function: F) -> F:
        declared = declare_tool(function, around, name, description, mode, cancellable, idempotent, confirm)
        setattr(_plain_function(function), _MARK, declared)
        return function

    return declare if function is None else declare(function)


def as_worker(work: object) -> Worker:
    """Make a worker from a function or a method, with or without `@tool`. A worker is returned unchanged."""
    if isinstance(work, type):
        raise TypeError(f"{work.__qualname__} is a class: pass an instance of it, such as {work.__qualname__}()")
    if isinstance(getattr(work, "tool", None), Tool) and callable(getattr(work, "run", None)):
        return cast(Worker, work)
    return FunctionWorker(cast(Callable[..., Any], work))


def mode_of(mode: ModeName) -> Mode:
    """The mode with this name. Raises ValueError for an unknown name."""
    try:
        return Mode(mode)
    except ValueError:
        known = ", ".join(repr(each.value) for each in Mode)
        raise ValueError(f"a tool's mode must be one of {known}, not {mode!r}") from None


class FunctionWorker:
    """Runs a function for each tool call. An exception that the function raises becomes a ServiceError (TOOL_ERROR),
    unless it is one already.

    A function that isn't async can't be stopped. After its job is cancelled, the function still runs to its end in its
    thread, but its result is ignored.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        declared: Declared = getattr(_plain_function(function), _MARK, None) or declare_tool(function)
        if declared.contract.needs_self and not inspect.ismethod(function):
            raise TypeError(f"{function.__qualname__} is a method: pass the method of an instance, such as `shop.find`")
        self._function = function
        self._contract = declared.contract
        self._tool = declared.tool
        self._confirm = declared.confirm

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        given = self._contract.check(arguments)
        if (
            self._confirm is not None
            and (refused := await refusal(self._confirm, self._defaults() | given, job)) is not None
        ):
            return refused
        given |= dict.fromkeys(self._contract.contexts, job.context)
        try:
            if inspect.iscoroutinefunction(self._function):
                return await self._function(**given, **dict.fromkeys(self._contract.jobs, job))
            return await self._run_in_thread(given, job)
        except ServiceError:
            raise
        except Exception as failure:
            raise ServiceError(ErrorClass.TOOL_ERROR, failure_text(failure)) from failure

    def _defaults(self) -> dict[str, Any]:
        parameters = inspect.signature(self._function).parameters.values()
        return {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}

    async def _run_in_thread(self, given: dict[str, Any], job: Job) -> object:
        messenger = ThreadJob(job)
        jobs = dict.fromkeys(self._contract.jobs, messenger)
        try:
            result = await TOOLS.run(self._function, **given, **jobs)
            # A decorator may hide that the function is async.
            return await result if inspect.isawaitable(result) else result
        finally:
            messenger.close()


class ThreadJob:
    """The job for a function that runs in a thread. The function's reports are passed to the event loop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._closed = False

    @property
    def call(self) -> int:
        return self._job.call

    @property
    def context(self) -> Context[Any] | None:
        return self._job.context

    def progress(self, text: str, fraction: float | None = None) -> None:
        self._report(lambda: self._job.progress(text, fraction))

    def partial(self, text: str) -> None:
        self._report(lambda: self._job.partial(text))

    def detach(self) -> None:
        self._report(self._job.detach)

    def hang_up(self) -> None:
        self._report(self._job.hang_up)

    def ask(self, question: str) -> Coroutine[Any, Any, str]:
        if threading.get_ident() != self._thread:
            raise TypeError("only an async function can ask the user a question: write `async def`")
        return self._job.ask(question)

    def close(self) -> None:
        """Mark the job as ended. Reports that its thread makes afterwards are dropped."""
        self._closed = True

    def _report(self, report: Callable[[], None]) -> None:
        def report_if_open() -> None:
            if not self._closed:
                report()

        if threading.get_ident() == self._thread:
            report_if_open()  # in simulated time there are no threads
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(report_if_open)


def declare_tool(
    function: Callable[..., Any],
    around: Mapping[str, Any] | None = None,
    name: str | None = None,
    description: str | None = None,
    mode: ModeName = "tool",
    cancellable: bool = False,
    idempotent: bool = False,
    confirm: str | None = None,
) -> Declared:
    """The tool that this function declares. Its name is the function's name, and its description comes from the
    docstring, unless `name` or `description` is given. Its schema comes from the type hints."""
    plain = _plain_function(function)
    name = plain.__name__ if name is None else name
    if not _NAME.fullmatch(name):
        raise TypeError(f"{name!r} can't be a tool's name: pass name=... with up to 64 letters, digits, `_` and `-`")
    contract = contract_of(plain, around)
    text = description_of(plain) if description is None else description
    if confirm is not None:
        check_question(confirm, contract.schema["properties"], name)
        text = f"{text} {FOR_THE_MODEL}".lstrip()
    return Declared(Tool(name, text, contract.schema, mode_of(mode), cancellable, idempotent), contract, confirm)


def _plain_function(work: object) -> Any:
    """The plain function behind `work`, which must be a function or a bound method. Raises TypeError for anything
    else."""
    if isinstance(work, staticmethod | classmethod):
        raise TypeError(f"write @{type(work).__name__} above @tool, not below it")
    plain = work.__func__ if inspect.ismethod(work) else work
    if not inspect.isfunction(plain):
        raise TypeError(f"a tool must be a function, a method or a worker, not {type(work).__name__}: {work!r:.60}")
    return plain
