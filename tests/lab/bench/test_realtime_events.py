"""The bench of events measures what it says; its numbers are for people, not for tests."""

from __future__ import annotations

from duologue.lab.bench.realtime_events import ANSWERED, event_cpu_ms


def test_every_event_gets_its_answer_and_is_measured() -> None:
    result = event_cpu_ms(turns=3)
    assert set(result["by_event_cpu_ms_p50"]) == set(ANSWERED)
    assert all(ms > 0 for ms in result["by_event_cpu_ms_p50"].values())
    assert 0 < result["event_cpu_ms_p50"] <= result["event_cpu_ms_p95"]
    assert result["frame_cpu_ms_p50"] > 0
