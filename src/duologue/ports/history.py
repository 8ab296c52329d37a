"""The history of a conversation: what was said and done, as the brain sees it.

Rule: text of the agent is in the history only if it was heard or shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from duologue.core.leaves import Outcome

from .tool_call import ToolCall

CONFIDENCE_MIN = 0.35  # words heard with less confidence may be a noise: they shouldn't confirm, cancel or pay


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A turn of the person. An `overheard` turn is recorded but gets no answer, for example because it was said over
    the agent. `confidence` is how sure the ears were of the words, 0 to 1; typed text has 1."""

    turn: int
    text: str
    overheard: bool = False
    confidence: float = 1.0

    @property
    def is_doubtful(self) -> bool:
        """Was the ears' confidence so low that the turn may be only noise?"""
        return self.confidence < CONFIDENCE_MIN


@dataclass(frozen=True, slots=True)
class AgentSaid:
    """The part of a reply that was heard or shown, and the tool calls in the reply. `unheard` is the text that an
    interruption cut off; the screen shows it, but the brain doesn't get it. `speaker` is the name of the agent if that
    agent has taken over the call, and empty for the call's first agent."""

    reply: int
    text: str
    interrupted: bool = False
    calls: tuple[tuple[int, ToolCall], ...] = ()
    unheard: str = ""
    heard_ms: int = 0
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class CallOutput:
    """The output of a tool call. Each tool call gets exactly one output."""

    call: int
    output: str
    outcome: Outcome = Outcome.DONE
    tool: str = ""


@dataclass(frozen=True, slots=True)
class News:
    """A result of a job that runs in the background, or a question that the job asks."""

    call: int
    text: str
    outcome: Outcome = Outcome.DONE
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the brain must know, such as the summary of an earlier session."""

    text: str


Item: TypeAlias = UserSaid | AgentSaid | CallOutput | News | Note
