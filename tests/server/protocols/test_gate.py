"""One gate for both protocols: addresses count together, refusals have each protocol's form, pages of other origins."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from duologue.fairness.bucket import Rate
from duologue.server.realtime.routes import realtime_routes
from duologue.server.rtvi.routes import rtvi_routes
from tests.limits import WAIT_S
from tests.server.realtime.tone_agent import tone_agent
from tests.server.running_server import RunningServer, serve

TOKEN = "the token of the callers"
SOCKETS = ("/v1/realtime", "/rtvi")


def run(script: Any, **given: Any) -> None:
    async def whole(made: RunningServer) -> None:
        made.server.add_routes([*realtime_routes(made.server), *rtvi_routes(made.server)])
        await script(made)

    serve(whole, tone_agent, **given)


def open_socket(made: RunningServer, path: str, **more: Any) -> Any:
    return connect(f"ws://127.0.0.1:{made.port}{path}", ping_interval=None, proxy=None, **more)


async def refusal_of(made: RunningServer, path: str, **more: Any) -> tuple[int, Any]:
    with pytest.raises(InvalidStatus) as why:
        async with open_socket(made, path, **more):
            pass
    return why.value.response.status_code, json.loads(why.value.response.body)


def test_the_sockets_of_an_address_count_together_whatever_protocol_they_speak() -> None:
    async def script(made: RunningServer) -> None:
        panel = await made.connect()
        async with open_socket(made, SOCKETS[0]):
            status, body = await refusal_of(made, SOCKETS[1])
            assert (status, body) == (429, {"detail": "Your address has too many connections."})
            status, body = await refusal_of(made, SOCKETS[0])
            assert (status, body["error"]["type"]) == (429, "rate_limit_error")
        await panel.socket.close()

    run(script, sockets_per_address_max=2)


@pytest.mark.parametrize("path", SOCKETS)
def test_a_caller_behind_a_trusted_proxy_may_not_connect_too_often(path: str) -> None:
    async def script(made: RunningServer) -> None:
        hop = {"additional_headers": {"X-Forwarded-For": "9.9.9.9"}}
        async with open_socket(made, path, **hop):
            pass
        assert (await refusal_of(made, path, **hop))[0] == 429
        async with open_socket(made, path, additional_headers={"X-Forwarded-For": "9.9.9.8"}):
            pass

    run(script, connections=Rate(1, 600_000, 1), secrets={"trusted_proxies": ("127.0.0.1",)})


@pytest.mark.parametrize("path", SOCKETS)
def test_a_wrong_key_and_a_stopping_server_are_refused(path: str) -> None:
    async def script(made: RunningServer) -> None:
        assert (await refusal_of(made, path))[0] == 401
        own = {"additional_headers": {"Authorization": f"Bearer {TOKEN}"}}
        assert (await refusal_of(made, path, additional_headers={"Authorization": "Bearer wrong"}))[0] == 401
        await made.conversations.drain()
        assert (await refusal_of(made, path, **own))[0] == 503

    run(script, token=TOKEN)


@pytest.mark.parametrize("path", ["/v1/realtime/calls", "/rtvi/offer", "/rtvi/connect", "/rtvi/ice_servers"])
def test_a_page_of_an_allowed_origin_may_send_headers_of_its_client(path: str) -> None:
    async def script(made: RunningServer) -> None:
        def ask(origin: str) -> Any:
            url = f"http://127.0.0.1:{made.port}{path}"
            headers = {"Origin": origin, "Access-Control-Request-Headers": "authorization,x-openai-agents-sdk"}
            request = urllib.request.Request(url, method="OPTIONS", headers=headers)
            return urllib.request.urlopen(request, timeout=WAIT_S)

        answer = await asyncio.to_thread(ask, "https://shop.example")
        assert answer.status == 204
        assert answer.headers["access-control-allow-headers"] == "authorization,x-openai-agents-sdk"
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            await asyncio.to_thread(ask, "https://evil.example")
        assert "access-control-allow-origin" not in refused.value.headers

    run(script, token=TOKEN, origins=("https://shop.example",))
