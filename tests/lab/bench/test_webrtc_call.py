"""A whole spoken call over a network that loses and delays packets, with real speech and the local STT."""

from __future__ import annotations

import pytest

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")

from duologue.core.errors import DuologueError
from duologue.lab.bench import webrtc_call
from duologue.lab.bench.webrtc_call import STORY, TURNS, CallTurn, PlayedWebRtcCall, play_call
from duologue.lab.sim.lossy_network import LossyNetwork
from tests.needs import needs_model
from tests.server.realtime.tone_agent import tone_agent


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])


@pytest.mark.req("L-24")
def test_a_spoken_call_over_a_network_with_loss_and_jitter_is_understood_and_never_stuck() -> None:
    for model in ("silero-vad", "smart-turn", "moonshine-tiny", "moonshine-base", "svox-pico"):
        needs_model(model)
    played = play_call(LossyNetwork(loss=0.10, jitter_ms=80))
    assert played.network.sound_lost > 0.07 * played.network.sound_packets
    assert len(played.answers) == len(TURNS)
    assert played.word_error_share() < 1 / 3, played.understood  # 8 to 17 % were measured, of 48 words
    story = played.answers[1]
    assert STORY.startswith(story)
    assert 0 < len(story) < len(STORY), "it was interrupted"
    assert played.heard_ms >= webrtc_call.CUT_MS
    assert 0.02 < played.concealed_share < 0.25


def test_a_call_that_gets_stuck_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_model("svox-pico")
    monkeypatch.setattr(webrtc_call, "CALL_S_MAX", 20.0)
    with pytest.raises(DuologueError, match="got stuck after 0 answers"):
        play_call(LossyNetwork(loss=1.0), tone_agent, (CallTurn("Hello."),))


def test_words_are_counted_over_all_turns() -> None:
    turns = (CallTurn("One two three."), CallTurn("Four."))
    assert PlayedWebRtcCall(LossyNetwork(), understood=["one two", "four"]).word_error_share(turns) == 0.25
