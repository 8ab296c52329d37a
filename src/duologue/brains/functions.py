"""A plain function as a brain: the shortest way to an agent that answers.

Rule: what the function yields or returns is the reply; anything else is an error when the agent is
made, not in the middle of a call.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from duologue.ports.brain import Brain, Part, Request


@dataclass(frozen=True, slots=True)
class FunctionBrain:
    """Calls a function with the request."""

    function: Callable[[Request], Any]

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        answer: Any = self.function(request)
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
        elif hasattr(answer, "__iter__"):  # a generator, or a list of parts
            for part in answer:
                yield part
        elif answer is not None:
            yield answer


def as_brain(brain: Any) -> Brain:
    """A Brain as it is, a function wrapped into one."""
    if inspect.isclass(brain):
        raise TypeError(f"brain must be an object, not the class {brain.__name__}: did you mean {brain.__name__}()?")
    if hasattr(brain, "reply"):
        return brain  # type: ignore[no-any-return]
    if callable(brain):
        return FunctionBrain(brain)
    raise TypeError(f"brain must have a method reply(request) or be a function of the request, not {brain!r}")
