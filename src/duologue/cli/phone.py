"""`duologue phone --simulate`: a scripted telephone call to an agent, over a real WebSocket on this machine.

The caller speaks with espeak-ng and in µ-law, the network loses and reorders frames as told, and the agent hears with
its real ears. Rule: the call's course goes to standard output; exit code 1 if it took another one than expected.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.find_agent import find_agent

from .talk import repeat, with_speech
from .terminal_style import BLUE, GREEN, RED, write_ms
from .timeline import timeline_command

if TYPE_CHECKING:
    from duologue.lab.sim.call_script import CallScript
    from duologue.lab.sim.phone_speech import Mouth
    from duologue.lab.sim.scripted_carrier import ScriptedCarrier

END_S_MAX = 10.0


def phone_command(
    simulate: Annotated[Path | None, typer.Option(help="A script of the call, in YAML (docs/phone.md).")] = None,
    carrier: Annotated[str, typer.Option(help="twilio or telnyx; what the script says if left out.")] = "",
    agent: Annotated[str, typer.Option(help="Who answers, as module:agent; one that repeats if left out.")] = "",
    fast: Annotated[bool, typer.Option("--fast", help="On the simulated clock, without a WebSocket.")] = False,
    to: Annotated[
        str, typer.Option(help="Call a server that runs, such as `duologue serve --phone-url` printed.")
    ] = "",
    timeline: Annotated[Path | None, typer.Option(help="Write the call's picture to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object instead.")] = False,
) -> None:
    """Play a scripted telephone call to an agent."""
    if simulate is None:
        raise DuologueError("give --simulate CALL.yaml; a server mounts phone_routes() (docs/phone.md)")
    script = _read(simulate)
    script = replace(script, carrier=carrier or script.carrier, agent=agent or script.agent)
    from duologue.lines.phone.carriers import CARRIERS

    if script.carrier not in CARRIERS:
        raise DuologueError(f"no carrier {script.carrier!r}; there are {', '.join(CARRIERS)}")
    if to:
        _call_elsewhere(script, simulate.parent, to.rstrip("/"), as_json)
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
    """What became of a call."""

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


def _read(file: Path) -> CallScript:
    try:
        import yaml
    except ModuleNotFoundError:
        raise DuologueError("scripts of calls need PyYAML: pip install 'duologue[flows]'") from None
    from duologue.lab.sim.call_script import read_script

    try:
        return read_script(yaml.safe_load(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise DuologueError(f"{file}: {error.strerror}") from None
    except (UnicodeDecodeError, yaml.YAMLError):
        raise DuologueError(f"{file}: not YAML") from None
    except DuologueError as problem:
        raise DuologueError(f"{file}: {problem}") from None


def _play(script: CallScript, here: Path, folder: Path, fast: bool) -> CallOutcome:
    from duologue.lab.sim.phone_speech import Mouth
    from duologue.voice.espeak import EspeakVoice

    found = find_agent(script.agent) if script.agent else _repeating(script)
    answering = with_speech(found)
    mouth = Mouth(EspeakVoice("en-us+f3", 170), here)
    if not fast:
        return asyncio.run(_call(script, answering, mouth, folder))
    from duologue.runtime.simulated_clock import run_simulated

    return run_simulated(_call_fast(script, answering, mouth, folder))


def _repeating(script: CallScript) -> Agent:
    return Agent(repeat, profile="words", phrases=Phrases(greeting=script.greeting))


async def _call(script: CallScript, agent: Agent, mouth: Mouth, folder: Path) -> CallOutcome:
    """In real time, through the server's own routes."""
    from duologue.lines.phone.carriers import CARRIERS

    try:
        from duologue.lab.sim.dial import dial
        from duologue.lab.sim.loopback_server import serving
        from duologue.server.phone.routes import PhoneSettings, phone_routes
    except ModuleNotFoundError as missing:
        raise DuologueError(f"a WebSocket needs {missing.name}: pip install 'duologue[server]'") from None
    found: list[Conversation] = []

    def routes(url: str) -> Any:
        settings = PhoneSettings(url, allow_unsigned=True, journals=folder)
        return phone_routes(lambda: agent, settings, found.append)

    async with (
        serving(routes) as url,
        dial(url, CARRIERS[script.carrier], network=script.network) as carrier,
    ):
        return await _follow(script, carrier, found, mouth, folder)


