"""Whether a server has WebRTC."""

from __future__ import annotations

import importlib.util

import pytest

from duologue.lines.webrtc.ice_servers import IceServers
from duologue.server.settings import InvalidServer, ServerSettings, WebRtcSettings
from duologue.server.webrtc_peers import offered_webrtc, why_no_webrtc


def test_without_aiortc_a_client_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "duologue[webrtc]" in str(why_no_webrtc(WebRtcSettings()))
    assert offered_webrtc(ServerSettings(webrtc=WebRtcSettings(panel=True)), 0) is None


def test_the_panel_uses_webrtc_if_other_machines_reach_the_server() -> None:
    pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
    token = "a token of a server that others reach"
    assert offered_webrtc(ServerSettings(), 0) is None
    assert offered_webrtc(ServerSettings(host="0.0.0.0", token=token), 0) == {"iceServers": []}
    turn = WebRtcSettings(ice_servers=IceServers(("turn:turn.example",), secret="s3cret"))
    offered = offered_webrtc(ServerSettings(public=True, token=token, webrtc=turn), 0)
    assert offered is not None
    assert offered["iceServers"][0]["urls"] == ["turn:turn.example"]


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidServer, match=r"webrtc\.address"):
        WebRtcSettings(address="my-host")
