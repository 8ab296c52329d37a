"""`duologue ticket`: makes a ticket with which a caller may connect for a short time.

Rule: the key comes from the environment, so that it doesn't appear in the list of processes or in the history of the
shell.
"""

from __future__ import annotations

import os
from typing import Annotated

import typer

from duologue.core.errors import DuologueError

VARIABLE = "DUOLOGUE_TICKET_KEY"


def ticket_command(
    user: Annotated[
        str, typer.Option(help="Your own id of the caller; other callers can't resume these conversations.")
    ] = "",
    agent: Annotated[str, typer.Option(help="Valid only for the agent with this name.")] = "",
    origin: Annotated[
        str, typer.Option(help="Valid only for pages of this origin, such as https://shop.example.")
    ] = "",
    minutes: Annotated[float, typer.Option(help="For how many minutes the ticket can start conversations.")] = 10.0,
) -> None:
    """Make a ticket for one caller, signed with the key in DUOLOGUE_TICKET_KEY. Your backend can call
    duologue.make_ticket instead."""
    from duologue.server.tickets import make_ticket

    key = os.environ.get(VARIABLE, "")
    if not key:
        raise DuologueError(f"set {VARIABLE} to the ticket key with which the server was started")
    typer.echo(make_ticket(key, minutes=minutes, user=user, agent=agent, origin=origin))
