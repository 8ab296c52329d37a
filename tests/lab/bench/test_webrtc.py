"""The bench of WebRTC measures what it says; its numbers are for people, not for tests."""

from __future__ import annotations

import pytest

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")

from duologue.lab.bench.webrtc import BUDGETS, bench_webrtc, encoded, over_network, report
from tests.lines.webrtc.aiortc_client import loudest_hz, tone


@pytest.mark.alone
def test_sessions_are_measured_with_real_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    result = bench_webrtc(sessions=2, seconds=1)
    assert 0.7 < result["client_sound_share"] < 1.4  # both clients were heard
    parts = [result[f"{part}_ms_per_session_s"] for part in ("encode", "decode", "packets", "cpu")]
    assert sum(parts[:3]) == pytest.approx(parts[3])
    assert all(budget.key in result for budget in BUDGETS)
    assert len(report(result)) > len(BUDGETS) + 5


def test_a_tone_is_heard_over_a_network_that_loses_and_delays_packets() -> None:
    packets = encoded(tone(4_000, 440, 24_000), 0.1)
    whole, numbers = over_network(packets, 0.0, 0)
    assert (len(whole) // 32, numbers["heard_share"], numbers["concealed_share"]) == (4_000, 1.0, 0.0)
    pcm, numbers = over_network(packets, 0.1, 80)
    assert abs(len(pcm) // 32 - 4_000) <= 100  # time doesn't shrink
    assert numbers["heard_share"] > 0.95
    assert abs(loudest_hz(pcm, 16_000) - 440) < 5
