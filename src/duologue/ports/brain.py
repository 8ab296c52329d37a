"""The brain port: a request becomes a reply, part by part.

Text goes to the voice sentence by sentence; a model that speaks by itself yields `Sound` instead, and
nothing else about the conversation changes. Rule: a brain keeps no history of its own that it could
not rebuild from the request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from duologue.core.leaves import Ask

from .history import CallOutput, Item, News
from .sound import Sound
from .tool_call import ToolCall
from .worker import Tool


@dataclass(frozen=True, slots=True)
class Request:
    """What the brain is asked. `text` is what the person said that no earlier reply has dealt with, by an
    answer or by calling tools; `outputs` and `news` are what calls and jobs have brought since. The
    history holds all of it too. All three may come together, and all may be empty: for a greeting, a
    check-in or a goodbye."""

    reply: int
    text: str
    history: tuple[Item, ...] = ()
    tools: tuple[Tool, ...] = ()
    instructions: str = ""
    ask: Ask = Ask.ANSWER
    outputs: tuple[CallOutput, ...] = ()
    news: tuple[News, ...] = ()
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Show:
    """Text for the screen that is not spoken."""

    text: str


@dataclass(frozen=True, slots=True)
class Firm:
    """Text that is spoken to its end: sounds made over the reply from here on are no bid for the floor."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """A sign of life from a brain that has more to say and is at work: yield one every quarter of a second or so. A
    brain that gives neither parts nor signs counts as stalled."""

    ms: int = 250


Part: TypeAlias = str | Firm | Show | Sound | ToolCall | Working


class Brain(Protocol):
    """Answers."""

    def reply(self, request: Request) -> AsyncIterator[Part]:
        """The reply, part by part. Closed before its end when nobody wants it any more."""
        ...


@runtime_checkable
class Summarises(Protocol):
    """A brain that can say things more briefly; used for long results and for a session's summary."""

    async def summarise(self, text: str, chars_max: int) -> str: ...


@dataclass(frozen=True, slots=True)
class FormSlot:
    """Something to be filled in: `state` is empty, asked, filled or confirmed."""

    name: str
    label: str
    value: str
    state: str


@dataclass(frozen=True, slots=True)
class Form:
    """What a conversation is about, for a screen beside it. It holds words."""

    flow: str
    title: str
    state: str
    question: str | None
    slots: tuple[FormSlot, ...]


@runtime_checkable
class ShowsForm(Protocol):
    """A brain that fills something in and can show how far it is."""

    def form(self, conversation: str) -> Form | None: ...


@runtime_checkable
class Truncates(Protocol):
    """A brain that keeps its own record of what it said, as a speech-to-speech model does."""

    def truncate(self, reply: int, heard_ms: int) -> None:
        """So much of the sound of this reply was heard, and no more will be. Called at once, in the step
        that ends the sound, and once for each reply that was cut short."""
        ...


class Memory(Protocol):
    """What a brain remembers of conversations beyond this process, and what it may do once."""

    async def load(self, conversation: str) -> dict[str, Any] | None: ...

    async def save(self, conversation: str, data: dict[str, Any], reasons: tuple[str, ...]) -> None:
        """Returns when it is safe."""
        ...

    async def once(
        self,
        conversation: str,
        key: str,
        name: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        repeatable: bool,
    ) -> Any:
        """Do this unless it was done; then what came of it comes of it again. Raises UnknownOutcome for work that began
        before a restart, if it is not repeatable."""
        ...


@runtime_checkable
class Forgets(Protocol):
    """A brain that keeps something of a conversation in this process."""

    def forget(self, conversation: str) -> None:
        """Another process goes on with it: what runs here may end, and nothing may follow from it."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """A brain that knows things which the request does not tell, and has to know them after a restart."""

    def remember(self, memory: Memory) -> None:
        """From here on, keep everything there."""
        ...

    async def has_more(self, conversation: str) -> bool:
        """Asked after a restart: was it in the middle of something, and will it say more when it is asked again? What
        it has said before, it does not say again."""
        ...
