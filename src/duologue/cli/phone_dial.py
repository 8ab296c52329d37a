"""`duologue phone dial`: lets an agent call a telephone number, through a carrier.

The command serves the carrier's webhooks and the call's stream until the call is over. Rule: each change in the state
of the call is one line on standard output. The exit code is 1 if the agent has neither talked to a person nor left a
message.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.conversation import Conversation
from duologue.runtime.find_agent import find_agent_or_maker

from .requirements import not_installed
from .served_agent import phone_account
from .talk import all_with_speech
from .terminal_style import BLUE, GREEN, write_ms

if TYPE_CHECKING:
    from duologue.lines.phone.call.state import CallEnd
    from duologue.server.phone.settings import PhoneSettings


def dial_command(
    to: Annotated[str, typer.Option(help="The number to call, with country code: +4930123456, or a SIP address.")],
    agent: Annotated[str, typer.Option(help="The agent that talks, as module:agent.")],
    url: Annotated[
        str, typer.Option(help="The public URL at which the carrier reaches this command.", envvar="PHONE_URL")
    ],
    carrier: Annotated[str, typer.Option(help="twilio or telnyx; without it, the carrier whose secrets are set.")] = "",
    message: Annotated[str, typer.Option(help="What is said to an answering machine after its beep.")] = "",
    on_machine: Annotated[
        str,
        typer.Option(help="What to do if an answering machine or a telephone menu answers: message, hang_up or talk."),
    ] = "",
    carrier_amd: Annotated[
        bool, typer.Option("--carrier-amd", help="Let the carrier detect answering machines too; it charges for that.")
    ] = False,
    ring_s: Annotated[float, typer.Option(help="Seconds that the telephone may ring.")] = 30.0,
    parameter: Annotated[
        list[str] | None, typer.Option(help="A fact for the agent's context, as NAME=VALUE; repeatable.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.")] = 8765,
    journals: Annotated[Path | None, typer.Option(help="Write the call's journal to this folder.")] = None,
) -> None:
    """Call a number and let an agent talk. Needs the carrier's secrets in the environment (docs/phone.md)."""
    try:
        from duologue.lines.phone.call.state import CallEnd, OnMachine
        from duologue.server.phone.routes import PhoneSettings
    except ModuleNotFoundError:
        raise not_installed("the telephone", "phone") from None
    wanted = on_machine or ("message" if message else "talk")
    if wanted not in {kind.value for kind in OnMachine}:
        raise DuologueError(f"--on-machine must be message, hang_up or talk, not {wanted!r}")
    if wanted == "message" and not message:
        raise DuologueError("--on-machine message needs --message, the words for the answering machine")
    settings = PhoneSettings(
        public_url=url,
        twilio_auth_token=os.environ.get("TWILIO_AUTH_TOKEN", ""),
        telnyx_public_key=os.environ.get("TELNYX_PUBLIC_KEY", ""),
        journals=journals,
        ring_ms=round(ring_s * 1000),
        carrier_amd=carrier_amd,
        api_url=os.environ.get("PHONE_API_URL", ""),
        **phone_account(),
    )
    options = {"carrier": carrier, "machine_message": message, "on_machine": OnMachine(wanted)}
    options["parameters"] = read_parameters(parameter or [])
    outcome = asyncio.run(_call(to, agent, settings, host, port, options))
    if outcome not in (CallEnd.COMPLETED, CallEnd.TRANSFERRED, CallEnd.MESSAGE_LEFT):
        raise typer.Exit(1)


def read_parameters(given: list[str]) -> dict[str, str]:
    """The facts about the call, read from texts of the form NAME=VALUE. Raises DuologueError if a text doesn't have
    this form."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise DuologueError(f"--parameter must be NAME=VALUE, not {text!r}")
        found[name.strip()] = value
    return found


async def _call(to: str, agent: str, settings: PhoneSettings, host: str, port: int, options: dict[str, Any]) -> CallEnd:
    import uvicorn
    from starlette.applications import Starlette

    from duologue.server.phone.exchange import PhoneExchange
    from duologue.server.phone.routes import phone_routes

    talking = all_with_speech(find_agent_or_maker(agent))
    found: list[Conversation] = []
    exchange = PhoneExchange(settings)
    routes = phone_routes(talking, settings, found.append, exchange=exchange)
    config = uvicorn.Config(
        Starlette(routes=routes), host, port, log_config=None, lifespan="off", ws_per_message_deflate=False
    )
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve())
    try:
        while not server.started:
            if serving.done():
                raise DuologueError(f"can't listen on {host}:{port}: choose another --host or --port")
            await asyncio.sleep(0.01)
        return await _follow(exchange.dial(to, **options), found)
    finally:
        server.should_exit = True
        await asyncio.wait((serving,), timeout=5)


async def _follow(call: Any, found: list[Conversation]) -> CallEnd:
    console, began = Console(), call.now()

    def show(_: Any, state: Any) -> None:
        console.print(Text(f"  {write_ms(call.now() - began):>9}  {state.stage.value}"))

    call.watch = show
    outcome: CallEnd = await call.over
    for conversation in found:
        await asyncio.wait((asyncio.ensure_future(conversation.wait()),), timeout=5)
        for item in conversation.history:
            if isinstance(item, UserSaid | AgentSaid):
                who, colour = ("person", GREEN) if isinstance(item, UserSaid) else ("agent", BLUE)
                console.print(Text.assemble((f"  {who:>9}  ", colour), item.text))
    console.print(Text(f"  {outcome.value}{f': {call.problem}' if call.problem else ''}", "bold"), soft_wrap=True)
    return outcome
