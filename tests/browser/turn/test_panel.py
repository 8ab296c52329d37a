"""The panel through a real TURN server: part of `make interop`, which installs it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect
from tools.interop.turn_relay import SECRET, turn_relay

from duologue.lines.webrtc.ice_servers import IceServers
from duologue.server.settings import WebRtcSettings
from tests.server.realtime.tone_agent import tone_agent

RELAYS_ONLY = """() => {
  window.RTCPeerConnection = class extends RTCPeerConnection {
    constructor(given) {
      super({ ...given, iceTransportPolicy: "relay" });
    }
  };
}"""
KIND = """async () => {
  const stats = [...(await window.duologue.peer.connection.getStats()).values()];
  const find = (id) => stats.find((one) => one.id === id);
  const pair = find(stats.find((one) => one.type === "transport").selectedCandidatePairId);
  return find(pair.localCandidateId).candidateType;
}"""


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


async def test_the_panel_talks_through_a_turn_server(visit: Any) -> None:
    with turn_relay() as url:
        webrtc = WebRtcSettings(panel=True, ice_servers=IceServers((url,), SECRET))
        here = await visit(lambda: tone_agent(hears=["good morning"]), settings={"webrtc": webrtc})
        panel = here.panel
        await panel.page.evaluate(RELAYS_ONLY)
        await panel.start()
        await panel.when("window.duologue.peer.carrier === 'webrtc'")
        assert await panel.page.evaluate(KIND) == "relay"
        await panel.say("Good morning.")
        await panel.when("window.duologue.player.level > 0")  # the page plays it
        await expect(panel.said_by("assistant").filter(has_text="You said good morning.")).to_have_count(1)
        assert await panel.page.evaluate("window.duologue.player.voice") == 0  # nothing came over the socket
