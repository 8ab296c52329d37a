"""The panel with WebRTC in Chromium: it is chosen, carries both sides, is interrupted, and falls back to the socket."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from duologue.server.settings import WebRtcSettings
from tests.browser.panel_page import until
from tests.server.realtime.tone_agent import tone_agent

ON = WebRtcSettings(panel=True)


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


async def test_a_conversation_over_webrtc_is_interrupted_and_falls_back_to_the_socket(visit: Any) -> None:
    hears = ["good morning", "tell me a story", "stop please now", "tell me a story"]
    here = await visit(lambda: tone_agent(hears=hears), settings={"webrtc": ON})
    panel = here.panel
    await panel.start()
    await panel.when("window.duologue.peer.carrier === 'webrtc'")
    await panel.say("Good morning.")
    await panel.when("window.duologue.player.level > 0")  # the page plays it
    await expect(panel.said_by("assistant").filter(has_text="You said good morning.")).to_have_count(1)
    assert await panel.page.evaluate("window.duologue.player.voice") == 0  # nothing came over the socket
    await panel.say("A story.")
    await panel.when("window.duologue.peer.heard.ms > 1000")
    await panel.say("Stop!")
    await expect(panel.said_by("assistant").filter(has_text="You said stop please now.")).to_have_count(1)
    cut = here.host.said[1].text.split()
    assert 5 <= len(cut) < 40
    # The microphone's packets stop: the sound goes on over the socket, from where it was heard.
    await panel.state("listening")
    await panel.say("A story.")
    await panel.when("window.duologue.peer.heard.ms > 1000")
    await panel.page.evaluate("window.duologue.peer.connection.getSenders()[0].replaceTrack(null)")
    await panel.when("window.duologue.peer.carrier === 'socket'")
    await panel.when("window.duologue.player.samples > 24000")
    await until(lambda: len(here.host.said) == 4 and "word40" in here.host.said[3].text, "the whole story was heard")
    # And it comes back by itself.
    await panel.when("window.duologue.peer.carrier === 'webrtc'")
