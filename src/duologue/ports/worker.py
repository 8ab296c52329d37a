"""The worker port: a call becomes work, from a quick lookup to an agent that runs for minutes.

Done is a return, failed an exception, cancelled the usual CancelledError; what lies between goes
through the `Job`. Rule: work belongs to its call, not to what is being said, so a barge-in leaves it
alone unless the tool says that it may be cancelled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class Mode(Enum):
    """How the conversation treats this tool's work."""

    TOOL = "tool"  # quick; the reply waits for it
    DELEGATE = "delegate"  # long; the conversation waits for it and tells how it stands
    DISPATCH = "dispatch"  # long; it runs beside the conversation and speaks up when it is done


@dataclass(frozen=True, slots=True)
class Tool:
    """What a brain may call: a name, what it is for, and the JSON schema of its arguments."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    mode: Mode = Mode.TOOL
    cancellable: bool = False  # may a barge-in drop it?
    idempotent: bool = False  # may it run again with the same arguments, if nobody knows whether it has?

    def __hash__(self) -> int:
        return hash(self.name)


class Job(Protocol):
    """The running job, as its worker sees it."""

    @property
    def call(self) -> int:
        """Its number; unique in the conversation and increasing."""
        ...

    def progress(self, text: str, fraction: float | None = None) -> None:
        """A sign of life with something to show."""
        ...

    def partial(self, text: str) -> None:
        """What there is of a result; handed over if time runs out."""
        ...

    async def ask(self, question: str) -> str:
        """Ask the person something and wait for the answer."""
        ...

    def detach(self) -> None:
        """It takes longer than thought: go on beside the conversation from here."""
        ...


class Worker(Protocol):
    """Does the work of one tool."""

    @property
    def tool(self) -> Tool: ...

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        """The result; text goes to the brain as it is, everything else as JSON. Arguments that don't
        fit raise ServiceError(INVALID_ARGS)."""
        ...
