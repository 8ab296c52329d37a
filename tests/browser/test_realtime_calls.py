"""A page calls the Realtime server over WebRTC with the browser's own RTCPeerConnection and `fetch`."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.server.realtime.routes import realtime_routes
from tests.server.realtime.tone_agent import tone_agent

CALL = """async () => {
  const told = [];
  const connection = new RTCPeerConnection();
  const { stream } = window.duologue.microphone;
  for (const track of stream.getAudioTracks()) connection.addTrack(track, stream);
  connection.ontrack = ({ streams, receiver }) => {
    window.called = { told, connection, receiver };
    const audio = new Audio();
    audio.srcObject = streams[0];
    audio.play();
  };
  const channel = connection.createDataChannel("oai-events");
  channel.onmessage = ({ data }) => told.push(JSON.parse(data));
  await connection.setLocalDescription();
  const answer = await fetch("/v1/realtime/calls", {
    method: "POST",
    headers: { "Content-Type": "application/sdp" },
    body: connection.localDescription.sdp,
  });
  if (answer.status !== 201) throw new Error(await answer.text());
  await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  return answer.headers.get("location");
}"""
TOLD = "window.called?.told.some((event) => event.type === '%s')"


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


async def test_a_page_talks_to_the_realtime_server_over_webrtc(visit: Any) -> None:
    here = await visit(lambda: tone_agent(hears=["good morning"] * 4))
    here.host.server.add_routes(realtime_routes(here.host.server))
    panel = here.panel
    await panel.page.evaluate("window.duologue.microphone.open()")
    location = await panel.page.evaluate(CALL)
    assert location.startswith("/v1/realtime/calls/rtc_")
    await panel.when(TOLD % "session.created")
    await panel.say("Good morning.")
    await panel.when(TOLD % "output_audio_buffer.stopped")
    words = await panel.page.evaluate(
        "window.called.told.filter(({ type }) => type === 'response.output_audio_transcript.done')[0].transcript"
    )
    assert words == "You said good morning."
    await panel.page.evaluate("window.called.connection.close()")
