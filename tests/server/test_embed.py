"""Which pages may embed the agent, and what a browser is told: allowed origins, tickets, headers for their files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duologue.server.embed import embed_check, sharing_headers
from duologue.server.settings import ServerSettings
from tests.server.running_server import RunningServer, serve

SHOP = "https://shop.example"
KEY = "a-ticket-key-of-the-shop"


def scope(origin: str = SHOP, host: str = "agent.example") -> dict[str, Any]:
    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    return {"type": "http", "headers": headers, "client": ("127.0.0.1", 1)}


@pytest.mark.parametrize(
    ("settings", "origin", "told"),
    [
        ({"origins": (SHOP,), "ticket_key": KEY}, SHOP, {"allowed": True, "agent": "Ada", "ticket": True}),
        ({"origins": ("*",), "ticket_key": KEY}, SHOP, {"allowed": True, "agent": "Ada", "ticket": True}),
        ({"ticket_key": KEY}, "https://agent.example", {"allowed": True, "agent": "Ada", "ticket": True}),
        ({"ticket_key": KEY}, SHOP, {"allowed": False, "code": "origin"}),
        ({"origins": ("https://other.example",), "ticket_key": KEY}, SHOP, {"allowed": False, "code": "origin"}),
        ({"origins": (SHOP,), "token": "a-token-of-sixteen"}, SHOP, {"allowed": False, "code": "tickets"}),
        ({"origins": (SHOP,)}, SHOP, {"allowed": False, "code": "tickets"}),
        ({"origins": ("http://127.0.0.1:8000",)}, "http://127.0.0.1:8000", {"allowed": True, "ticket": False}),
        ({"origins": ("http://127.0.0.1:8000",), "public": True}, "http://127.0.0.1:8000", {"code": "tickets"}),
    ],
)
def test_a_page_needs_an_allowed_origin_and_tickets(
    settings: dict[str, Any], origin: str, told: dict[str, Any]
) -> None:
    found = embed_check(scope(origin), ServerSettings(**settings), "Ada")
    assert {name: found.get(name) for name in told} == told


def test_a_refusal_says_what_to_change_and_does_not_name_the_agent() -> None:
    found = embed_check(scope(), ServerSettings(ticket_key=KEY), "Ada")
    assert found["message"] == f"pages of {SHOP} may not use this agent: start its server with --origin {SHOP}"
    assert "agent" not in found


def test_files_are_shared_with_the_page_that_asked_and_no_other() -> None:
    assert dict(sharing_headers(scope()))[b"access-control-allow-origin"] == SHOP.encode()
    assert b"access-control-allow-origin" not in dict(sharing_headers(scope("")))


def test_the_servers_answers_to_allowed_and_refused_pages() -> None:
    async def script(running: RunningServer) -> None:
        allowed = await running.get("/page.js", origin=SHOP)
        assert (allowed.status, allowed.headers["access-control-allow-origin"]) == (200, SHOP)
        assert "origin" in allowed.headers["vary"]
        loader = await running.get("/page.js")
        assert (loader.status, loader.headers["cross-origin-resource-policy"]) == (200, "cross-origin")
        refused = await running.get("/page.js", origin="https://other.example")
        assert refused.status == 403
        assert "access-control-allow-origin" not in refused.headers
        told = await running.get("/embed/check", origin="https://other.example")
        assert (told.status, told.headers["access-control-allow-origin"]) == (200, "*")
        assert json.loads(told.body)["allowed"] is False
        for path in ("/", "/metrics", "/conversations/x/journal", "/healthz"):
            other = await running.get(path, origin=SHOP)
            assert "access-control-allow-origin" not in other.headers, path

    serve(script, origins=(SHOP,), secrets={"ticket_key": KEY})
