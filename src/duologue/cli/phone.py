"""`duologue phone --simulate`: a scripted telephone call to an agent, over a real WebSocket on this machine.

The caller speaks with espeak-ng in µ-law, the network loses and reorders frames as scripted, and the agent hears with
its real ears. Rule: the call is shown on standard output. The exit code is 1 if an expectation of the script isn't met.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.observe.recorder import is_journal
from duologue.ports.context import CallInfo, Context
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.agent_source import AgentOrMaker, AgentSource
from duologue.runtime.conversation import Conversation
from duologue.runtime.find_agent import find_agent_or_maker

from .json_output import JsonOption
from .phone_dial import dial_command
from .phone_story import is_story, story_command
from .talk import all_with_speech, repeat
from .terminal_style import BLUE, GREEN, RED, write_ms
from .timeline import timeline_command

if TYPE_CHECKING:
    from duologue.lab.sim.call_script import CallScript
    from duologue.lab.sim.phone_speech import PhoneSpeech
    from duologue.lab.sim.scripted_carrier import ScriptedCarrier

END_S_MAX = 10.0

phone_app = typer.Typer(help="Play a scripted telephone call to an agent, or let an agent call a number.")
phone_app.command("dial")(dial_command)


@phone_app.callback(invoke_without_command=True)
def phone_command(
    invoked: typer.Context,
    simulate: Annotated[
        Path | None,
        typer.Option(help="The script of a call, or a story with several telephones, in YAML (docs/phone.md)."),
    ] = None,
    carrier: Annotated[
        str,
        typer.Option(help="The carrier to simulate, twilio or telnyx; without it, the carrier that the script names."),
    ] = "",
    agent: Annotated[
        str,
        typer.Option(help="The agent that answers, as module:agent; without it, an agent that repeats what it hears."),
    ] = "",
    fast: Annotated[bool, typer.Option("--fast", help="Use the simulated clock, without a WebSocket.")] = False,
    to: Annotated[
        str, typer.Option(help="Call a running server at this URL, as printed by `duologue serve --phone-url`.")
    ] = "",
    timeline: Annotated[Path | None, typer.Option(help="Write the call's timeline to this HTML file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a scripted telephone call to an agent."""
    if invoked.invoked_subcommand is not None:
        return
    if simulate is None:
        raise DuologueError(
            "--simulate CALL.yaml is missing; for real calls see `duologue phone dial` and docs/phone.md"
        )
    data = _load(simulate)
    if is_story(data):
        if to or timeline is not None:
            raise DuologueError("a story has its own server and timeline: omit --to and --timeline")
        story_command(simulate, data, carrier, agent, as_json)
        return
    script = _read(simulate, data)
    script = replace(script, carrier=carrier or script.carrier, agent=agent or script.agent)
    from duologue.lines.phone.carriers import CARRIERS

    if script.carrier not in CARRIERS:
        raise DuologueError(f"unknown carrier {script.carrier!r}: use one of {', '.join(CARRIERS)}")
    if to:
        _call_running_server(script, simulate.parent, to.rstrip("/"), as_json)
        return
    folder = Path(tempfile.mkdtemp(prefix="duologue-phone-"))
    outcome = _play(script, simulate.parent, folder, fast)
    if as_json:
        sys.stdout.write(json.dumps(outcome.to_json(), indent=2, ensure_ascii=False) + "\n")
    else:
        _show(outcome)
    if timeline is not None:
        timeline_command(outcome.journal, html=timeline)
    if outcome.problem:
        raise typer.Exit(1)


@dataclass
class CallOutcome:
    """The result of a simulated call."""

    script: CallScript
    conversation: Conversation
    carrier: ScriptedCarrier
    steps: int
    problem: str
    reason: str
    journal: Path

    def to_json(self) -> dict[str, Any]:
        return {
            "carrier": self.script.carrier,
            "result": "failed" if self.problem else "passed",
            "problem": self.problem or None,
            "steps": self.steps,
            "ended": self.reason,
            "agent_heard_ms": self.carrier.played_ms,
            "clears": self.carrier.clears,
            "heard": [_item(item) for item in self.conversation.history if isinstance(item, UserSaid | AgentSaid)],
            "line": getattr(self.conversation.engine.line, "facts", {}),
            "journal": str(self.journal),
        }


def _item(item: UserSaid | AgentSaid) -> dict[str, Any]:
    if isinstance(item, UserSaid):
        return {"who": "caller", "text": item.text}
    return {"who": "agent", "text": item.text, "interrupted": item.interrupted}


def _load(file: Path) -> object:
    try:
        import yaml
    except ModuleNotFoundError:
        raise DuologueError("--simulate needs PyYAML: pip install 'duologue[flows]'") from None
    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError):
        raise DuologueError(f"{file}: not valid YAML") from None


def _read(file: Path, data: object) -> CallScript:
    from duologue.lab.sim.call_script import read_script

    try:
        return read_script(data)
    except DuologueError as problem:
        raise DuologueError(f"{file}: {problem}") from None


def _play(script: CallScript, here: Path, folder: Path, fast: bool) -> CallOutcome:
    from duologue.lab.sim.phone_speech import PhoneSpeech
    from duologue.voice.espeak import EspeakVoice

    answering = all_with_speech(find_agent_or_maker(script.agent) if script.agent else _repeating(script))
    # The variant f4 sounds the same in each process; f3 is easier to understand.
    speech = PhoneSpeech(EspeakVoice("en-us+f4" if fast else "en-us+f3", 170), here)
    if not fast:
        return asyncio.run(_call(script, answering, speech, folder))
    from duologue.runtime.simulated_clock import run_simulated

    return run_simulated(_call_fast(script, answering, speech, folder))


