"""A plain function as a brain: the shortest way to write an agent that answers.

Rule: the reply is what the function yields or returns. A function with the wrong signature is refused when the agent is
created, not in the middle of a conversation.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from duologue.fairness.fair_threads import BRAINS
from duologue.ports.brain import Brain, Part, Request


@dataclass(frozen=True, slots=True)
class FunctionBrain:
    """Calls a function with each request and streams its result as the reply."""

    function: Callable[..., Any]
    takes_context: bool = False  # the function's second parameter is the context of the call

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        answer: Any = await self._call(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if hasattr(answer, "__aiter__"):
            try:
                async for part in answer:
                    yield part
            finally:
                if hasattr(answer, "aclose"):
                    await answer.aclose()
        elif isinstance(answer, str):
            yield answer
        elif inspect.isgenerator(answer) or isinstance(answer, list | tuple):
            parts: Iterable[Any] = answer
            for part in parts:
                yield part
        elif answer is not None:
            yield answer

    async def _call(self, request: Request) -> Any:
        """Call the function. A function that isn't async runs in a thread, because it may block."""
        given = (request, request.context) if self.takes_context else (request,)
        target: Any = self.function if inspect.isroutine(self.function) else type(self.function).__call__
        if inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target):
            return self.function(*given)
        return await BRAINS.run(self.function, *given)


def as_brain(brain: Any) -> Brain:
    """Return a brain unchanged, or wrap a function in a FunctionBrain."""
    if inspect.isclass(brain):
        raise TypeError(f"brain must be an object, not the class {brain.__name__}: did you mean {brain.__name__}()?")
    if hasattr(brain, "reply"):
        return brain  # type: ignore[no-any-return]
    if callable(brain):
        return FunctionBrain(brain, _takes_context(brain))
    raise TypeError(f"brain must have a method reply(request) or be a function that takes the request, not {brain!r}")


def _takes_context(function: Callable[..., Any]) -> bool:
    """Does the function take two arguments, the request and the context of the call? False if it takes only the
    request. Raises TypeError if it can be called with neither one argument nor two."""
    name = getattr(function, "__name__", repr(function))
    try:
        signature = inspect.signature(function)
    except ValueError:
        return False  # a builtin without a signature
    if _binds(signature, 1):
        return "context" in signature.parameters and _binds(signature, 2)
    if _binds(signature, 2):
        return True
    raise TypeError(f"brain must be a function that takes one argument, the request; {name} doesn't")


def _binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*(None,) * count)
    except TypeError:
        return False
    return True
