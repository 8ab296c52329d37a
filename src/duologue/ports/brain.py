"""The brain port: a request becomes a reply, part by part.

Text goes to the voice sentence by sentence; a model that speaks by itself yields `Sound` instead, and
nothing else about the conversation changes. Rule: a brain keeps no history of its own that it could
not rebuild from the request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from duologue.core.leaves import Ask

from .calls import ToolCall
from .history import Item
from .sound import Sound
from .worker import Tool


@dataclass(frozen=True, slots=True)
class Request:
    """What the brain is asked. `text` is what the person said since the last answer, and the history
    holds it too. It is empty for a greeting, a check-in, a goodbye, or news alone, which is at the end
    of the history."""

    reply: int
    text: str
    history: tuple[Item, ...] = ()
    tools: tuple[Tool, ...] = ()
    instructions: str = ""
    ask: Ask = Ask.ANSWER


@dataclass(frozen=True, slots=True)
class Show:
    """Text for the screen that is not spoken."""

    text: str


Part: TypeAlias = str | Show | Sound | ToolCall


class Brain(Protocol):
    """Answers."""

    def reply(self, request: Request) -> AsyncIterator[Part]:
        """The reply, part by part. Closed before its end when nobody wants it any more."""
        ...


@runtime_checkable
class Summarises(Protocol):
    """A brain that can say things more briefly; used for long results and for a session's summary."""

    async def summarise(self, text: str, chars_max: int) -> str: ...
