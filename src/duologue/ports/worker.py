"""The worker port: does the work of a tool call, from a quick lookup to an agent that runs for minutes.

A worker that returns is done, and one that raises has failed, or was cancelled if it raises CancelledError. It
reports progress and asks questions through its `Job`. Rule: work belongs to its tool call, not to what the agent is
saying, so a barge-in cancels the work only if the tool is marked as cancellable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from .context import Context


class Mode(Enum):
    """How the conversation treats this tool's work."""

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
    """The running job, as its worker sees it."""

    @property
    def call(self) -> int:
        """The id of the job's tool call. Ids are unique in the conversation, and they increase."""
        ...

    @property
    def context(self) -> Context[Any] | None:
        """The context of the call; None if the job has no call, such as in a test of its worker."""
        ...

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Report progress. `text` is shown to the person."""
        ...

    def partial(self, text: str) -> None:
        """Set a partial result, which is used if the work takes too long or is cancelled."""
        ...

    async def ask(self, question: str) -> str:
        """Ask the person something and wait for the answer."""
        ...

    def detach(self) -> None:
        """Continue in the background: the conversation no longer waits for this job."""
        ...

    def hang_up(self) -> None:
        """End the conversation once everything is said. If the person says something before that, the conversation goes
        on."""
        ...


class Worker(Protocol):
    """Does the work of one tool."""

    @property
    def tool(self) -> Tool: ...

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        """Do the work and return its result: text goes to the brain unchanged, everything else as JSON. Raises
        ServiceError(INVALID_ARGS) for invalid arguments."""
        ...
