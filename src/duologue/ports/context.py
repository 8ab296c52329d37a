"""The context of a call: facts about the call, the program's own data, and methods with which a program acts on the
call.

Tools, brains, flow actions, hooks and functions that choose policies get it as a parameter of the type `Context`. Rule:
everything that a program does through the context enters the state machine as an event. A context changes no state by
itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from duologue.core.errors import DuologueError

from .call_actions import CallActions, KeyRule

if TYPE_CHECKING:
    from .client_channel import ClientChannel

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
HistoryShare = Literal["whole", "summary", "none"]


class NotPossible(DuologueError):
    """The call can't do this. The message says why."""


class TransferFailed(NotPossible):
    """The call could not be transferred and goes on with the agent. `outcome` is busy, no answer, declined, refused,
    failed, hung up or cancelled."""

    def __init__(self, outcome: str, why: str) -> None:
        self.outcome = outcome
        super().__init__(why)


class HandOverRefused(NotPossible):
    """The conversation can't be handed over like this. The message says why."""


@dataclass(frozen=True, slots=True)
class CallInfo:
    """Facts about a call, such as the caller's number. They don't change during the call. A fact that isn't known is
    empty."""

    conversation: str = ""  # the id of the conversation
    line: str = ""  # browser, phone, realtime, rtvi, microphone, text or test
    caller: str = ""  # the caller's number
    called: str = ""  # the number that was called
    direction: str = ""  # of a phone call: in or out
    returned: str = ""  # why a transfer of this call has failed, if the call came back: busy, no answer or failed
    answered_by: str = ""  # person or unknown, if an outgoing call has listened for machines
    parameters: Mapping[str, str] = field(default_factory=dict)  # the carrier's custom parameters
    query: Mapping[str, str] = field(default_factory=dict)  # from the client's URL, as far as the operator allowed it
    headers: Mapping[str, str] = field(default_factory=dict)  # from the client, as far as the operator allowed them
    language: str = ""  # the language that the client has asked for
    model: str = ""  # the model that a client of the Realtime protocol has asked for

    def __hash__(self) -> int:
        return hash(self.conversation)


class Task(Protocol[T_co]):
    """A piece of work during a call that ends with a value, such as asking for an address."""

    async def run(self, context: Context[Any]) -> T_co: ...


class Commands(Protocol):
    """The commands that a running conversation offers to its context."""

    @property
    def agent_name(self) -> str: ...

    @property
    def agent_language(self) -> str: ...

    @property
    def is_doubtful(self) -> bool: ...

    def say(self, text: str) -> Awaitable[str]: ...

    async def ask(self, question: str, *, secret: bool, confirms: bool, limit_s: float | None) -> str: ...

    def update(self, changes: dict[str, Any]) -> None: ...

    async def hand_over(self, agent: Any, history: HistoryShare) -> None: ...

    def end(self, reason: str, after_speaking: bool) -> None: ...

    async def all_said(self) -> bool: ...


