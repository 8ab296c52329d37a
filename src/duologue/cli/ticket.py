"""`duologue ticket`: makes a ticket with which a caller may connect for a short time.

Rule: the key comes from the environment, so that it is in no list of processes and in no history of commands.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from duologue.core.errors import DuologueError

VARIABLE = "DUOLOGUE_TICKET_KEY"


def ticket_command(
    user: Annotated[str, typer.Option(help="Your own id of the caller, who alone can resume its conversations.")] = "",
    agent: Annotated[str, typer.Option(help="Only for the agent with this name.")] = "",
    origin: Annotated[str, typer.Option(help="Only for pages of this origin, such as https://shop.example.")] = "",
    minutes: Annotated[float, typer.Option(help="How long conversations can be started with it.")] = 10.0,
) -> None:
    """Make a ticket for one caller, signed with the key in DUOLOGUE_TICKET_KEY. Your backend can call
    duologue.make_ticket instead."""
    from duologue.server.tickets import make_ticket

    key = os.environ.get(VARIABLE, "")
    if not key:
        raise DuologueError(f"set {VARIABLE} to the ticket key with which the server was started")
    typer.echo(make_ticket(key, minutes=minutes, user=user, agent=agent, origin=origin))
