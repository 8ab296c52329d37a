"""What the measurement of echo counts, and the people in it."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.lab.bench.echo import RATE_HZ, phrases_of, recorded_people, report, row_of
from duologue.lab.sim.echo_calls import NO_ECHO_DB, EchoCall
from tests.needs import needs_model


def sound(ms: int, level: float) -> Samples:
    return np.random.default_rng(1).normal(0, level, ms * RATE_HZ // 1000).astype(np.float32)


def test_a_recording_is_cut_at_its_pauses() -> None:
    pieces = [sound(2_000, 0.1), sound(400, 0.0001), sound(1_500, 0.1), sound(60, 0.0001), sound(1_000, 0.1)]
    found = phrases_of(np.concatenate(pieces))
    assert [piece.size * 1000 // RATE_HZ for piece in found] == [2_000, 2_560]


def test_very_short_and_long_phrases_are_left_out() -> None:
    pieces = [sound(300, 0.1), sound(400, 0.0001), sound(9_000, 0.1), sound(400, 0.0001)]
    assert phrases_of(np.concatenate(pieces)) == []
    assert phrases_of(np.empty(0, np.float32)) == []


def test_people_read_aloud() -> None:
    needs_model("speech-samples")
    assert len(recorded_people()) >= 5


@pytest.mark.req("H-12")
def test_the_report_has_a_row_for_each_echo() -> None:
    alone = EchoCall(-12, 60, self_interruptions=1, self_answers=["hello"])
    overlapped = EchoCall(-12, 60, stop_ms=[900, 700, 800], missed=["wait"])
    result = {"calls": [row_of(alone, overlapped), row_of(EchoCall(NO_ECHO_DB, 0), EchoCall(NO_ECHO_DB, 0))]}
    assert report(result) == [
        ("-12 dB after 60 ms", "1 / 1", "75 % of 4, p50 800 ms"),
        ("no echo", "0 / 0", "0 % of 0"),
    ]
