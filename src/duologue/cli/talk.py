"""`duologue talk`: talk to an agent with the microphone and loudspeaker of this machine.

Rule: captions are shown during the call. Ctrl-C ends the call.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.observe import signals as sg
from duologue.ports.brain import Part, Request
from duologue.ports.context import CallInfo, Context
from duologue.ports.line import Line
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.agent_source import AgentOrMaker, AgentSource, changed
from duologue.runtime.conversation import Conversation
from duologue.runtime.find_agent import find_agent_or_maker

from .terminal_style import BLUE, GREEN

if TYPE_CHECKING:
    from duologue.ears.local import LocalEars
    from duologue.voice.local import LocalVoice


def talk_command(
    agent: Annotated[
        str, typer.Argument(help="The agent as module:agent. Default: an agent that repeats what it hears.")
    ] = "",
    microphone: Annotated[
        str | None,
        typer.Option(help="The microphone, by name or number; `python -m sounddevice` lists the devices."),
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="The loudspeaker, by name or number.")] = None,
) -> None:
    """Talk to an agent with this machine's microphone and loudspeaker."""
    try:
        from duologue.lines.local import LocalLine
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    given = find_agent_or_maker(agent) if agent else Agent(repeat, phrases=Phrases(greeting="Say something."))
    line = LocalLine(_device(microphone), _device(speaker))
    try:
        asyncio.run(_talk(all_with_speech(given), line))
    except KeyboardInterrupt:
        return


async def repeat(request: Request) -> AsyncIterator[Part]:
    """A brain that repeats what the user said."""
    yield f"You said: {request.text}"


def with_speech(agent: Agent) -> Agent:
    """The agent with ears and a voice. If the agent has no ears, it gets local ears (STT and VAD). If it has no voice,
    it gets a local voice (TTS)."""
    agent = agent if agent.ears is not None else replace(agent, ears=_local_ears())
    return agent if agent.voice is not None else replace(agent, voice=_local_voice())


def all_with_speech(given: AgentOrMaker) -> AgentOrMaker:
    """The agent with ears and a voice. If `given` is a function that makes agents, the result is a function that makes
    agents with ears and a voice. In that case, one agent is made at once, so that its models are loaded now and not
    during a call."""
    if not isinstance(given, Agent):
        with_speech(AgentSource(given).first)
    return changed(given, with_speech)


@cache
def _local_ears() -> LocalEars:
    try:
        from duologue.ears.local import LocalEars
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    ears = LocalEars(final_model="doubt")
    ears.load()
    return ears


@cache
def _local_voice() -> LocalVoice:
    try:
        from duologue.voice.local import LocalVoice
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    return LocalVoice()


def _device(name: str | None) -> str | int | None:
    return int(name) if name is not None and name.isdigit() else name


async def _talk(given: AgentOrMaker, line: Line) -> None:
    out = Console()
    context: Context[Any] = Context(CallInfo(uuid.uuid4().hex, line="microphone"))
    agent = await AgentSource(given).try_to_make(context)
    conversation = Conversation(agent, line, conversation_id=context.conversation, context=context)
    conversation.engine.bus.on(sg.Caption, lambda caption: _show_caption(out, caption))
    await conversation.initialize()
    out.print("Talk. Ctrl-C hangs up.", style="dim")
    await conversation.run()


def _show_caption(out: Console, caption: sg.Caption) -> None:
    if caption.final and caption.text:
        who, colour = ("you", GREEN) if caption.role == "user" else ("agent", BLUE)
        out.print(Text.assemble((f"{who:>6}  ", colour), caption.text, (f" {caption.unheard}".rstrip(), "dim strike")))
