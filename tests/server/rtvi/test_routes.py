"""The request that tells a page where its socket is."""

from __future__ import annotations

import json
from typing import Any

from duologue.server.rtvi.routes import rtvi_routes
from duologue.server.tickets import make_ticket
from tests.server.running_server import RunningServer, serve

TOKEN, KEY = "the token of the callers", "the key of the tickets"


async def ask(made: RunningServer, **headers: str) -> tuple[int, Any, dict[str, str]]:
    answer = await made.get("/rtvi/connect", b"{}", **headers)
    named = {name.lower(): value for name, value in answer.headers.items()}
    return answer.status, json.loads(answer.body), named


def test_a_server_without_secrets_tells_the_address_only() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        status, body, _ = await ask(made)
        assert (status, body) == (200, {"wsUrl": f"ws://127.0.0.1:{made.port}/rtvi"})
        status, body, _ = await ask(made, **{"X-Forwarded-Proto": "https"})
        assert body["wsUrl"].startswith("wss://")

    serve(talk)


def test_the_token_gets_a_key_and_a_ticket_gets_itself() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        status, body, headers = await ask(made, Authorization=f"Bearer {TOKEN}")
        assert status == 200
        assert body["token"].startswith("ek_")
        assert TOKEN not in str(body)
        assert headers["cache-control"] == "no-store"
        ticket = make_ticket(KEY)
        assert (await ask(made, Authorization=f"Bearer {ticket}"))[1]["token"] == ticket
        assert (await ask(made, Authorization=f"Bearer {body['token']}"))[1]["token"] == body["token"]
        assert (await ask(made))[0] == 401
        assert (await ask(made, Authorization="Bearer wrong"))[0] == 401

    serve(talk, token=TOKEN, secrets={"ticket_key": KEY})


def test_a_page_of_an_allowed_origin_may_read_the_answer_and_another_may_not() -> None:
    async def talk(made: RunningServer) -> None:
        made.server.add_routes(rtvi_routes(made.server))
        status, _, headers = await ask(made, Origin="https://shop.example")
        assert (status, headers["access-control-allow-origin"]) == (200, "https://shop.example")
        status, body, headers = await ask(made, Origin="https://evil.example")
        assert (status, "--origin" in body["detail"]) == (403, True)
        assert "access-control-allow-origin" not in headers

    serve(talk, origins=("https://shop.example",))
