"""The brain port: a request becomes a reply, part by part.

Text goes to the voice sentence by sentence. A speech-to-speech model yields `Sound` instead of text, and the rest of
the conversation works the same. Rule: a brain stores no history that it couldn't rebuild from the request, unless it
implements `Remembers`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

from duologue.core.leaves import Ask
from duologue.turns.completeness import Completeness

from .context import Context
from .history import CallOutput, Item, News, UserSaid
from .sound import Sound
from .tool_call import ToolCall
from .worker import Tool


@dataclass(frozen=True, slots=True)
class Request:
    """One request to the brain. `text` contains the person's words that no earlier reply has answered or handled with
    tool calls. `outputs` and `news` are the new results of calls and jobs. The history contains all of these too. Each
    of the three may be empty, and for a greeting, a check-in or a goodbye all three are empty. `premature` means that
    the person began to speak before the last question was asked: before half of it was heard, or before a value in it
    was heard. So a "yes" doesn't confirm that question. `confirmed` is set if the person's turn may go on after all:
    only brains with `can_guess` get such a request. Await it before anything that can't be undone. `heard_turn` is set
    after another process took over the conversation: the person has heard the answer to the turns up to this one, and
    has said something since, but the store doesn't have that answer. A brain that remembers processes these turns
    first, separately. `context` is the call's context while the call runs."""

    reply: int
    text: str
    history: tuple[Item, ...] = ()
    tools: tuple[Tool, ...] = ()
    instructions: str = ""
    ask: Ask = Ask.ANSWER
    outputs: tuple[CallOutput, ...] = ()
    news: tuple[News, ...] = ()
    conversation: str = ""
    premature: bool = False
    confirmed: Callable[[], Coroutine[Any, Any, object]] | None = None
    heard_turn: int = 0
    context: Context[Any] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Show:
    """Text for the screen that isn't spoken."""

    text: str


@dataclass(frozen=True, slots=True)
class Firm:
    """Text that can't be interrupted. From this text on, speech over the reply doesn't count as barge-in."""

    text: str


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """Text that asks the person for an answer, with or without a question mark. If the person begins to answer during
    the end of this text, that counts as the answer. `values` are the values that the person is asked about: an answer
    that begins before they were heard doesn't count. With `firm`, the text can't be interrupted, as with `Firm`."""

    text: str
    values: tuple[str, ...] = ()
    firm: bool = False


@dataclass(frozen=True, slots=True)
class LastWords:
    """Text after which the conversation ends: as soon as everything was heard, unless the person says something
    before that."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """A heartbeat of a brain that is still working on its reply: yield one about every 250 ms. A brain that yields
    neither parts nor heartbeats counts as stalled."""

    ms: int = 250


Part: TypeAlias = str | Firm | OpenQuestion | LastWords | Show | Sound | ToolCall | Working


class Brain(Protocol):
    """Answers requests."""

    def reply(self, request: Request) -> AsyncIterator[Part]:
        """The reply, part by part. The runtime closes the generator early when the reply is cancelled."""
        ...


@runtime_checkable
class Guesses(Protocol):
    """A brain that may be asked before the person's turn is certain to be over. Asking it must have no effect apart
    from its reply, unless it first awaits the request's `confirmed`. The runtime holds back its tool calls until
    then."""

    can_guess: bool


@runtime_checkable
class JudgesText(Protocol):
    """A brain that can tell whether the person's words are a complete reply to the agent. A turn that it finds complete
    ends sooner, and one that it finds open ends later."""

    def completeness(self, conversation: str, said: tuple[UserSaid, ...]) -> Completeness:
        """How complete these turns are: everything that the person has said since the last answer. The last turn may
        still go on. Called in each pause, between two frames of sound, so it must return at once and change nothing.
        `UNKNOWN` is always a right answer."""
        ...


@runtime_checkable
class Summarises(Protocol):
    """A brain that can shorten text. This is used for long results and for a session's summary."""

    async def summarise(self, text: str, chars_max: int) -> str: ...


@dataclass(frozen=True, slots=True)
class FormSlot:
    """One slot of a form. `state` is "empty", "asked", "filled" or "confirmed", or "result" for a result of the
    task."""

    name: str
    label: str
    value: str
    state: str


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a conversation fills in, for display on a screen. It contains the person's words. After the last
    step, `state` is "completed", and the form stays until the next one begins."""

    flow: str
    title: str
    state: str
    question: str | None
    slots: tuple[FormSlot, ...]


@runtime_checkable
class ShowsForm(Protocol):
    """A brain that fills in a form and can show its progress."""

    def form(self, conversation: str) -> Form | None: ...


@runtime_checkable
class Suggests(Protocol):
    """A brain that knows what a person could say to it."""

    @property
    def suggestions(self) -> tuple[str, ...]: ...


@runtime_checkable
class Truncates(Protocol):
    """A brain with its own record of what it said, such as a speech-to-speech model."""

    def truncate(self, reply: int, heard_ms: int) -> None:
        """Cut the record of this reply to the first `heard_ms` of its sound, because the person heard no more. Called
        once for each reply that was cut short, within the step that ends its sound."""
        ...


class Memory(Protocol):
    """Durable storage for a brain's data, and for actions that must run only once."""

    async def load(self, conversation: str) -> dict[str, Any] | None: ...

    async def save(self, conversation: str, data: dict[str, Any], reasons: tuple[str, ...]) -> None:
        """Save the data. Returns when the data is durable."""
        ...

    async def once(
        self,
        conversation: str,
        key: str,
        name: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        repeatable: bool,
    ) -> Any:
        """Run `work` once for each `key`. If the work was already done, return its stored result. Raises UnknownOutcome
        for work that began before a restart and is not repeatable."""
        ...


@runtime_checkable
class Forgets(Protocol):
    """A brain that holds data of a conversation in this process."""

    def forget(self, conversation: str) -> None:
        """Drop the data of a conversation that another process has taken over. Start no more work for that
        conversation."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """A brain with data that isn't in the request and must survive a restart."""

    def remember(self, memory: Memory) -> None:
        """Load and save all data through this memory from now on."""
        ...

    async def has_more(self, conversation: str) -> bool:
        """After a restart: was the brain in the middle of an answer, so that it will say the rest when it gets a
        request? It doesn't repeat what it has already said."""
        ...
