"""The page of error lines: each one is provoked here, so the page shows what the product really says.

A case is a mistake that users make, with its cause and its remedy. Rule: no line is typed in; a mistake that no longer
raises an error fails.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

from duologue import Agent, ChatBrain, Conversation, profile, tool
from duologue.core.errors import DuologueError
from duologue.core.leaves import ErrorClass, FaultSource
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.registry import Registry
from duologue.lines.local import LocalLine
from duologue.lines.scripted import ScriptedLine
from duologue.models.cache import ModelMissing
from duologue.nlu.local import LocalNlu
from duologue.observe.fault_hints import hint
from duologue.runtime.find_agent import find_agent
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.phone.settings import PhoneSettings
from duologue.store.store_url import open_store
from duologue.testing import Call, ScriptedBrain
from duologue.testing.scenario import InvalidScenario, play


class Mistake(NamedTuple):
    """Something that goes wrong, and what to do about it."""

    provoke: Callable[[], object]
    cause: str
    fix: str


async def reply(request: Any) -> Any:
    yield f"You said: {request.text}"


def _module(**contents: object) -> ModuleType:
    module = ModuleType("my_agent")
    vars(module).update(contents)
    return module


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """As if these packages were not installed."""
    with patch.dict(sys.modules, dict.fromkeys(names)):
        yield


# -- Agents


def _no_such_module() -> None:
    find_agent("my_agnt:agent")


def _no_attribute_named() -> None:
    find_agent("my_agent")


def _no_such_agent() -> None:
    with patch.dict(sys.modules, {"my_agent": _module(agent=Agent(reply))}):
        find_agent("my_agent:agnet")


def _no_key() -> None:
    with patch.dict(os.environ):
        os.environ.pop("OPENAI_API_KEY", None)
        ChatBrain("gpt-4o-mini")


def _two_tools() -> None:
    def look_up(city: str) -> str:
        return city

    Agent(reply, tools=[look_up, look_up])


def look_up(city):  # type: ignore[no-untyped-def]
    """Without a hint, on purpose."""
    return city


def _tool_without_hints() -> None:
    Agent(reply, tools=[look_up])


def _tool_without_pydantic() -> None:
    with _without("pydantic"):

        @tool
        def look_up(city: str) -> str:
            return city

        Agent(reply, tools=[look_up])


# -- Conversations


async def _started_twice() -> None:
    conversation = Conversation(Agent(reply), ScriptedLine(), seats=Seats())
    async with conversation:
        await conversation.start()


async def _not_started() -> None:
    Conversation(Agent(reply), ScriptedLine(), seats=Seats()).type("hello")


async def _seat_taken() -> None:
    seats = Seats()
    async with Conversation(Agent(reply), ScriptedLine(), seat="alice", seats=seats):
        await Conversation(Agent(reply), ScriptedLine(), seat="alice", seats=seats).start()


# -- Tests


async def _call_in_async_code() -> None:
    Call(reply)


def _nothing_to_interrupt() -> None:
    with Call(ScriptedBrain(["Hi."])) as call:
        call.user("hello").interrupts("wait", after_ms=5_000)


def _scenario_with_a_typo() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "call.yaml")
        file.write_text("name: x\nbrain: [Hello]\ncall:\n  - user: hi\n  - expect_herd: Hello\n", encoding="utf-8")
        try:
            play(file)
        except InvalidScenario as problem:
            raise DuologueError(str(problem).replace(f"{folder}/", "")) from None


# -- Flows

_FLOWS = """version: 1
slots:
  size: {type: text, prompt: Which size}
flows:
  order:
    steps:
      - collect: sise
