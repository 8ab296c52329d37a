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
            "there is no such module in this folder",
            "run the command in the folder of the file, and leave `.py` out",
        ),
        Mistake(
            _no_attribute_named,
            "the name of the agent is missing",
            "write `module:attribute`, such as `my_agent:agent`",
        ),
        Mistake(_no_such_agent, "the module has no agent of this name", "use the name that is proposed"),
        Mistake(
            _no_key,
            "an LLM of OpenAI without a key",
            "`export OPENAI_API_KEY=…`, or `ChatBrain(…, base_url=…)` for another server",
        ),
        Mistake(
            lambda: _raise(ModelMissing("silero-vad")),
            "local speech needs model files",
            "run the command; once is enough",
        ),
        Mistake(
            lambda: Agent(reply, profile="fast"),
            "an unknown profile",
            "see [profiles](options.md#profiles-and-settings)",
        ),
        Mistake(
            lambda: profile("confirm", dead_air=5),
            "a setting that doesn't exist",
            "see [settings](options.md#profiles-and-settings)",
        ),
        Mistake(
            lambda: profile("confirm", dead_air_ms=2.5), "a setting of the wrong type", "times are whole milliseconds"
        ),
        Mistake(
            lambda: Agent(reply, endpoint="fast"),
            "an unknown endpoint policy",
            "see [turn-taking](turn-taking.md#when-is-a-turn-over)",
        ),
        Mistake(_two_tools, "two tools have one name", "rename one: `@tool(name=…)`"),
        Mistake(
            _tool_without_hints, "the schema of a tool is made from its hints", "add a type hint to every parameter"
        ),
        Mistake(_tool_without_pydantic, "functions as tools need a package", "run the command"),
    ),
    "Conversations": (
        Mistake(
            lambda: run_simulated(_not_started()), "a command before the start", "`await conversation.start()` first"
        ),
        Mistake(
            lambda: run_simulated(_started_twice()),
            "one `Conversation` is one call",
            "make a new `Conversation` for each call",
        ),
        Mistake(
            lambda: run_simulated(_seat_taken()),
            "a seat (a client) has one conversation at a time",
            "end the other one, or use another seat",
        ),
    ),
    "Tests": (
        Mistake(
            lambda: run_simulated(_call_in_async_code()), "`Call` in an async test", "write a plain `def test_…(call)`"
        ),
        Mistake(
            _nothing_to_interrupt, "the reply is shorter than `after_ms`", "script a longer reply, or interrupt earlier"
        ),
        Mistake(_scenario_with_a_typo, "a scenario file with an unknown step", "use the step that is proposed"),
    ),
    "Flows": (
        Mistake(
            lambda: parse_flows(_FLOWS, "order.yaml"), "a name that isn't in the file", "the line number is in front"
        ),
        Mistake(
            _missing_function,
            "the file names a function that was not given",
            "add it to `Registry([…])`, or to the Python file named like the flows (`--actions MODULE` for another)",
        ),
    ),
    "Servers": (
        Mistake(lambda: open_store("mysql://db"), "an unknown kind of store", "use one of those that are listed"),
        Mistake(
            lambda: PhoneSettings("https://phone.example"),
            "no carrier's secret",
            "set `TWILIO_AUTH_TOKEN` or `TELNYX_PUBLIC_KEY`",
        ),
        Mistake(
            lambda: PhoneSettings("http://phone.example", twilio_auth_token="x"),
            "carriers send calls over TLS only",
            "give the address with https, and end TLS in front of the server",
        ),
        Mistake(_no_sounddevice, "a microphone needs a package", "run the command"),
    ),
}

# What a user notices, its cause, what to do about it.
SYMPTOMS: tuple[tuple[str, str, str], ...] = (
    (
        "the page has no microphone",
        "browsers allow it on https and on localhost only",
        "open `http://127.0.0.1:8765`, or put TLS in front",
    ),
    (
        "the page has only a text field",
        "the agent has no ears",
        "`Agent(…, ears=LocalEars(), voice=LocalVoice())`",
    ),
    (
        "it cuts users off",
        "they pause in the middle of a sentence",
        "a more patient endpoint: `SemanticEndpoint.aiming_at(1010)` ([latency](latency.md))",
    ),
    (
        "it waits too long",
        "the other way round",
        "`FixedSilence(400)`, or look with `duologue listen recording.wav`",
    ),
    (
        '"mhm" makes it pause',
        "profile `confirm` holds playback until it is sure",
        'that is meant; `profile="words"` goes on speaking',
    ),
    (
        "it does not stop when I speak",
        'profile `words` needs two words, or a command of the agent\'s `language` such as "stop"; or the echo gate '
        "takes you for the agent",
        "profile `confirm`; a headset; `LocalEars(cancels_echo=True)` with `duologue[echo]`",
    ),
    (
        "it interrupts itself",
        "the loudspeaker is heard by the microphone",
        "a headset, or `pip install 'duologue[echo]'`",
    ),
    (
        "the first message of a flow takes seconds",
        "the NLU learns its examples",
        "`FlowBrain.load()`; `duologue serve` calls it at the start",
    ),
    (
        "a warning that messages are understood by their words alone",
        "the model of the NLU is missing",
        "`duologue models pull minilm`",
    ),
    (
        "pip says that duologue doesn't provide an extra",
        "a name that isn't an extra, such as `tts`",
        "the extras are listed in the README and in [Dependencies](dependencies.md)",
    ),
    (
        "pip finds no version of duologue for this Python",
        "Python is older than 3.11",
        "`python3.11 -m venv .venv`, or `make demo PYTHON=python3.11`",
    ),
    (
        "an LLM calls tools again and again",
        "after `tool_rounds_max` requests it is asked without tools",
        "look at the outputs of the tool: they must say what happened",
    ),
    (
        "nothing is said, and no error",
        "the brain yielded no text and called no tool",
        '`logging.getLogger("duologue").setLevel("DEBUG")`; `conversation.engine.failures`',
    ),
)


def errors_page(notice: str) -> str:
    lines = ["# Troubleshooting", "", notice, "", "Error lines as they are printed, with cause and fix.", ""]
    for section, mistakes in SECTIONS.items():
        lines += [f"## {section}", ""]
        for mistake in mistakes:
            lines += ["```text", message_of(mistake), "```", "", f"Cause: {mistake.cause}. Fix: {mistake.fix}.", ""]
    lines += [
        "## Shown to the user",
        "",
        "A fault in a conversation is shown in the panel and sent as the signal `Failed`.",
        "",
    ]
    lines += ["| class of the error | text (of the brain, for example) |", "|---|---|"]
    lines += [f"| `{error.name}` | {hint(FaultSource.BRAIN, error)} |" for error in ErrorClass]
    lines += [
        "",
        "Codes with which a socket is closed are in [the protocol](protocol.md#close-codes) and in",
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