class Context(Generic[D]):
    """The context of one call. `data` is an object of a class that the agent defines. It is made for each call, saved
    with the call, and restored after a crash."""

    def __init__(self, info: CallInfo | None = None, data: Any = None, commands: Commands | None = None) -> None:
        self.info = info or CallInfo()
        self.data: D = data
        self._commands = commands
        self._actions: CallActions | None = None
        self._client: ClientChannel | None = None

    def attach_actions(self, actions: CallActions) -> None:
        """Enable the actions that only a telephone call supports."""
        self._actions = actions

    def attach_client(self, client: ClientChannel) -> None:
        """Let this context exchange messages with the client's program."""
        self._client = client

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
        """Where the call comes from: browser, phone, realtime, rtvi, microphone, text or test."""
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

    @property
    def language(self) -> str:
        """The language of the agent that has the conversation now, such as "de"."""
        return self._running.agent_language

    @property
    def is_doubtful(self) -> bool:
        """Were the person's last words heard with so little confidence that they may be only noise? Such words should
        not confirm anything."""
        return self._running.is_doubtful

    # -- What a program can do

    def say(self, text: str) -> Awaitable[str]:
        """Say this text as soon as neither side is speaking and everything that the person has said is answered. If you
        await the result, you wait until the text was said, and get the part of it that was heard."""
        return self._running.say(text)

    async def ask(
        self, question: str, *, secret: bool = False, confirms: bool = False, limit_s: float | None = None
    ) -> str:
        """Ask the person this question, and return what they say next. The brain isn't asked to answer these words.
        With `secret`, the answer is hidden in the history, in captions and in everything that is stored. Use `confirms`
        for a question whose answer is a yes or a no: if another question was asked since, such as "Are you still
        there?", the answer doesn't count, and this question is asked again. Returns an empty text if the person gives
        no answer within `limit_s` seconds, or if the call ends."""
        return await self._running.ask(question, secret=secret, confirms=confirms, limit_s=limit_s)

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
        """Change this call's agent from the next answer on. Only the arguments that are given are changed."""
        given = {"instructions": instructions, "tools": tools, "voice": voice, "language": language}
        self._running.update({name: value for name, value in given.items() if value is not None})

    async def hand_over(self, agent: Any, *, history: HistoryShare = "whole") -> None:
        """Hand the conversation over to another agent, given as an Agent or by its name. The other agent speaks next.
        It must be the first agent of the call, or be listed in that agent's `agents`, in the `agents` of an agent that
        is listed there, and so on. `history` says how much of the conversation so far the other agent gets."""
        await self._running.hand_over(agent, history)

    def end(self, *, after_speaking: bool = True, reason: str = "ended by the program") -> None:
        """End the call. By default, the agent first finishes what it has to say. With `after_speaking=False`, the call
        ends now."""
        self._running.end(reason, after_speaking)

    # -- What only a client with a program of its own can do

    def send_to_client(self, data: object) -> None:
        """Send this value to the client's program. The value may be anything that JSON can represent: text, numbers,
        lists and dictionaries. Raises NotPossible if the line can't send such messages."""
        self.client.send(data)

    @property
    def client(self) -> ClientChannel:
        """The channel to the client's program. Raises NotPossible if the line has no such channel."""
        if self._client is None:
            raise NotPossible(
                f"the line {self.info.line or 'of this call'!r} can't send messages to a client's program"
            )
        return self._client

    # -- What only a telephone call can do

    async def transfer(self, to: str, *, briefing: str = "", ring_s: float | None = None) -> None:
        """Pass the call on to another number when everything is said. With a `briefing`, the caller waits with music
        while the person at the other number hears the briefing and accepts. Raises TransferFailed if the call stays
        with the agent. Raises NotPossible if the call can't be transferred, or if the caller says something before the
        transfer begins."""
        actions = self._phone("transfer")
        if not await self._running.all_said():
            raise NotPossible("the call wasn't transferred, because the person said something first")
        await actions.transfer(to, briefing=briefing, ring_s=ring_s)

    async def send_digits(self, digits: str) -> None:
        """Send telephone keys as tones: 0 to 9, *, #, A to D. The letter `w` is a pause of half a second. The agent
        first finishes what it is saying."""
        actions = self._phone("send_digits")
        await self._running.all_said()
        await actions.send_digits(digits)

    async def hold(self, on: bool = True) -> None:
        """Put the caller on hold with music when everything is said. `hold(False)` ends the hold, and the conversation
        continues."""
        actions = self._phone("hold")
        if on:
            await self._running.all_said()
        await actions.hold(on)

    async def record(self, on: bool = True) -> None:
        """Let the carrier record the call from now on. `record(False)` pauses the recording, for example while the
        caller says a card number."""
        await self._phone("record").record(on)

    def expect_keys(self, rule: KeyRule | None) -> None:
        """Collect the keys that the person presses by this rule from now on. If `rule` is None, the rule in the
        settings applies. On lines without keys, this does nothing."""
        if self._actions is not None:
            self._actions.expect_keys(rule)

    def _phone(self, what: str) -> CallActions:
        if self._actions is None:
            raise NotPossible(f"{what} isn't possible on the line {self.info.line or 'of this call'!r}")
        return self._actions

    @property
    def _running(self) -> Commands:
        if self._commands is None:
            raise NotPossible("the call has not started: only facts about the call and its data can be used now")
        return self._commands
