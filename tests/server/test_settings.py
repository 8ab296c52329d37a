"""The settings of a server: limits, and a token where other machines can connect."""

from __future__ import annotations

import re

import pytest

from duologue.server.app import Server
from duologue.server.settings import InvalidServer, Limits, ServerSettings, is_loopback
from tests.server.running_server import agent_that_says


def test_a_server_that_other_machines_can_reach_always_has_a_token() -> None:
    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        assert len(Server(agent_that_says(), ServerSettings(host=host)).settings.token) >= 32
    assert len(Server(agent_that_says(), ServerSettings(public=True)).settings.token) >= 32, "reached by a tunnel"
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert not Server(agent_that_says(), ServerSettings(host=host)).settings.token


@pytest.mark.parametrize("limit", ["conversations_max", "hello_s_max", "drain_s_max"])
def test_a_limit_of_nothing_is_refused_by_its_name(limit: str) -> None:
    with pytest.raises(InvalidServer, match=f"limit {limit} must be above 0"):
        Limits(**{limit: 0})


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_that_cannot_exist_is_refused(port: int) -> None:
    with pytest.raises(InvalidServer, match="from 0 to 65535"):
        ServerSettings(port=port)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("a.b", False),
    ],
)
def test_only_names_and_addresses_of_this_machine_are_loopback(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local


@pytest.mark.parametrize("name", ["token", "operator_token", "ticket_key"])
def test_a_secret_of_less_than_16_characters_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(InvalidServer, match=f"{name} has 15 characters and must have at least 16") as refused:
        ServerSettings(**{name: "x" * 14 + "q"})
    assert "q`" not in str(refused.value)
    assert "xq" not in str(refused.value)
    assert getattr(ServerSettings(**{name: "x" * 16}), name)


def test_one_secret_for_two_purposes_is_refused() -> None:
    with pytest.raises(InvalidServer, match="must differ"):
        ServerSettings(token="x" * 16, operator_token="x" * 16)


def test_settings_show_no_secrets() -> None:
    shown = repr(ServerSettings(token="x" * 16, operator_token="y" * 16, ticket_key="z" * 16))
    assert not re.search("x{16}|y{16}|z{16}", shown)


def test_a_server_with_a_ticket_key_needs_no_token() -> None:
    settings = ServerSettings(host="0.0.0.0", ticket_key="z" * 16).guarded()
    assert settings.token == ""
    assert settings.needs_ticket


def test_a_token_that_is_given_stays() -> None:
    assert ServerSettings(host="0.0.0.0", token="own" * 6).guarded().token == "own" * 6
    assert ServerSettings().guarded().token == ""


def test_a_server_that_shows_tracebacks_is_refused_on_an_address_of_others() -> None:
    with pytest.raises(InvalidServer, match=r"dev shows tracebacks, so host must be 127\.0\.0\.1"):
        ServerSettings(host="0.0.0.0", dev=True)


def test_opus_is_used_where_other_machines_reach_the_server_unless_said_otherwise() -> None:
    assert not ServerSettings().wants_opus
    assert ServerSettings(host="0.0.0.0").wants_opus
    assert ServerSettings(public=True).wants_opus
    assert ServerSettings(opus=True).wants_opus
    assert not ServerSettings(host="0.0.0.0", opus=False).wants_opus
