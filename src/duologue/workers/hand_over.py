"""A tool with which a brain hands the conversation over to another agent: `tools=[hand_over_to(billing, support)]`."""

from __future__ import annotations

from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.context import HistoryShare, NotPossible
from duologue.ports.failure import ServiceError
from duologue.ports.worker import Job, Tool

_KNOWS: dict[HistoryShare, str] = {
    "whole": "knows what was said",
    "summary": "gets a summary of what was said",
    "none": "knows nothing of what was said",
}


class HandOverTool:
    """The tool that `hand_over_to` returns. The brain chooses one of the agents by its name."""

    def __init__(self, names: tuple[str, ...], history: HistoryShare, agents: tuple[Any, ...] = ()) -> None:
        self.agents = agents  # those that were passed themselves, not by their names
        self._names = names
        self._history = history
        self._tool = Tool(
            "hand_over",
            f"Let a colleague take over this conversation: {', '.join(names)}. The colleague {_KNOWS[history]}, and "
            "speaks next. Don't answer in the colleague's place.",
            {
                "type": "object",
                "properties": {"to": {"type": "string", "enum": list(names)}},
                "required": ["to"],
                "additionalProperties": False,
            },
        )

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        to = arguments.get("to")
        if to not in self._names or job.context is None:
            raise ServiceError(ErrorClass.INVALID_ARGS, f"`to` must be one of {', '.join(self._names)}")
        try:
            await job.context.hand_over(to, history=self._history)
        except NotPossible as refusal:
            raise ServiceError(ErrorClass.INVALID_ARGS, str(refusal)) from None
        return f"{to} has the conversation now"


def hand_over_to(*agents: Any, history: HistoryShare = "whole") -> HandOverTool:
    """A tool with which the brain hands the conversation over to one of these agents. Pass the agents, or the names of
    agents that another agent of the call lists in its `agents`. `history` says how much of the conversation so far the
    other agent gets: whole, summary or none."""
    if history not in _KNOWS:
        raise ValueError(f"history must be whole, summary or none, not {history!r}")
    names = tuple(agent if isinstance(agent, str) else str(getattr(agent, "name", "")) for agent in agents)
    if not names or not all(names):
        raise TypeError("hand_over_to needs at least one agent, and each needs a name")
    return HandOverTool(names, history, tuple(agent for agent in agents if not isinstance(agent, str)))
