"""An agent: its brain, voice, ears, tools and settings. One agent can hold many conversations.

Rule: the arguments of an agent are checked when it is created, and one error lists every problem. An agent stores
nothing about its conversations.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, Protocol

from duologue.brains.function_brain import as_brain
from duologue.core.errors import DuologueError
from duologue.core.leaves import Ask
from duologue.core.settings import Settings, profile
from duologue.hearing.policy import HearingPolicy
from duologue.phrases.overrides import Phrases as Phrases
from duologue.phrases.texts import filled
from duologue.ports.brain import Brain, Part, Request, Suggests
from duologue.ports.context import CallInfo
from duologue.ports.ears import Ears
from duologue.ports.session import Session
from duologue.ports.voice import Voice
from duologue.ports.worker import Worker
from duologue.spoken.forms import Pronunciation, SpokenForms, lexicon_problems
from duologue.turns.endpoint import EndpointPolicy
from duologue.turns.language import KNOWN, is_code, known_code
from duologue.turns.overlap import OVERLAP_RULES, OverlapPolicy
from duologue.turns.words import count as count_words
from duologue.voice.sounds import Sounds
from duologue.workers.function_tools import as_worker
from duologue.workers.hand_over import HandOverTool

from .call_data import DataNotSavable, check_data, data_to_json
from .hooks import NO_HOOKS, Hooks
from .policy_choice import PolicyFunction, check_chooser, endpoint_policy, is_chooser, overlap_policy


class InvalidAgent(DuologueError, ValueError):
    """The agent's arguments are invalid. The message lists every problem with them."""


LOG = logging.getLogger("duologue")
OWN_TOOLS = ("answer_job", "cancel_job")


_KNOWN_CODES = f"known are {', '.join(KNOWN)}"


@cache
def _warn_of_other_language(agent: str, flows: str) -> None:
    """Log a warning that the agent and its flows have different languages. The warning is logged only one time for the
    same two languages."""
    LOG.warning("the agent has language %r, but its flows have %r: set Agent(language=%r)", agent, flows, flows)


@cache
def _warn_of_language(code: str) -> None:
    """Log a warning that Duologue doesn't know the backchannels (such as "uh-huh") of this language. Each language is
    logged only one time. It is only a warning, because the agent still works in this language: the difference is that
    backchannels interrupt it."""
    LOG.warning(
        "language %r: Duologue doesn't know its backchannels and commands, only sounds such as mhm (%s)",
        code,
        _KNOWN_CODES,
    )


class ToolSource(Protocol):
    """A server that provides tools, such as an McpServer. Its tools are known only after `open`."""

    @property
    def is_connected(self) -> bool: ...

    async def open(self) -> None: ...

    def workers(self) -> list[Worker]: ...

    async def close(self) -> None: ...


def _is_source(tool: object) -> bool:
    return all(hasattr(tool, name) for name in ("open", "workers", "close")) and not isinstance(tool, type)


class EarlyAsking(NamedTuple):
    """The limits for asking the brain early, before it is certain that the user's turn is over. `early_wait_ms_max` and
    `hasty_wait_ms_max` are used as the settings with these names in HearingPolicy, and `early_requests_max` as the one
    in Settings."""

    early_wait_ms_max: int = 0
    hasty_wait_ms_max: int = 0
    early_requests_max: int = 0


SPECULATION = {"off": EarlyAsking(), "cautious": EarlyAsking(1_200, 500, 2), "eager": EarlyAsking(5_000, 1_200, 3)}


