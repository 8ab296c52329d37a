"""The context of a call: facts about it, the program's own data, and what a program can do to the call.

Tools, brains, flow actions and hooks get it as a parameter of the type `Context`. Rule: what a program does enters the
state machine as an event. A context changes no state by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from duologue.core.errors import DuologueError

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
HistoryShare = Literal["whole", "summary", "none"]


class NotPossible(DuologueError):
    """The call can't do this. The message says why."""


class HandOverRefused(NotPossible):
    """The conversation can't be handed over like this. The message says why."""


@dataclass(frozen=True, slots=True)
class CallInfo:
    """Facts about a call. They don't change while the call lasts. What isn't known is empty."""

    conversation: str = ""  # the id of the conversation
    line: str = ""  # browser, phone, realtime, microphone, text or test
    caller: str = ""  # the caller's number
    called: str = ""  # the number that was called
    parameters: Mapping[str, str] = field(default_factory=dict)  # the carrier's custom parameters
    query: Mapping[str, str] = field(default_factory=dict)  # of the client's URL, as far as the operator allowed it
    headers: Mapping[str, str] = field(default_factory=dict)  # of the client, as far as the operator allowed them
    language: str = ""  # the language that the client has asked for

    def __hash__(self) -> int:
        return hash(self.conversation)


class Task(Protocol[T_co]):
    """Something that the call does until it has a value, such as asking for an address."""

    async def run(self, context: Context[Any]) -> T_co: ...


class Commands(Protocol):
    """What a running conversation does for its context."""

    @property
    def agent_name(self) -> str: ...

    def say(self, text: str) -> Awaitable[str]: ...

    async def ask(self, question: str, *, secret: bool, limit_s: float | None) -> str: ...

    def update(self, changes: dict[str, Any]) -> None: ...

    async def hand_over(self, agent: Any, history: HistoryShare) -> None: ...

    def end(self, reason: str, after_speaking: bool) -> None: ...


class Context(Generic[D]):
    """The context of one call. `data` is an object of the agent's own data class: it is made for each call, saved with
    the call, and restored after a crash."""

    def __init__(self, info: CallInfo | None = None, data: Any = None, commands: Commands | None = None) -> None:
        self.info = info or CallInfo()
        self.data: D = data
        self._commands = commands

    def attach(self, commands: Commands) -> None:
        """Let this context act on a running conversation."""
        self._commands = commands

    def __repr__(self) -> str:
        return f"Context({self.info.conversation or 'no conversation'})"

    # -- Facts

    @property
    def conversation(self) -> str:
        """The id of the conversation."""
        return self.info.conversation

    @property
    def line(self) -> str:
        """Where the call comes from: browser, phone, realtime, microphone, text or test."""
        return self.info.line

    @property
    def caller(self) -> str:
        """The caller's number, or empty if it isn't known."""
        return self.info.caller

    @property
    def called(self) -> str:
        """The number that was called, or empty if it isn't known."""
        return self.info.called

    @property
    def agent(self) -> str:
        """The name of the agent that has the conversation now."""
        return self._running.agent_name

    # -- What a program can do

    def say(self, text: str) -> Awaitable[str]:
        """Say this text when the floor is free. Await the result to wait until it was said: it is what was heard. The
        person's unanswered words are answered first."""
        return self._running.say(text)

    async def ask(self, question: str, *, secret: bool = False, limit_s: float | None = None) -> str:
        """Ask the person, and return the next thing that they say. The brain isn't asked about it. With `secret`, the
        answer is hidden in the history, in captions and in everything that is stored. The result is empty if the
        person gives no answer within `limit_s` seconds, or if the call ends."""
        return await self._running.ask(question, secret=secret, limit_s=limit_s)

    async def run(self, task: Task[T]) -> T:
        """Run a task and return its value: `address = await context.run(CollectAddress())`."""
        return await task.run(self)

    def update(
        self,
        *,
        instructions: str | None = None,
        tools: Iterable[Any] | None = None,
        voice: Any = None,
        language: str | None = None,
    ) -> None:
        """Change the agent of this call from the next answer on. What isn't given stays as it is."""
        given = {"instructions": instructions, "tools": tools, "voice": voice, "language": language}
        self._running.update({name: value for name, value in given.items() if value is not None})

    async def hand_over(self, agent: Any, *, history: HistoryShare = "whole") -> None:
        """Let another agent take the conversation: one of those in `agents` of the first agent, or its name. It speaks
        next. `history` is what it gets to know of the conversation so far."""
        await self._running.hand_over(agent, history)

    def end(self, *, after_speaking: bool = True, reason: str = "ended by the program") -> None:
        """End the call, by default once everything is said."""
        self._running.end(reason, after_speaking)

    # -- What only some lines can do

    async def transfer(self, to: str) -> None:  # noqa: ARG002
        """Pass the call on to another number. No line can do this yet: raises NotPossible."""
        raise self._refusal("transfer")

    async def send_digits(self, digits: str) -> None:  # noqa: ARG002
        """Send keys of a telephone. No line can do this yet: raises NotPossible."""
        raise self._refusal("send_digits")

    async def hold(self, on: bool = True) -> None:  # noqa: ARG002
        """Put the caller on hold. No line can do this yet: raises NotPossible."""
        raise self._refusal("hold")

    def _refusal(self, what: str) -> NotPossible:
        return NotPossible(f"{what} isn't possible on the line {self.info.line or 'of this call'!r}")

    @property
    def _running(self) -> Commands:
        if self._commands is None:
            raise NotPossible("the call has not started: only its facts and data can be used")
        return self._commands