def _repeating(script: CallScript) -> Agent:
    return Agent(repeat, profile="words", phrases=Phrases(greeting=script.greeting))


async def _call(script: CallScript, agent: AgentOrMaker, speech: PhoneSpeech, folder: Path) -> CallOutcome:
    """Play the call in real time, through the same HTTP routes that a real server has."""
    from duologue.lines.phone.carriers import CARRIERS

    try:
        from duologue.lab.sim.dial import dial
        from duologue.lab.sim.loopback_server import serving
        from duologue.server.phone.routes import PhoneSettings, phone_routes
    except ModuleNotFoundError as missing:
        raise DuologueError(f"a call over a WebSocket needs {missing.name}: pip install 'duologue[server]'") from None
    found: list[Conversation] = []

    def routes(url: str) -> Any:
        settings = PhoneSettings(url, allow_unsigned=True, journals=folder)
        return phone_routes(agent, settings, found.append)

    async with (
        serving(routes) as url,
        dial(url, CARRIERS[script.carrier], network=script.network) as carrier,
    ):
        return await _follow(script, carrier, found, speech, folder)


def _call_running_server(script: CallScript, here: Path, url: str, as_json: bool) -> None:
    """Call an agent that runs in another process. Only the agent's audio comes to this process, not what the agent
    understood."""
    from duologue.lab.sim.call_script import Expect
    from duologue.lab.sim.phone_speech import PhoneSpeech
    from duologue.voice.espeak import EspeakVoice

    if any(isinstance(step, Expect) and (step.heard or step.said) for step in script.steps):
        raise DuologueError(
            "`expect: heard` and `said` need the agent in this process: remove them from the script, or omit --to"
        )
    carrier, problem = asyncio.run(_dial(script, PhoneSpeech(EspeakVoice("en-us+f3", 170), here), url))
    result = {"carrier": script.carrier, "result": "failed" if problem else "passed", "problem": problem or None}
    if as_json:
        facts = {**result, "agent_heard_ms": carrier.played_ms, "clears": carrier.clears}
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    else:
        played = write_ms(carrier.played_ms)
        Console().print(Text(f"  {played} of the agent's audio heard, cleared {carrier.clears} times", "dim"))
    if problem:
        raise DuologueError(problem)


async def _dial(script: CallScript, speech: PhoneSpeech, url: str) -> tuple[ScriptedCarrier, str]:
    from duologue.lab.sim.dial import dial
    from duologue.lab.sim.scripted_caller import NotAsExpected, ScriptedCaller
    from duologue.lines.phone.carriers import CARRIERS

    async with dial(url, CARRIERS[script.carrier], network=script.network) as carrier:
        try:
            await ScriptedCaller(carrier, lambda: None, speech, script.wait_s).play(script)
        except NotAsExpected as different:
            return carrier, str(different)
        finally:
            carrier.hang_up()
        return carrier, ""


async def _call_fast(script: CallScript, given: AgentOrMaker, speech: PhoneSpeech, folder: Path) -> CallOutcome:
    """Play the call on the simulated clock. The line and the carrier are the same as in real time, but they are
    connected directly instead of by a socket."""
    from duologue.lab.sim.offline_call import OfflineCall
    from duologue.lines.phone.carriers import CARRIERS
    from duologue.lines.phone.digits import Digits

    exchange = OfflineCall(CARRIERS[script.carrier], network=script.network)
    line = await exchange.connect()
    context: Context[Any] = Context(CallInfo(uuid.uuid4().hex, "phone", direction="in"))
    agent = await AgentSource(given).try_to_make(context)
    journal = folder / "call.jsonl"
    conversation = Conversation(agent, line, journal=journal, conversation_id=context.conversation, context=context)
    line.pressed = Digits(conversation.type).press
    await conversation.start()
    return await _follow(script, exchange.carrier, [conversation], speech, folder)


async def _follow(
    script: CallScript, carrier: ScriptedCarrier, found: list[Conversation], speech: PhoneSpeech, folder: Path
) -> CallOutcome:
    from duologue.audio.frames import UnusableAudio
    from duologue.lab.sim.scripted_caller import NotAsExpected, ScriptedCaller

    caller = ScriptedCaller(carrier, lambda: found[0] if found else None, speech, script.wait_s)
    problem = ""
    try:
        await caller.play(script)
    except (NotAsExpected, UnusableAudio) as different:
        problem = str(different)
    carrier.hang_up()
    if not found:
        raise DuologueError(problem or "the call ended before the agent answered")
    reason = await asyncio.wait_for(found[0].wait(), END_S_MAX)
    journal = next(filter(is_journal, folder.iterdir()))
    return CallOutcome(script, found[0], carrier, len(caller.done), problem, reason, journal)


def _show(outcome: CallOutcome) -> None:
    console = Console()
    timeline_command(outcome.journal)
    console.print(Text(f"\n  Heard on {outcome.script.carrier}", "bold"))
    for item in outcome.conversation.history:
        if isinstance(item, UserSaid | AgentSaid):
            who, colour = ("caller", GREEN) if isinstance(item, UserSaid) else ("agent", BLUE)
            cut = isinstance(item, AgentSaid) and item.interrupted
            console.print(Text.assemble((f"  {who:>8}  ", colour), item.text, (" —" if cut else "", "dim")))
    facts = getattr(outcome.conversation.engine.line, "facts", {})
    frames = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in facts.items() if count) or "all in order"
    played, clears = write_ms(outcome.carrier.played_ms), outcome.carrier.clears
    console.print(Text(f"\n  {played} of the agent's audio heard, cleared {clears} times; frames: {frames}", "dim"))
    console.print(Text(f"  journal: {outcome.journal}", "dim"), soft_wrap=True)
    if outcome.problem:
        console.print(Text(f"  {outcome.problem}", RED))
