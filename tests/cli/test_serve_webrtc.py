"""The options for WebRTC."""

from __future__ import annotations

import pytest

from duologue.cli.serve_webrtc import webrtc_settings
from duologue.lines.webrtc.ice_servers import InvalidIceServer
from duologue.server.settings import InvalidServer


def test_servers_come_from_options_and_secrets_from_the_environment() -> None:
    made = webrtc_settings(True, ["turn:turn.example:3478"], "198.51.100.7", {"DUOLOGUE_TURN_SECRET": "s3cret"})
    assert made.ice_servers.urls == ("turn:turn.example:3478",)
    assert made.ice_servers.secret == "s3cret"
    assert made.address == "198.51.100.7"
    assert not webrtc_settings(False, None, "", {}).enabled


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(InvalidIceServer, match="DUOLOGUE_TURN_SECRET"):
        webrtc_settings(True, ["turn:turn.example"], "", {})
    with pytest.raises(InvalidServer, match="IP address"):
        webrtc_settings(True, None, "host", {})