def _call_elsewhere(script: CallScript, here: Path, url: str, as_json: bool) -> None:
    """The agent is in another process: what it understood is not known here, only what was heard of it."""
    from duologue.lab.sim.call_script import Expect
    from duologue.lab.sim.phone_speech import Mouth
    from duologue.voice.espeak import EspeakVoice

    if any(isinstance(step, Expect) and (step.heard or step.said) for step in script.steps):
        raise DuologueError("`expect: heard` and `said` need the agent in this process: leave them or --to out")
    carrier, problem = asyncio.run(_dial(script, Mouth(EspeakVoice("en-us+f3", 170), here), url))
    told = {"carrier": script.carrier, "result": "failed" if problem else "passed", "problem": problem or None}
    if as_json:
        facts = {**told, "agent_heard_ms": carrier.played_ms, "clears": carrier.clears}
        sys.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    else:
        played = write_ms(carrier.played_ms)
        Console().print(Text(f"  {played} of the agent heard, {carrier.clears} cleared", "dim"))
    if problem:
        raise DuologueError(problem)


async def _dial(script: CallScript, mouth: Mouth, url: str) -> tuple[ScriptedCarrier, str]:
    from duologue.lab.sim.dial import dial
    from duologue.lab.sim.scripted_caller import NotAsExpected, ScriptedCaller
    from duologue.lines.phone.carriers import CARRIERS

    async with dial(url, CARRIERS[script.carrier], network=script.network) as carrier:
        try:
            await ScriptedCaller(carrier, lambda: None, mouth, script.wait_s).play(script)
        except NotAsExpected as different:
            return carrier, str(different)
        finally:
            carrier.hang_up()
        return carrier, ""


async def _call_fast(script: CallScript, agent: Agent, mouth: Mouth, folder: Path) -> CallOutcome:
    """On the simulated clock: the same line and the same carrier, joined without a socket."""
    from duologue.lab.sim.offline_call import OfflineCall
    from duologue.lines.phone.carriers import CARRIERS
    from duologue.lines.phone.digits import Digits

    exchange = OfflineCall(CARRIERS[script.carrier], network=script.network)
    line = await exchange.connect()
    conversation = Conversation(agent, line, journal=folder / "call.jsonl")
    line.pressed = Digits(conversation.type).press
    await conversation.start()
    return await _follow(script, exchange.carrier, [conversation], mouth, folder)


async def _follow(
    script: CallScript, carrier: ScriptedCarrier, found: list[Conversation], mouth: Mouth, folder: Path
) -> CallOutcome:
    from duologue.audio.frames import UnusableAudio
    from duologue.lab.sim.scripted_caller import NotAsExpected, ScriptedCaller

    caller = ScriptedCaller(carrier, lambda: found[0] if found else None, mouth, script.wait_s)
    problem = ""
    try:
        await caller.play(script)
    except (NotAsExpected, UnusableAudio) as different:
        problem = str(different)
    carrier.hang_up()
    if not found:
        raise DuologueError(problem or "the call was over before it began")
    reason = await asyncio.wait_for(found[0].wait(), END_S_MAX)
    journal = next(path for path in folder.glob("*.jsonl") if not path.name.endswith(".words.jsonl"))
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
    told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in facts.items() if count) or "none amiss"
    played = write_ms(outcome.carrier.played_ms)
    console.print(Text(f"\n  {played} of the agent heard, {outcome.carrier.clears} cleared; frames: {told}", "dim"))
    console.print(Text(f"  journal: {outcome.journal}", "dim"), soft_wrap=True)
    if outcome.problem:
        console.print(Text(f"  {outcome.problem}", RED))
