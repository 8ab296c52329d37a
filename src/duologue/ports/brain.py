"""The brain port: a brain turns a request into a reply, part by part.

Text goes to the voice sentence by sentence. A speech-to-speech model yields `Sound` instead of text, and everything
else in the conversation stays the same. Rule: a brain keeps no history except what it can rebuild from the request.
Brains that implement `Remembers` may keep more.
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
    """One request to the brain. `text` contains the words of the person that no earlier reply has answered. `outputs`
    holds new results of tool calls, and `news` holds new reports from background jobs. The history contains all of this
    too. For a greeting, a check-in or a goodbye, all three are empty.

    `premature` means that the person began to speak too early to answer the last question: before half of it was heard,
    or before every value in it was heard. So a "yes" doesn't confirm that question.

    `typed` means that the person typed the words in `text`.

    `confirmed` is set if the brain is asked early, while the person's turn may still go on. Only brains with
    `can_guess` get such a request. They must await `confirmed()` before they do anything that can't be undone.

    `heard_turn` is normally 0. It is above 0 only after this process has taken over the conversation from another
    process. Then the answers to the turns up to this number were heard, but not stored. A brain that remembers must
    process these turns first, separately from the person's new words.

    `said` is normally empty. Otherwise another brain has begun this answer with these sentences, and has failed. Only
    brains with `can_go_on` get such a request. They go on after these sentences, and don't repeat them.

    With `context`, a brain can act on the call, for example transfer it. It is None outside of a call, such as in a
    test of the brain."""

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
    typed: bool = False
    confirmed: Callable[[], Coroutine[Any, Any, object]] | None = None
    heard_turn: int = 0
    said: str = ""
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
    """Text that asks the person for an answer, with or without a question mark. If the person begins to speak while the
    end of this text is played, the words count as the answer. `values` are the values that the person is asked about:
    words that the person begins to say before hearing them aren't an answer. With `firm`, the text can't be
    interrupted, as with `Firm`."""

    text: str
    values: tuple[str, ...] = ()
    firm: bool = False


@dataclass(frozen=True, slots=True)
class LastWords:
    """The last text of a conversation. The conversation ends as soon as everything was heard, unless the person says
    something before that."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """A heartbeat: the brain is still working on its reply. Yield one about every 250 ms. A brain that yields neither
    parts nor heartbeats is treated as stalled."""

    ms: int = 250


Part: TypeAlias = str | Firm | OpenQuestion | LastWords | Show | Sound | ToolCall | Working


class Brain(Protocol):
    """Answers requests."""

    def reply(self, request: Request) -> AsyncIterator[Part]:
        """Yield the reply, part by part. When the reply is cancelled, the runtime closes the generator early."""
        ...


@runtime_checkable
class Guesses(Protocol):
    """A brain that may be asked early, before it is certain that the person's turn is over. Until the brain has awaited
    the request's `confirmed`, it may yield parts of the reply, but must do nothing else that has an effect. The runtime
    holds back the brain's tool calls until the turn is confirmed."""

    can_guess: bool


@runtime_checkable
class GoesOn(Protocol):
    """A brain that can go on with an answer that another brain has begun (`Request.said`)."""

    can_go_on: bool


@runtime_checkable
class JudgesText(Protocol):
    """A brain that can tell whether the person's words are a complete reply to the agent. If the words are complete,
    the turn ends sooner; if they aren't, it ends later."""

    def completeness(self, conversation: str, said: tuple[UserSaid, ...]) -> Completeness:
        """Judge how complete the person's words are. `said` holds all turns since the last answer; the last of them may
        still go on. This is called in each pause, between two frames of sound, so it must return at once and change
        nothing. `UNKNOWN` is always an allowed result."""
        ...


@runtime_checkable
class Summarises(Protocol):
    """A brain that can shorten text. It is used to shorten long results, and to summarise a session."""

    async def summarise(self, text: str, chars_max: int) -> str: ...


@dataclass(frozen=True, slots=True)
class FormSlot:
    """One slot of a form, as a screen shows it. `state` says what has happened to the value: "empty", "asked" (the
    agent asks for it now), "filled", "confirmed" (the person has said that it is right), or "result" (an action of the
    task has set it)."""

    name: str
    label: str
    value: str
    state: str


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a conversation fills in, for display on a screen. It contains the person's words. `state` is
    "completed" when the task is completed; the form then stays until the next task begins."""

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
    """A brain that can suggest what a person could say to it."""

    @property
    def suggestions(self) -> tuple[str, ...]: ...


@runtime_checkable
class Truncates(Protocol):
    """A brain that keeps its own record of what it said, such as a speech-to-speech model."""

    def truncate(self, reply: int, heard_ms: int) -> None:
        """Shorten the record of this reply to the first `heard_ms` milliseconds of its sound, because the person heard
        no more than that. Called one time for each reply that was cut short, within the step that ends its sound."""
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
        """Run `work`, but only one time for each `key`, and return its result. If the work was already done, its stored
        result is returned. Raises UnknownOutcome if the work began before a restart and isn't `repeatable`."""
        ...


@runtime_checkable
class Forgets(Protocol):
    """A brain that keeps data about conversations in this process, and can drop it."""

    def forget(self, conversation: str) -> None:
        """Drop the data of this conversation, because another process has taken over the conversation. Start no more
        work for this conversation."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """A brain that keeps data that isn't in the request and must survive a restart."""

    def remember(self, memory: Memory) -> None:
        """Load and save all data through this memory from now on."""
        ...

    async def has_more(self, conversation: str) -> bool:
        """Asked after a restart: does the brain still have to say the rest of an answer? If so, it gets a request, and
        must then say only the rest."""
        ...
