"""The gate that keeps the agent from hearing itself."""

from __future__ import annotations

import math

import pytest

from duologue.turns.echo_level import EchoGate, EchoGateSettings

FRAME_MS = 32
SYLLABLES_DB = (-20.0, -18.0, -24.0, -35.0, -50.0, -30.0, -19.0, -22.0, -40.0, -60.0)


def gate_after(echo_db: float, frames: int = 60) -> EchoGate:
    """A gate that has heard the agent's echo, this much quieter than the playback."""
    gate = EchoGate(FRAME_MS)
    for place in range(frames):
        played = SYLLABLES_DB[place % len(SYLLABLES_DB)]
        gate.excess_db(max(played + echo_db, -70.0), played)
    return gate


@pytest.mark.parametrize("echo_db", [-10.0, -20.0, -30.0])
def test_an_echo_alone_never_passes(echo_db: float) -> None:
    gate = EchoGate(FRAME_MS)
    for place in range(300):
        played = SYLLABLES_DB[place % len(SYLLABLES_DB)]
        assert not gate.passes(max(played + echo_db, -70.0), played)


@pytest.mark.parametrize("echo_db", [-20.0, -30.0])
def test_a_voice_above_the_echo_passes(echo_db: float) -> None:
    assert gate_after(echo_db).passes(heard_db=-18.0, played_db=-20.0)


def test_everything_passes_while_nothing_is_played() -> None:
    gate = EchoGate(FRAME_MS)
    assert gate.excess_db(-70.0, -120.0) == math.inf
    assert gate.passes(-70.0, -120.0)


def test_without_an_echo_a_quiet_voice_passes() -> None:
    gate = EchoGate(FRAME_MS)
    for place in range(60):
        gate.excess_db(-65.0, SYLLABLES_DB[place % len(SYLLABLES_DB)])
    assert gate.passes(heard_db=-40.0, played_db=-20.0)


def test_the_tail_of_a_word_is_covered_after_the_playback_stopped() -> None:
    gate = gate_after(-10.0)
    for place in range(5):
        assert not gate.passes(heard_db=-30.0 - 6 * place, played_db=-120.0)


def test_coupling_is_learned_and_some_talk_over_it_doesnt_spoil_it() -> None:
    gate = gate_after(-20.0)
    learned = gate.coupling_db
    for _ in range(20):
        gate.excess_db(-15.0, -20.0)
    assert abs(gate.coupling_db - learned) < 6.0


def test_before_anything_is_learned_a_loud_echo_is_expected() -> None:
    assert EchoGate(FRAME_MS).coupling_db == EchoGateSettings().coupling_db