"""
_ACTION = _FLOWS.replace("collect: sise", "action: send_order")


def _missing_function() -> None:
    FlowBrain(parse_flows(_ACTION), Registry([]), LocalNlu(words_only=True))


# -- Services and servers


def _no_sounddevice() -> None:
    with _without("sounddevice"):
        run_simulated(LocalLine().prime())


SECTIONS: dict[str, tuple[Mistake, ...]] = {
    "Starting an agent": (
        Mistake(
            _no_such_module,
            "this folder has no module with this name",
            "run the command in the folder that contains the agent's file, and write the name without `.py`",
        ),
        Mistake(
            _no_attribute_named,
            "the name of the agent is missing",
            "write `module:attribute`, such as `my_agent:agent`",
        ),
        Mistake(_no_such_agent, "the module has no agent with this name", "use the name that the message proposes"),
        Mistake(
            _no_key,
            "the agent uses an LLM from OpenAI, but no API key is set",
            "run `export OPENAI_API_KEY=…`, or use another server with `ChatBrain(…, base_url=…)`",
        ),
        Mistake(
            lambda: _raise(ModelMissing("silero-vad")),
            "local ears and voices need model files",
            "run the command; this is needed only one time",
        ),
        Mistake(
            lambda: Agent(reply, profile="fast"),
            "there is no profile with this name",
            "use one of the [profiles](options.md#profiles-and-settings)",
        ),
        Mistake(
            lambda: profile("confirm", dead_air=5),
            "there is no setting with this name",
            "use one of the [settings](options.md#profiles-and-settings)",
        ),
        Mistake(
            lambda: profile("confirm", dead_air_ms=2.5),
            "the value has the wrong type",
            "write times as whole milliseconds",
        ),
        Mistake(
            lambda: Agent(reply, endpoint="fast"),
            "there is no endpoint policy with this name",
            "use one of the names in the message; [turn-taking](turn-taking.md#when-is-a-turn-over) explains them",
        ),
        Mistake(_two_tools, "two tools have the same name", "rename one of them: `@tool(name=…)`"),
        Mistake(
            _tool_without_hints,
            "the schema of a tool is made from the type hints of its function",
            "add a type hint to every parameter",
        ),
        Mistake(_tool_without_pydantic, "a function can be a tool only if pydantic is installed", "run the command"),
    ),
    "Conversations": (
        Mistake(
            lambda: run_simulated(_not_started()),
            "a command was sent to a conversation that hasn't started",
            "call `await conversation.start()` first",
        ),
        Mistake(
            lambda: run_simulated(_started_twice()),
            "a `Conversation` is used for only one call",
            "make a new `Conversation` for each call",
        ),
        Mistake(
            lambda: run_simulated(_seat_taken()),
            "a seat (a client) can have only one conversation at a time",
            "end the other conversation, or use another seat",
        ),
    ),
    "Tests": (
        Mistake(
            lambda: run_simulated(_call_in_async_code()),
            "`Call` is used in an async test",
            "write a plain `def test_…(call)`",
        ),
        Mistake(
            _nothing_to_interrupt, "the reply is shorter than `after_ms`", "script a longer reply, or interrupt earlier"
        ),
        Mistake(
            _scenario_with_a_typo, "the scenario file has an unknown step", "use the step that the message proposes"
        ),
    ),
    "Flows": (
        Mistake(
            lambda: parse_flows(_FLOWS, "order.yaml"),
            "the flow uses a name that the file doesn't define",
            "correct the line whose number follows the file name",
        ),
        Mistake(
            _missing_function,
            "the flow file uses a function that isn't in the registry",
            "add the function to `Registry([…])`. The commands take functions from the Python file that has the same "
            "name as the flow file, or from another module with `--actions MODULE`",
        ),
    ),
    "Servers": (
        Mistake(
            lambda: open_store("mysql://db"), "there is no store of this kind", "use one of the kinds in the message"
        ),
        Mistake(
            lambda: PhoneSettings("https://phone.example"),
            "no carrier's secret is set",
            "set `TWILIO_AUTH_TOKEN` or `TELNYX_PUBLIC_KEY`",
        ),
        Mistake(
            lambda: PhoneSettings("http://phone.example", twilio_auth_token="x"),
            "carriers send calls only over TLS",
            "use an address with https, and let a proxy in front of the server handle TLS",
        ),
        Mistake(_no_sounddevice, "the package that reads the microphone isn't installed", "run the command"),
    ),
}

# What a user notices, its cause, what to do about it.
SYMPTOMS: tuple[tuple[str, str, str], ...] = (
    (
        "the page has no microphone",
        "browsers allow a microphone only on https and on localhost",
        "open `http://127.0.0.1:8765`, or put a proxy with TLS in front of the server",
    ),
    (
        "the page has only a text field",
        "the agent has no ears",
        "`Agent(…, ears=LocalEars(), voice=LocalVoice())`",
    ),
    (
        "the agent cuts users off",
        "they pause in the middle of a sentence",
        "use a more patient endpoint policy: `SemanticEndpoint.aiming_at(1010)` ([latency](latency.md))",
    ),
    (
        "the agent waits too long before it answers",
        "the endpoint policy is too patient",
        "use `FixedSilence(400)`; `duologue listen recording.wav` shows why the agent waits",
    ),
    (
        '"mhm" makes the agent pause',
        "the profile `confirm` holds playback until it is clear whether the user interrupts",
        'nothing, if you want this; with `profile="words"`, the agent goes on speaking',
    ),
    (
        "the agent does not stop when I speak",
        'the profile `words` needs two words, or a command such as "stop" in the agent\'s `language`; or the echo gate '
        "takes your voice for an echo of the agent",
        "use the profile `confirm`, a headset, or `LocalEars(cancels_echo=True)` with `duologue[echo]`",
    ),
    (
        "the agent interrupts itself",
        "the microphone picks up the loudspeaker",
        "use a headset, or `pip install 'duologue[echo]'`",
    ),
    (
        "the first message of a flow takes seconds",
        "the NLU is trained on the examples when it is first used",
        "call `FlowBrain.load()` before; `duologue serve` does this at the start",
    ),
    (
        "a warning says that messages are understood by their words alone",
        "the model of the NLU is missing",
        "run `duologue models pull minilm`",
    ),
    (
        "pip says that duologue doesn't provide an extra",
        "the name isn't one of the extras; `tts`, for example, isn't",
        "use one of the extras in the README and in [Dependencies](dependencies.md)",
    ),
    (
        "pip finds no version of duologue for this Python",
        "Python is older than 3.11",
        "use a newer Python: `python3.11 -m venv .venv`, or `make demo PYTHON=python3.11`",
    ),
    (
        "an LLM calls tools again and again",
        "the output of the tool doesn't tell it what happened",
        "let the tool return what happened; after `tool_rounds_max` requests, the LLM gets no tools any more",
    ),
    (
        "the agent says nothing, and there is no error",
        "the brain yielded no text and called no tool",
        'set `logging.getLogger("duologue").setLevel("DEBUG")`, and look at `conversation.engine.failures`',
    ),
)


def errors_page(notice: str) -> str:
    about = "This page lists error messages, each with its cause and what to do about it."
    lines = ["# Troubleshooting", "", notice, "", about, ""]
    for section, mistakes in SECTIONS.items():
        lines += [f"## {section}", ""]
        for mistake in mistakes:
            lines += ["```text", message_of(mistake), "```", "", f"Cause: {mistake.cause}. Fix: {mistake.fix}.", ""]
    lines += [
        "## Shown to the user",
        "",
        "A fault in a conversation is shown in the panel and sent as the signal `Failed`.",
        "These are the texts for a fault of the brain:",
        "",
    ]
    lines += ["| error class | text |", "|---|---|"]
    lines += [f"| `{error.name}` | {hint(FaultSource.BRAIN, error)} |" for error in ErrorClass]
    lines += [
        "",
        "The codes with which a socket is closed are listed in [the protocol](protocol.md#close-codes) and in",
        "[Telephone](phone.md#when-something-is-wrong).",
        "",
    ]
    lines += ["## Without an error line", "", "| what you notice | cause | what to do |", "|---|---|---|"]
    lines += [f"| {' | '.join(symptom)} |" for symptom in SYMPTOMS]
    return "\n".join([*lines, ""])


def message_of(mistake: Mistake) -> str:
    """What the product says: the first paragraph, as a command prints it."""
    try:
        mistake.provoke()
    except Exception as problem:  # noqa: BLE001 - whatever it says is the line
        return str(problem).split("\n\n")[0].strip()
    raise AssertionError(f"no error any more: {mistake.cause}")


def _raise(problem: Exception) -> None:
    raise problem
