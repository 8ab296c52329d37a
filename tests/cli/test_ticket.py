"""`duologue ticket`."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.server.tickets import read_ticket

KEY = "the-key-that-signs-tickets"


def test_a_ticket_is_printed_for_a_user_an_agent_and_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_TICKET_KEY", KEY)
    made = CliRunner().invoke(
        app, ["ticket", "--user", "anna", "--agent", "Flight desk", "--origin", "https://shop.example"]
    )
    ticket = read_ticket(KEY, made.stdout.strip())
    assert ticket is not None
    assert (ticket.user, ticket.agent, ticket.origin) == ("anna", "Flight desk", "https://shop.example")


def test_without_a_key_the_command_says_which_variable_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUOLOGUE_TICKET_KEY", raising=False)
    made = CliRunner().invoke(app, ["ticket"])
    assert isinstance(made.exception, DuologueError)
    assert "DUOLOGUE_TICKET_KEY" in str(made.exception)
