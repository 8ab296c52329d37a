"""An agent: its brain, voice, ears, tools and settings. One agent can hold many conversations.

Rule: the arguments of an agent are checked when it is created, and one error lists every problem. An agent stores
nothing about its conversations.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from duologue.brains.function_brain import as_brain
from duologue.core.errors import DuologueError
from duologue.core.leaves import Ask
from duologue.core.settings import Settings, profile
from duologue.ports.brain import Brain, Part, Request
from duologue.ports.ears import Ears
from duologue.ports.session import Session
from duologue.ports.voice import Voice
from duologue.ports.worker import Worker
from duologue.turns.endpoint import EndpointPolicy, policy
from duologue.turns.overlap import OVERLAP_RULES
from duologue.workers.function_tools import as_worker


class InvalidAgent(DuologueError, ValueError):
    """The agent's arguments are invalid. The message lists every problem."""


OWN_TOOLS = ("answer_job", "cancel_job")


class ToolSource(Protocol):
    """A server that provides tools, such as an McpServer. Its tools are known only after `open`."""

    @property
    def is_connected(self) -> bool: ...

    async def open(self) -> None: ...

    def workers(self) -> list[Worker]: ...

    async def close(self) -> None: ...


def _is_source(tool: object) -> bool:
    return all(hasattr(tool, name) for name in ("open", "workers", "close")) and not isinstance(tool, type)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Fixed texts that the agent says. If a text is empty, the brain is asked for one instead. Only an empty
    `broken_off` means that nothing is said."""

    greeting: str = ""  # said first; with a greeting, the agent greets in every profile
    check_ins: tuple[str, ...] = ("Are you still there?", "Hello? Can you hear me?")  # one for each silence
    goodbye: str = "I will hang up now. Goodbye!"  # after the last check-in
    broken_off: str = "Sorry, I lost the rest of that."  # said when an answer fails while the agent speaks it


@dataclass(frozen=True)
class Agent:
    """An agent. `brain` is a Brain, or a function that takes the request and yields or returns text. If the brain is
    a speech-to-speech model, it is also the ears, the voice and the session, unless you pass others."""

    brain: Any  # decides what to say: a function, FlowBrain, ChatBrain, RealtimeModel or your own Brain
    instructions: str = ""  # the system prompt, for brains that are models
    name: str = ""  # shown in the panel and in the lists of calls
    tools: Iterable[Any] = ()  # functions, workers and servers such as McpServer
    voice: Voice | None = None  # TTS
    ears: Ears | None = None  # STT and VAD
    session: Callable[[], Session] | None = None  # for services whose connection has to be opened and renewed
    profile: str | Settings = "confirm"  # how the agent can be interrupted, and every time limit
    endpoint: EndpointPolicy | str = "combined"  # decides when a turn is over: a policy or its name
    phrases: Phrases = Phrases()  # what the agent says without asking the brain
    language: str = "en"  # language of the labels that the user sees: en, de, fr, es or ja
    tool_rounds_max: int = 10  # requests in a row that only call tools; the next request has no tools
    private: bool = False  # if True, no words of a conversation are stored on disk
    notes: Callable[[], tuple[str, ...]] = tuple  # facts that the next session of a model must know

    # Made from the arguments above
    thinker: Brain = field(init=False, repr=False)
    workers: tuple[Worker, ...] = field(init=False, repr=False)
    settings: Settings = field(init=False, repr=False)
    endpoint_policy: EndpointPolicy = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.tools, Iterable):
            raise InvalidAgent(f"tools must be a list of functions, workers and servers, not {self.tools!r}")
        object.__setattr__(self, "tools", tuple(self.tools))
        if self.ears is None and hasattr(self.brain, "listen"):
            object.__setattr__(self, "ears", self.brain)
        if self.voice is None and hasattr(self.brain, "speak"):
            object.__setattr__(self, "voice", self.brain)
        if self.session is None and hasattr(self.brain, "renew"):
            object.__setattr__(self, "session", lambda: self.brain)
        problems: list[str] = []
        made: dict[str, Any] = {}
        for name, make in (
            ("thinker", self._make_brain),
            ("workers", self._make_workers),
            ("settings", self._make_settings),
            ("endpoint_policy", self._make_endpoint),
        ):
            try:
                made[name] = make()
            except (DuologueError, TypeError, ValueError) as problem:
                problems.append(str(problem))
        if self.voice is not None and not hasattr(self.voice, "speak"):
            problems.append(f"voice must have a method speak(text), but {type(self.voice).__name__} does not")
        if self.ears is not None and not hasattr(self.ears, "listen"):
            problems.append(f"ears must have a method listen(audio), but {type(self.ears).__name__} does not")
        problems += self._text_problems()
        if problems:
            raise InvalidAgent("; ".join(problems))
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _text_problems(self) -> list[str]:
        problems = []
        if not isinstance(self.phrases, Phrases):
            problems.append(f"phrases must be Phrases(…), not {type(self.phrases).__name__}")
        elif isinstance(self.phrases.check_ins, str):
            problems.append("phrases.check_ins must be a tuple of texts: write (text,) for one")
        for name in ("instructions", "name", "language"):
            if not isinstance(getattr(self, name), str):
                problems.append(f"{name} must be text, not {getattr(self, name)!r}")
        return problems

    @property
    def sources(self) -> tuple[ToolSource, ...]:
        """The servers in `tools`. The tools that a server provides are known only after it was opened."""
        return tuple(tool for tool in self.tools if _is_source(tool))

    def _make_brain(self) -> Brain:
        return as_brain(self.brain)

    def _make_workers(self) -> tuple[Worker, ...]:
        workers = tuple(as_worker(tool) for tool in self.tools if not _is_source(tool))
        names = [worker.tool.name for worker in workers]
        taken = [name for name in names if name in OWN_TOOLS]
        if taken:
            raise InvalidAgent(f"{taken[0]!r} is a built-in tool: choose another name")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidAgent(f"two tools have the name {twice[0]!r}: rename one")
        return workers

    def _make_settings(self) -> Settings:
        settings = self.profile if isinstance(self.profile, Settings) else profile(self.profile)
        if isinstance(self.phrases, Phrases) and self.phrases.greeting and not settings.greets:
            settings = replace(settings, greets=True)
        if settings.overlap.value not in OVERLAP_RULES:
            raise InvalidAgent(f"the profile has an unknown overlap rule {settings.overlap.value!r}")
        return settings

    def _make_endpoint(self) -> EndpointPolicy:
        if isinstance(self.endpoint, str):
            return policy(self.endpoint)
        if not hasattr(self.endpoint, "wait"):
            raise InvalidAgent(f"endpoint must be a policy or the name of one, not {self.endpoint!r}")
        return self.endpoint

    def phrase(self, ask: Ask, is_greeting: bool, check_in: int) -> str:
        """The fixed text for this request, or "" if the brain must be asked. `check_in` is the number of the check-in,
        counted from 1."""
        if ask is Ask.GOODBYE:
            return self.phrases.goodbye
        if ask is Ask.CHECK_IN and self.phrases.check_ins:
            return self.phrases.check_ins[(check_in - 1) % len(self.phrases.check_ins)]
        return self.phrases.greeting if is_greeting else ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A brain that says one fixed text."""

    text: str

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        yield self.text
