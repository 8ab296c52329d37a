"""The worker port: a worker does the work of a tool call, which may be a quick lookup or an agent that runs for
minutes.

When the worker returns, the work is done. If it raises an exception, the work has failed; if it raises CancelledError,
the work was cancelled. The worker reports progress and asks questions through its `Job`. Rule: work belongs to its tool
call, not to what the agent is saying, so a barge-in cancels the work only if the tool is marked as cancellable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from .context import Context


class Mode(Enum):
    """Whether the conversation waits for this tool's work."""

    TOOL = "tool"  # quick; the reply waits for it
    DELEGATE = "delegate"  # long; the conversation waits for it and reports its progress
    DISPATCH = "dispatch"  # long; it runs in the background and the agent reports its result


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a brain may call: its name, its purpose, and the JSON schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    mode: Mode = Mode.TOOL
    cancellable: bool = False  # may a barge-in cancel the work?
    idempotent: bool = False  # may the tool run again with the same arguments, if the outcome is unknown?

    def __hash__(self) -> int:
        return hash(self.name)


class Job(Protocol):
    """A running job (the work of one tool call), as its worker sees it."""

    @property
    def call(self) -> int:
        """The id of the tool call that this job works for. Ids are unique in the conversation, and later tool calls
        have higher ids."""
        ...

    @property
    def context(self) -> Context[Any] | None:
        """The context of the phone call or chat that this job belongs to; None without a call, for example in a test of
        the worker."""
        ...

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Report progress. `text` is shown to the person."""
        ...

    def partial(self, text: str) -> None:
        """Store a partial result. It is used if the work takes too long or is cancelled."""
        ...

    async def ask(self, question: str) -> str:
        """Ask the person something and wait for the answer."""
        ...

    def detach(self) -> None:
        """Continue in the background: the conversation no longer waits for this job."""
        ...

    def hang_up(self) -> None:
        """End the conversation when everything is said. If the person says something before that, the conversation goes
        on."""
        ...


class Worker(Protocol):
    """Does the work of one tool."""

    @property
    def tool(self) -> Tool: ...

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        """Do the work and return its result. Text is given to the brain unchanged; any other value is given as JSON.
        Raises ServiceError(INVALID_ARGS) if the arguments are invalid."""
        ...
