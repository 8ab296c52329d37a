"""`duologue chat module:agent`: a conversation with any agent, by typing.

The agent's brain, tools and phrases are the real ones, and the clock is real. Only ears and voice are left out. Rule:
the terminal shows what the web page would show, and also the traceback of every exception.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.core.leaves import Ending, Link
from duologue.core.settings import with_changes
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports.brain import ShowsForm
from duologue.ports.context import CallInfo, Context
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, AgentSource
from duologue.runtime.conversation import Conversation
from duologue.runtime.snapshot import is_at_rest

from .terminal_style import AMBER, BLUE, GREY, PURPLE, RED
from .terminal_tracebacks import show_tracebacks

READY_ROUNDS = 20  # rounds of the event loop


def in_writing(agent: Agent) -> Agent:
    """The agent without ears and voice, and without check-ins, because a person may type slowly. Raises DuologueError
    for a speech-to-speech model, which can't be used in writing."""
    if hasattr(agent.brain, "listen"):
        name = type(agent.brain).__name__
        raise DuologueError(f"{name} hears and speaks by itself, so it can't chat in writing: use `duologue talk`")
    return replace(agent, ears=None, voice=None, session=None, profile=with_changes(agent.settings, dead_air_ms=0))


async def chat_with(
    given: AgentOrMaker, out: Console, read: Callable[[], Awaitable[str | None]], is_piped: bool = False
) -> None:
    """Chat until the input or the conversation ends. `read` returns the next line of the input, or None at its end.
    Piped input arrives at once. So with `is_piped`, a line may answer a question that was shown only a moment ago."""
    context: Context[Any] = Context(CallInfo(uuid.uuid4().hex, line="text"))
    agent = await AgentSource(given).try_to_make(context)
    silent = in_writing(agent)
    conversation = Conversation(silent, ScriptedLine(), conversation_id=context.conversation, context=context)
    if is_piped:
        hearing = conversation.engine.hearing
        hearing.policy = replace(hearing.policy, question_shown_ms=0)
    show_tracebacks(conversation)
    printer = ChatPrinter(out)
    conversation.on(sg.Signal, printer.show)
    name = agent.name or "the agent"
    out.print(Text(f"{name}: /state shows the state, /quit ends the chat.", GREY))
    async with conversation:
        rest = AtRest(conversation)
        await rest.wait()
        while not rest.is_over and (line := await read()) is not None and line.strip() not in ("/quit", "/exit"):
            if line.strip() == "/state":
                out.print(_state(conversation))
            elif line.strip() and not rest.is_over:
                conversation.type(line)
            await rest.wait()
            _check_data(conversation)
        if rest.is_over:
            out.print(Text("The conversation has ended.", GREY))


def _check_data(conversation: Conversation) -> None:
    """Report data of the call that couldn't be saved. A chat isn't stored, but other calls of the agent will be."""
    if not conversation.agent.private:
        conversation.engine.saved_data.of(conversation.call_context.data)


class AtRest:
    """Waits until the agent owes no answer, or until the conversation has ended or reports a fault. If the agent is
    about to end the conversation, it waits for the end."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._moved = asyncio.Event()
        conversation.engine.watchers.append(lambda _: self._moved.set())

    @property
    def is_over(self) -> bool:
        return self._conversation.machine_state.link in (Link.IDLE, Link.TERMINATING)

    def _holds(self) -> bool:
        state = self._conversation.machine_state
        is_waiting = state.ending is Ending.NO and is_at_rest(self._conversation.engine)
        return self.is_over or state.fault is not None or is_waiting

    async def wait(self) -> None:
        """Wait until no answer is pending. Then let the other tasks run that are ready, because one of them may change
        the conversation after its answer; if it does, wait again."""
        while not self.is_over:
            self._moved.clear()
            if not self._holds():
                await self._moved.wait()
                continue
            for _ in range(READY_ROUNDS):
                await asyncio.sleep(0)
            if not self._moved.is_set():
                return


class ChatPrinter:
    """Prints what the agent says and does."""

    def __init__(self, out: Console) -> None:
        self._out = out

    def show(self, signal: sg.Signal) -> None:
        """Print a signal, if a person should see it."""
        match signal:
            case sg.Caption(role="assistant", final=True) if signal.text:
                self._print("agent", BLUE, signal.text)
            case sg.AgentChanged():
                self._print("now", GREY, signal.name)
            case sg.WorkStarted():
                self._print("tool", PURPLE, f"{signal.tool} …")
            case sg.WorkEnded():
                self._print("tool", PURPLE, f"{signal.tool}: {signal.outcome.value}, {signal.duration_ms} ms")
            case sg.WorkAsked():
                self._print("asks", PURPLE, signal.question)
            case sg.Failed():
                self._print("fault", RED, f"{signal.part.value}: {signal.error.value}. {signal.hint}")
            case sg.Lost():
                self._print("lost", AMBER, " ".join(signal.texts))

    def _print(self, who: str, colour: str, text: str) -> None:
        self._out.print(Text.assemble((f"{who:<7}", colour), text))


def _state(conversation: Conversation) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 7), style=GREY)
    brain = conversation.agent.thinker
    form = brain.form(conversation.id) if isinstance(brain, ShowsForm) else None
    now = conversation.snapshot()
    table.add_row("phase", now.phase)
    table.add_row("turn", str(now.turn))
    for name, value in conversation.metrics._asdict().items():
        if value:
            table.add_row(name, str(value))
    data = conversation.call_context.data
    for field in fields(data) if is_dataclass(data) else ():
        table.add_row(field.name, repr(getattr(data, field.name)))
    if form is not None:
        table.add_row("flow", form.flow)
        for slot in form.slots:
            table.add_row(slot.name, slot.value)
    return table
