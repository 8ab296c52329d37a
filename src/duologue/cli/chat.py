"""`duologue chat`: a dialogue with the flows of a file, or with any agent, by typing.

`/state` shows the filled slots and the open question. Rule: the dialogue is the same as in a voice conversation.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.dialogue.effects import HandOver, Respond
from duologue.dialogue.flow import Domain
from duologue.dialogue.templates import spoken
from duologue.nlu.understanding import Nlu
from duologue.ports.failure_report import report_failures_to

from .requirements import require_extras, requirements_of_agent
from .terminal_style import BLUE, GREEN, GREY
from .terminal_tracebacks import print_traceback

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from duologue.flows.dialogue_session import DialogueSession, Said


FLOWS = (".yaml", ".yml")
ECHO_MAX = 400  # characters of a piped message that are echoed


def chat_command(
    app: Annotated[str, typer.Argument(help="A flow file (YAML), or an agent as module:agent.")],
    actions: Annotated[
        str | None,
        typer.Option(help="The module with the flows' functions. Default: NAME.py or actions.py next to NAME.yaml."),
    ] = None,
    flow: Annotated[str, typer.Option(help="Start with this flow.")] = "",
    today: Annotated[
        str | None, typer.Option(help="Use this ISO date as today, such as 2026-03-04 or 2026-03-04T17:20.")
    ] = None,
    nlu: Annotated[
        str,
        typer.Option(help="The NLU for messages that no grammar understands: local, words (no model), or llm:MODEL."),
    ] = "local",
    llm_url: Annotated[
        str | None, typer.Option(help="The base URL of a chat-completions server for --nlu llm:MODEL.")
    ] = None,
    show_state: Annotated[bool, typer.Option("--state", help="Show the state after every message.")] = False,
) -> None:
    """Chat with the flows of a file, or with an agent, by typing; /state shows the state, /quit ends the chat."""
    if not app.endswith(FLOWS) and ":" in app:
        _refuse_flow_options(actions=actions, flow=flow, today=today, llm_url=llm_url)
        _run(_chat_with_agent(app))
        return
    require_extras("a flow file", "flows")
    if today is not None:
        _check_date(today)
    logging.basicConfig(format="%(message)s")  # shows warnings
    _run(_chat(Path(app), actions, flow, today, find_nlu(nlu, llm_url), show_state))


def _run(chat: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.run(chat)
    except (KeyboardInterrupt, EOFError):
        return


def _refuse_flow_options(**given: str | None) -> None:
    for name, value in given.items():
        if value:
            raise DuologueError(f"--{name.replace('_', '-')} works only with a flow file, not with an agent")


async def _chat_with_agent(app: str) -> None:
    from duologue.runtime.find_agent import AgentNotFound, find_agent_or_maker

    from .chat_agent import chat_with

    try:
        agent = find_agent_or_maker(app)
    except AgentNotFound as problem:
        if isinstance(problem.__cause__, ImportError):
            require_extras(app, *requirements_of_agent(app).extras)
        if problem.__cause__ is not None:
            print_traceback("import", problem.__cause__)
        raise
    out = Console()
    await chat_with(agent, out, lambda: _read(out), is_piped=not sys.stdin.isatty())


async def _chat(file: Path, actions: str | None, flow: str, today: str | None, nlu: Nlu, show_state: bool) -> None:
    from duologue.flows.caller_clock import now_ms, today_in
    from duologue.flows.dialogue_session import DialogueSession
    from duologue.flows.find_functions import find_functions
    from duologue.flows.load import load_flows

    report_failures_to(print_traceback)
    domain = load_flows(file)
    talk = DialogueSession(
        domain,
        find_functions(file, actions),
        nlu,
        today=(lambda: today) if today else today_in(domain.time_zone),
        now=now_ms,
    )
    out = Console()
    offers = ", ".join(one.description or one.name for one in domain.offered)
    out.print(Text(f"{file.name}: {offers}. /state shows the state, /quit ends the chat.", GREY))
    talk.prepare()
    if flow:
        await _answer(out, talk.start(flow))
    while (line := await _read(out)) is not None:
        if line.strip() in ("/quit", "/exit"):
            return
        if line.strip() == "/state":
            out.print(_state(domain, talk))
            continue
        is_over = await _answer(out, talk.hear(line))
        if show_state:
            out.print(_state(domain, talk))
        if is_over:
            return


def _check_date(text: str) -> None:
    from duologue.dialogue.language.days import today_of

    try:
        today_of(text)
    except ValueError:
        raise DuologueError(f"--today {text!r}: write an ISO date like 2026-03-04 or 2026-03-04T17:20") from None


def find_nlu(name: str, llm_url: str | None = None) -> Nlu:
    """Make the NLU with this name: `local` (with its models), `words` (local, without models) or `llm:MODEL`."""
    if name.startswith("llm:"):
        from duologue.brains.chat.brain import ChatBrain
        from duologue.nlu.llm import LlmNlu

        return LlmNlu(ChatBrain(name.removeprefix("llm:"), base_url=llm_url))
    if name not in ("local", "words"):
        raise DuologueError(f"unknown NLU {name!r}: use local, words or llm:MODEL")
    try:
        from duologue.nlu.local import LocalNlu
    except ModuleNotFoundError as missing:
        raise DuologueError(str(missing)) from None
    return LocalNlu(words_only=name == "words")


async def _read(out: Console) -> str | None:
    """The next line that the user typed, or None at the end of the input. Piped input is echoed, so that the output
    shows the whole dialogue."""
    loop = asyncio.get_running_loop()
    if sys.stdin.isatty():
        return await loop.run_in_executor(None, lambda: out.input(Text("you    ", GREEN)))
    line = await loop.run_in_executor(None, sys.stdin.readline)
    if line:
        shown = "".join(
            sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line[:ECHO_MAX].rstrip("\n")
        )
        out.print(Text.assemble(("you    ", GREEN), shown, "…" if len(line) > ECHO_MAX else ""))
    return line.rstrip("\n") if line else None


def _taken_over(item: HandOver) -> str:
    return f"(a person takes over: {item.reason})" if item.reason else "(a person takes over)"


async def _answer(out: Console, said: AsyncIterator[Said]) -> bool:
    """Print the answer. Returns True if the conversation ends with this answer."""
    is_over = False
    async for item in said:
        text = _taken_over(item) if isinstance(item, HandOver) else item.text
        is_over = isinstance(item, Respond) and item.ends
        out.print(Text.assemble(("agent  ", BLUE), text))
    return is_over


def _state(domain: Domain, talk: DialogueSession) -> Table:
    state = talk.state
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 7), style=GREY)
    table.add_row("state", state.phase.value)
    table.add_row("flow", " > ".join(instance.flow for instance in state.stack) or "none")
    if state.top is not None:
        table.add_row("step", domain.flows[state.top.flow].program[state.top.at].step)
    table.add_row("waiting for", state.waiting_for or "")
    for name, value in state.slots.items():
        table.add_row(name, f"{json.dumps(value)}  {spoken(value)}" if not isinstance(value, str) else value)
    return table