@dataclass(frozen=True)
class Agent:
    """An agent. `brain` is a Brain, or a function that takes the request and yields or returns text. A speech-to-speech
    model as `brain` is also the ears, the voice and the session, unless you pass others."""

    brain: Any  # decides what to say: a function, FlowBrain, ChatBrain, RealtimeModel or your own Brain
    instructions: str = ""  # the system prompt, for brains that are models
    name: str = ""  # shown in the panel and in the lists of calls
    suggestions: tuple[str, ...] = ()  # what a user could say, shown in the panel; flows give their own examples
    tools: Iterable[Any] = ()  # functions, workers and servers such as McpServer
    voice: Voice | None = None  # TTS
    # Other voices, by name, such as {"marin": voice}. A client of the Realtime protocol may choose one of them.
    voices: Mapping[str, Voice] = field(default_factory=dict, hash=False)
    ears: Ears | None = None  # STT and VAD
    session: Callable[[], Session] | None = None  # for services whose connection has to be opened and renewed
    profile: str | Settings = "confirm"  # how the agent can be interrupted, and every time limit
    # Decides when a turn is over: a policy, its name, or a function that gets the context of a call and returns one
    endpoint: EndpointPolicy | str | PolicyFunction = "combined"
    # Decides when a sound interrupts: a policy, or a function that gets the context of a call and returns one. By
    # default, the profile's own rule.
    overlap: OverlapPolicy | PolicyFunction | None = None
    # Is the brain asked before it is certain that the user's turn is over? "off", "cautious" or "eager". A reply
    # that was requested too early is dropped before it is heard. Only brains with `can_guess` are asked early, such as
    # ChatBrain and FlowBrain.
    speculation: str = "cautious"
    sounds: Sounds = Sounds()  # sounds beside the voice: while the user waits, at the start, all the time
    phrases: Phrases = Phrases()  # texts that the agent says and shows by itself, instead of the built-in ones
    # Code of the language that is spoken, such as "de" or "pt-BR": de, en, es, fr, it, ja, nl, pl, pt or zh. The texts
    # that the agent says and shows by itself are in this language. Backchannels in this language, such as "mhm", don't
    # interrupt the agent, but commands such as "stop" do.
    language: str = "en"
    # How words are said, such as {"SQL": "sequel", "Nguyen": "win"}. Captions and the history keep the written word. A
    # `Pronunciation` also has the word in IPA, for voices that take markup.
    pronunciations: Mapping[str, str | Pronunciation] = field(default_factory=dict, hash=False)
    # If False, the voice gets numbers, dates, money, abbreviations and markup as they are written: for services that
    # read them well by themselves. `pronunciations` are used in any case.
    spoken_forms: bool = True
    tool_rounds_max: int = 10  # most requests in a row that only call tools; the next one has no tools
    private: bool = False  # if True, no words of a conversation are stored on disk
    notes: Callable[[], tuple[str, ...]] = tuple  # facts that the next session of a model must know
    data: Any = None  # a data class: each call gets an object of it as `context.data`, saved with the call
    agents: tuple[Agent, ...] = ()  # agents that may take over the conversation; each needs its own name
    hooks: Hooks = NO_HOOKS  # your functions that are called when a call starts, ends or changes

    # Made from the arguments above
    thinker: Brain = field(init=False, repr=False)
    workers: tuple[Worker, ...] = field(init=False, repr=False)
    settings: Settings = field(init=False, repr=False)
    hearing: HearingPolicy = field(init=False, repr=False)
    spoken: SpokenForms = field(init=False, repr=False)

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
            ("hearing", self._make_hearing),
            ("voice", self._make_voice),
            ("spoken", self._make_spoken),
            ("agents", self._make_agents),
        ):
            try:
                made[name] = make()
            except (DuologueError, TypeError, ValueError) as problem:
                problems.append(str(problem))
        if self.voice is not None and not hasattr(self.voice, "speak"):
            problems.append(f"voice must have a method speak(text), but {type(self.voice).__name__} does not")
        problems += self._voices_problems()
        if self.ears is not None and not hasattr(self.ears, "listen"):
            problems.append(f"ears must have a method listen(audio), but {type(self.ears).__name__} does not")
        problems += self._text_problems() + self._call_problems()
        if problems:
            raise InvalidAgent("; ".join(dict.fromkeys(problems)))
        for name, value in made.items():
            object.__setattr__(self, name, value)
        if not known_code(self.language):
            _warn_of_language(self.language)
        flows = getattr(self.brain, "language", "")  # of a brain that reads replies with a language pack
        if isinstance(flows, str) and flows and flows.partition("-")[0] != self.language.partition("-")[0]:
            _warn_of_other_language(self.language, flows)

    def _voices_problems(self) -> list[str]:
        """The problems with the argument `voices`, one text for each problem."""
        if not isinstance(self.voices, Mapping):
            return [f'voices must be a dict such as {{"marin": voice}}, not {type(self.voices).__name__}']
        problems = [
            f"the voice {name!r} in voices must have a method speak(text), but {type(voice).__name__} does not"
            for name, voice in self.voices.items()
            if not hasattr(voice, "speak")
        ]
        if not all(isinstance(name, str) and name for name in self.voices):
            problems.append("the names in voices must be texts that aren't empty")
        if self.voices and (self.voice is None or self.voice is self.brain):
            problems.append("voices are chosen instead of the agent's voice: pass voice=… as well")
        return problems

    def _text_problems(self) -> list[str]:
        problems = []
        if not isinstance(self.sounds, Sounds):
            problems.append(f"sounds must be Sounds(…), not {type(self.sounds).__name__}")
        else:
            problems += self.sounds.problems()
        if not isinstance(self.phrases, Phrases):
            problems.append(f"phrases must be Phrases(…), not {type(self.phrases).__name__}")
        else:
            problems += self.phrases.problems()
        if isinstance(self.suggestions, str) or not all(isinstance(one, str) for one in self.suggestions):
            problems.append("suggestions must be a tuple of texts: write (text,) for a single text")
        for name in ("instructions", "name", "language"):
            if not isinstance(getattr(self, name), str):
                problems.append(f"{name} must be text, not {getattr(self, name)!r}")
        if isinstance(self.language, str) and not is_code(self.language):
            problems.append(f"language must be a code such as 'en' or 'de-AT', not {self.language!r}: {_KNOWN_CODES}")
        elif isinstance(self.language, str):
            problems += self._language_problems()
        return problems

    def _call_problems(self) -> list[str]:
        """The problems with the arguments `data` and `hooks`, one text for each problem."""
        problems = self.hooks.problems() if isinstance(self.hooks, Hooks) else ["hooks must be Hooks(…)"]
        if isinstance(self.data, type):
            try:
                check_data(self.data)
            except DataNotSavable as problem:
                problems.append(str(problem))
        elif self.data is not None and not callable(self.data):
            problems.append(
                f"data must be a data class, or a function that takes the call's facts, not {type(self.data).__name__}"
            )
        return problems

    def _make_agents(self) -> tuple[Agent, ...]:
        agents = self._given_agents()
        names = [self.name, *(agent.name for agent in agents)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidAgent(f"two agents have the name {twice[0]!r}: rename one")
        other = next((agent for agent in agents if agent.private != self.private), None)
        if other is not None:
            raise InvalidAgent(
                f"private is {other.private} for the agent {other.name!r}, but {self.private} for {self.name!r}: "
                "agents that hand over to each other must all be private, or all not"
            )
        for agent in _with_their_agents(agents):
            _check_same_data(agent, self)
            filled_up(agent, self)  # raises if its language doesn't go together with these ears
        return agents

    def _given_agents(self) -> tuple[Agent, ...]:
        """The argument `agents`, and the agents that were passed to `hand_over_to` for one of the tools."""
        given = tuple(self.agents) if isinstance(self.agents, list | tuple) else (self.agents,)
        for agent in (agent for tool in self.tools if isinstance(tool, HandOverTool) for agent in tool.agents):
            if agent.name not in [getattr(known, "name", "") for known in given]:
                given += (agent,)
        for agent in given:
            if not isinstance(agent, Agent):
                what = type(agent).__name__
                raise InvalidAgent(
                    f'agents must be agents with names, as in agents=(Agent(…, name="billing"),), not {what}'
                )
            if not agent.name:
                raise InvalidAgent('each of the agents needs a name, by which it is found: Agent(…, name="billing")')
        return given

    def make_data(self, info: CallInfo) -> Any:
        """The data for a new call, made with the agent's argument `data`. Raises DataNotSavable if it can't be
        saved."""
        if self.data is None:
            return None
        made = self.data() if isinstance(self.data, type) else self.data(info)
        check_data(type(made))
        data_to_json(made)
        return made

    def _language_problems(self) -> list[str]:
        """Problems with the agent's language: one if the agent would say English texts in another language, and one if
        the ears don't support the language. Ears without the attribute `languages` are assumed to support every
        language."""
        return self._phrase_problems() + self._ears_problems()

    def _phrase_problems(self) -> list[str]:
        """An error if the agent's language has neither built-in phrases nor phrases of the agent: a list with one text,
        otherwise empty."""
        if known_code(self.language) or not isinstance(self.phrases, Phrases):
            return []
        missing = self.phrases.missing_spoken()
        if not missing:
            return []
        return [
            f"language {self.language!r} has no built-in phrases ({_KNOWN_CODES}): choose one of these, or pass your "
            f"own texts in phrases=Phrases(spoken={{…}}) for {', '.join(missing)}"
        ]

    def _ears_problems(self) -> list[str]:
        heard = getattr(self.ears, "languages", None)
        mine = known_code(self.language) or self.language.replace("_", "-").split("-")[0].lower()
        if not isinstance(heard, Collection) or mine in heard:
            return []
        return [
            f"language is {self.language!r}, but {type(self.ears).__name__} hears only {', '.join(sorted(heard))}: use "
            "ears for this language, such as RealtimeModel(…), LocalEars(stt=…) with your own model or your own Ears, "
            f"or set language={sorted(heard)[0]!r}"
        ]

    @property
    def suggested(self) -> tuple[str, ...]:
        """Examples of what a user could say: the agent's `suggestions`. If the agent has none, those of its brain."""
        brain = self.thinker.suggestions if isinstance(self.thinker, Suggests) else ()
        return tuple(self.suggestions or brain)

    @property
    def sources(self) -> tuple[ToolSource, ...]:
        """Those elements of `tools` that are servers. The tools of a server become known only when it is opened."""
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
        if self.speculation == "eager":
            most = max(settings.early_requests_max, SPECULATION["eager"].early_requests_max)
            settings = replace(settings, early_requests_max=most)
        if isinstance(self.phrases, Phrases) and self.phrases.greeting and not settings.greets:
            settings = replace(settings, greets=True)
        if settings.overlap.value not in OVERLAP_RULES:
            raise InvalidAgent(f"the profile has an unknown overlap rule {settings.overlap.value!r}")
        return settings

    def _make_voice(self) -> Voice | None:
        """The voice of the agent. A voice that supports several languages, such as LocalVoice, is set to the agent's
        language."""
        in_language = getattr(self.voice, "in_language", None)
        voice: Voice | None = in_language(self.language) if callable(in_language) else self.voice
        return voice

    def _make_spoken(self) -> SpokenForms:
        if problems := lexicon_problems(self.pronunciations):
            raise InvalidAgent("; ".join(problems))
        language = self.language if isinstance(self.language, str) else "en"
        return SpokenForms(language, self.pronunciations, is_off=not self.spoken_forms)

    def _make_hearing(self) -> HearingPolicy:
        asking = self._make_asking()
        count_words("", self.language)  # reads the phrases of the language now, and not in the first turn
        return HearingPolicy(
            self._make_endpoint(),
            self._make_overlap(),
            self.language,
            early_wait_ms_max=asking.early_wait_ms_max,
            hasty_wait_ms_max=asking.hasty_wait_ms_max,
        )

    def _make_asking(self) -> EarlyAsking:
        """The settings for asking the brain early, chosen by `speculation`. A brain without the attribute `can_guess`
        is never asked early. Raises InvalidAgent for an unknown `speculation`."""
        if self.speculation not in SPECULATION:
            raise InvalidAgent(f"speculation must be one of {', '.join(SPECULATION)}, not {self.speculation!r}")
        return SPECULATION[self.speculation if getattr(self.brain, "can_guess", False) else "off"]

    def _make_overlap(self) -> OverlapPolicy:
        """The overlap policy that the agent was given. If it was given a function that chooses the policy, the result
        is the default policy; PolicyChoice replaces it in each call."""
        default = replace(OVERLAP_RULES[self._make_settings().overlap.value], language=self.language)
        return overlap_policy(self._unless_chosen("overlap", None), default)

    def _make_endpoint(self) -> EndpointPolicy:
        """The endpoint policy that the agent was given. If it was given a function that chooses the policy, the result
        is the default policy; PolicyChoice replaces it in each call."""
        return endpoint_policy(self._unless_chosen("endpoint", "combined"))

    def _unless_chosen(self, part: str, default: Any) -> Any:
        given = getattr(self, part)
        if not is_chooser(part, given):
            return given
        check_chooser(part, given)
        return default

    def phrase(self, ask: Ask, is_greeting: bool, check_in: int) -> str:
        """The fixed text for this request; "" if the brain must be asked. `check_in` is the number of the check-in (a
        question to a silent user), counted from 1."""
        if ask is Ask.GOODBYE:
            return self.says("goodbye", check_in)
        if ask is Ask.CHECK_IN:
            return self.says("check_in", check_in - 1)
        return filled(self.phrases.greeting, {}) if is_greeting else ""

    def says(self, code: str, number: int, **fields: str) -> str:
        """The text that Duologue itself provides for this code (such as "working") in the agent's language. If the text
        is empty, the agent says nothing. `number` chooses between variants of the text. Pass a number that the journal
        contains, such as the number of the reply, so that a replay chooses the same variant."""
        return self.phrases.say(self.language, code, number, **fields)


def filled_up(agent: Agent, first: Agent) -> Agent:
    """The agent, completed: if it has no voice or no ears, a copy that has the voice or the ears of `first`. Raises
    InvalidAgent if the ears of `first` don't hear the language of the agent."""
    voice, ears = agent.voice or first.voice, agent.ears or first.ears
    if (voice, ears) == (agent.voice, agent.ears):
        return agent
    try:
        return replace(agent, voice=voice, ears=ears)
    except InvalidAgent as problem:
        raise InvalidAgent(f"the agent {agent.name!r}: {problem}") from None


def _check_same_data(agent: Agent, first: Agent) -> None:
    """Raise InvalidAgent if `agent` wants data that a call with this first agent doesn't have."""
    if agent.data not in (None, first.data):
        wanted = getattr(agent.data, "__name__", type(agent.data).__name__)
        raise InvalidAgent(
            f"the agent {agent.name!r} has the data {wanted}, but the first agent makes the data that all agents of a "
            "call share: give the first agent the same data, or leave it out here"
        )


def _with_their_agents(agents: Iterable[Agent]) -> Iterator[Agent]:
    for agent in agents:
        yield agent
        yield from _with_their_agents(agent.agents)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A brain that says one fixed text."""

    text: str

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        yield self.text
