"""The bench of Opus measures what it says; its numbers are for people, not for tests."""

from __future__ import annotations

import pytest

from duologue.core.errors import DuologueError
from duologue.lab.bench import opus
from duologue.lab.bench.opus import BUDGETS, bench_opus, microphone_packets, output_late_ms, report
from duologue.server.microphone_frames import OpusMicrophone
from tests.needs import needs_model


def test_bytes_cpu_and_waits_are_measured() -> None:
    needs_model("speech-samples")
    result = bench_opus(seconds=1)
    assert 10 < result["output_kbit_s"] < 60
    assert 10 < result["input_kbit_s"] < 60
    assert 384 < result["output_pcm_kbit_s"] < 386
    assert result["input_pcm_kbit_s"] == pytest.approx(256, abs=5)
    parts = [result[f"{part}_ms_per_session_s"] for part in ("encode", "decode", "codec")]
    assert sum(parts[:2]) == pytest.approx(parts[2])
    assert result["input_late_ms"] == 22.5
    assert len(report(result)) == len(BUDGETS) + 4


def test_no_sound_waits_for_more_than_a_packet_and_what_the_encoder_looks_ahead() -> None:
    assert 20 < output_late_ms(bytes(48_000 * 3)) <= 22.5


def test_a_page_sends_packets_that_the_server_reads() -> None:
    frames = OpusMicrophone(16_000)
    assert [frames.ms_of(packet) for packet in microphone_packets(bytes(3_200))] == [20] * 5


def test_without_libopus_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opus, "why_no_opus", lambda: "install libopus")
    with pytest.raises(DuologueError, match="install libopus"):
        bench_opus(1)
