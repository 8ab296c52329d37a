"""A worker that follows a script, for tests: progress, questions, partial results, failures and hangs."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from duologue.ports.scripted_steps import Delay, Fail, Hang, take
from duologue.ports.worker import Job, Mode, Tool


@dataclass(frozen=True, slots=True)
class Progress:
    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Partly:
    """Report a partial result."""

    text: str


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Ask the user a question. The answer becomes the result of the tool call, unless a later step sets another
    result."""

    text: str


Step: TypeAlias = Delay | Fail | Hang | Progress | Partly | AskPerson | str


@dataclass
class ScriptedWorker:
    """Performs its steps in order. A step that is a plain text sets the result of the tool call."""

    tool: Tool
    steps: Iterable[Step] = ("done",)
    seed: int = 0
    calls: list[dict[str, Any]] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    cancelled: int = 0

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        self.calls.append(arguments)
        dice = random.Random(self.seed)
        result = "done"
        try:
            for step in self.steps:
                match step:
                    case str():
                        result = step
                    case Progress():
                        job.progress(step.text, step.fraction)
                    case Partly():
                        job.partial(step.text)
                    case AskPerson():
                        result = await job.ask(step.text)
                        self.answers.append(result)
                    case _:
                        await take(step, dice)
        except BaseException as failure:
            self.cancelled += type(failure).__name__ == "CancelledError"
            raise
        return result


def scripted_tool(name: str, *steps: Step, mode: str = "tool", cancellable: bool = False) -> ScriptedWorker:
    """A scripted worker for a tool with this name. The tool accepts any arguments."""
    schema = {"type": "object", "properties": {}, "additionalProperties": True}
    return ScriptedWorker(Tool(name, name, schema, Mode(mode), cancellable), steps or ("done",))
