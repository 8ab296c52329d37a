"""The request that tells a client its STUN and TURN servers."""

from __future__ import annotations

import json

import pytest

from duologue.lines.webrtc.ice_servers import IceServers
from duologue.server.realtime.routes import realtime_routes
from duologue.server.rtvi.routes import rtvi_routes
from duologue.server.settings import WebRtcSettings
from tests.server.running_server import RunningServer, serve

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
TOKEN = "the token of the callers"
PATHS = ("/v1/realtime/ice_servers", "/rtvi/ice_servers")


def test_a_client_gets_credentials_and_never_the_secret() -> None:
    async def script(made: RunningServer) -> None:
        made.server.add_routes([*realtime_routes(made.server), *rtvi_routes(made.server)])
        for path in PATHS:
            assert (await made.get(path)).status == 401
            answer = await made.get(path, Authorization=f"Bearer {TOKEN}")
            assert answer.headers["cache-control"] == "no-store"
            assert b"the secret" not in answer.body
            (turn,) = json.loads(answer.body)["iceServers"]
            assert turn["urls"] == ["turn:turn.example:3478"]
            assert turn["username"].endswith(":duologue")

    webrtc = WebRtcSettings(ice_servers=IceServers(("turn:turn.example:3478",), secret="the secret of the relay"))
    serve(script, token=TOKEN, secrets={"webrtc": webrtc})


def test_a_server_without_webrtc_has_none() -> None:
    async def script(made: RunningServer) -> None:
        made.server.add_routes(realtime_routes(made.server))
        assert (await made.get(PATHS[0])).status == 501

    serve(script, secrets={"webrtc": WebRtcSettings(enabled=False)})
