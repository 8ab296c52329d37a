"""Who a client is: callers, operators and clients of this machine, by what they present and where they come from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duologue.server.credentials import Admission, admit, is_local_operator, is_own_page, may_operate
from duologue.server.settings import ServerSettings
from duologue.server.tickets import make_ticket

TOKEN = "the-callers-own-token"
OPERATORS = "the-operators-own-token"
KEY = "the-key-that-signs-tickets"
OPEN = ServerSettings()
GUARDED = ServerSettings(host="0.0.0.0", token=TOKEN)
TICKETS = ServerSettings(host="0.0.0.0", ticket_key=KEY, operator_token=OPERATORS)
NOW_S = 1_000_000.0


def scope(
    client: str = "127.0.0.1", host: str | None = "127.0.0.1:8765", kind: str = "websocket", **more: str | None
) -> dict[str, Any]:
    headers = {"host": host, **{name.replace("_", "-"): value for name, value in more.items()}}
    pairs = [(k.encode(), v.encode("latin-1")) for k, v in headers.items() if v is not None]
    return {"type": kind, "client": (client, 4711), "server": ("127.0.0.1", 8765), "headers": pairs}


def ticket(**more: Any) -> str:
    return make_ticket(KEY, now_s=NOW_S, **more)


def admitted(presented: str, settings: ServerSettings, asks: dict[str, Any] | None = None) -> Admission | None:
    return admit(presented, asks or scope(), settings, "Flight desk", NOW_S)


# -- Three credentials


def test_a_callers_token_starts_conversations_and_watches_nothing() -> None:
    assert admitted(TOKEN, GUARDED) == Admission(may_start=True, may_operate=False)
    assert not may_operate(TOKEN, scope(), GUARDED)
    assert admitted(TOKEN, replace(GUARDED, operator_token=OPERATORS)) == Admission(may_start=True, may_operate=False)


def test_the_operators_token_watches() -> None:
    settings = replace(GUARDED, operator_token=OPERATORS)
    assert admitted(OPERATORS, settings) == Admission(may_operate=True)
    assert may_operate(OPERATORS, scope("192.0.2.7", host="voice.example"), settings)
    assert not may_operate("", scope(), settings)
    assert not may_operate(OPERATORS + "x", scope(), settings)
    assert admitted(OPERATORS, replace(settings, watchable=False)) == Admission(may_operate=False)


@pytest.mark.parametrize("wrong", ["", "wrong", TOKEN[:-1], TOKEN + "x", OPERATORS, "ä", "\ud800"])
def test_a_wrong_token_admits_nobody(wrong: str) -> None:
    assert admitted(wrong, GUARDED) is None


def test_a_ticket_names_the_user_and_starts_until_it_is_over() -> None:
    assert admitted(ticket(user="anna"), TICKETS) == Admission(user="anna")
    late = admit(ticket(user="anna", minutes=5), scope(), TICKETS, "Flight desk", NOW_S + 300)
    assert late == Admission(may_start=False, user="anna"), "it may still resume its own conversation"


def test_a_ticket_for_another_agent_or_page_admits_nobody() -> None:
    assert admitted(ticket(agent="Flight desk"), TICKETS) is not None
    assert admitted(ticket(agent="Pizza"), TICKETS) is None
    shop = scope(origin="https://shop.example")
    assert admitted(ticket(origin="https://shop.example"), TICKETS, shop) is not None
    assert admitted(ticket(origin="https://other.example"), TICKETS, shop) is None
    assert admitted(ticket(origin="https://shop.example"), TICKETS, scope()) is None


def test_a_ticket_of_another_key_admits_nobody() -> None:
    assert admitted(make_ticket("another-key-of-16-or-more", now_s=NOW_S), TICKETS) is None
    assert admitted(ticket(), GUARDED) is None


# -- Operators without a token


@pytest.mark.parametrize(
    ("settings", "asks", "may"),
    [
        (OPEN, scope(), True),
        (OPEN, scope(origin="http://127.0.0.1:8765"), True),
        (OPEN, scope("::1", host="[::1]:8765"), True),
        (OPEN, scope("192.0.2.7"), False),
        (OPEN, scope(host="voice.example"), False),
        (OPEN, scope(host="localhost"), False),  # another port: a proxy
        (OPEN, scope(host=None), False),
        (OPEN, scope(origin="https://voice.example"), False),
        (OPEN, scope(origin="http://[broken"), False),
        (OPEN, scope(x_forwarded_for="192.0.2.7"), False),
        (OPEN, scope(x_forwarded_proto="https"), False),
        (OPEN, scope(via="1.1 proxy"), False),
        (OPEN, scope(cf_ray="8f"), False),
        (replace(OPEN, token=TOKEN), scope(), False),
        (replace(OPEN, ticket_key=KEY), scope(), False),
        (replace(OPEN, public=True), scope(), False),
        (replace(OPEN, origins=("https://voice.example",)), scope(), False),
        (replace(OPEN, origins=("*",)), scope(), False),
        (replace(OPEN, origins=("http://localhost:3000",)), scope(), True),
        (replace(OPEN, operator_token=OPERATORS), scope(), False),
        (replace(OPEN, watchable=False), scope(), False),
    ],
)
def test_without_an_operators_token_only_this_very_machine_may_watch(
    settings: ServerSettings, asks: dict[str, Any], may: bool
) -> None:
    assert is_local_operator(asks, settings) is may
    if settings.needs_ticket:
        assert admitted("", settings, asks) is None
    else:
        assert admitted("", settings, asks) == Admission(may_operate=may)


def test_metrics_can_be_read_on_this_machine_even_if_calls_may_not_be_watched() -> None:
    assert may_operate("", scope(), replace(OPEN, watchable=False))


# -- Host and Origin


@pytest.mark.parametrize(
    ("origin", "host", "is_own"),
    [
        (None, "127.0.0.1:8765", True),
        ("http://127.0.0.1:8765", "127.0.0.1:8765", True),
        ("http://localhost:8765", "localhost:8765", True),
        ("http://[::1]:8765", "[::1]:8765", True),
        ("http://127.0.0.1:9999", "127.0.0.1:8765", False),
        ("https://evil.example", "127.0.0.1:8765", False),
        ("http://evil.example:8765", "evil.example:8765", False),  # a name that was made to point here
        ("http://127.0.0.1.evil.example:8765", "127.0.0.1.evil.example:8765", False),
        ("null", "127.0.0.1:8765", False),
        ("null", None, False),
        ("", "127.0.0.1:8765", False),
        ("", "", False),
        ("http://[", "[", False),
        ("file://", "127.0.0.1:8765", False),
        ("http://user@127.0.0.1:8765", "127.0.0.1:8765", False),
        ("https://app.example", "127.0.0.1:8765", True),
    ],
)
@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_a_page_may_connect_only_to_its_own_server(
    origin: str | None, host: str | None, is_own: bool, kind: str
) -> None:
    settings = ServerSettings(origins=("https://app.example",))
    assert is_own_page(scope(host=host, origin=origin, kind=kind), settings) is is_own


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("127.0.0.1:8765", True), ("localhost", True), ("evil.example:8765", False), (None, False), ("app.example", True)],
)
def test_a_plain_request_without_an_origin_must_name_this_server(host: str | None, is_own: bool) -> None:
    settings = ServerSettings(origins=("https://app.example",))
    assert is_own_page(scope(host=host, kind="http"), settings) is is_own
    assert is_own_page(scope(host=host, kind="websocket"), settings), "a program's socket sends no origin"


def test_a_server_with_a_token_accepts_its_own_pages_under_any_host_name() -> None:
    assert is_own_page(scope(origin="https://voice.example", host="voice.example"), GUARDED)
    assert not is_own_page(scope(origin="https://other.example", host="voice.example"), GUARDED)
    anywhere = ServerSettings(origins=("*",))
    assert is_own_page(scope(origin="https://other.example", host="voice.example"), anywhere)
