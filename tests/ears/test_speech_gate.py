"""The gate: a single frame decides nothing, and speech that goes on after a cut is another onset."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ears.speech_gate import Change, GateRule, VoiceGate

B, P, E = Change.BEGAN, Change.PAUSED, Change.ENDED
RULE = GateRule(onset_ms=96, pause_ms=96, offset_ms=192)


def run(marks: str, rule: GateRule = RULE) -> str:
    """Frames as `x` for speech, `.` for silence, `-` for neither, `|` for a cut; returns what each changed."""
    gate, changes = VoiceGate(), ""
    for mark in marks:
        if mark == "|":
            gate = gate.cut()
            changes += "|"
            continue
        gate, change = gate.heard(rule, {"x": 0.9, ".": 0.1, "-": 0.42}[mark])
        changes += {None: " ", B: "B", P: "P", E: "E"}[change]
    return changes


@pytest.mark.parametrize(
    ("frames", "changes"),
    [
        ("xxxx......", "  B   P  E"),
        ("x.xx.x....", ""),  # clicks
        ("xxx.x..x.....", "  B       P"),  # consonants
        ("x-x-x......", "    B  P  E"),
        ("xxx.-----", "  B  P  E"),  # after silence, only clear speech makes it go on
        ("xxx..-x......", "  B  P   P  E"),
        ("-------", ""),
    ],
)
def test_it_takes_some_frames_to_begin_and_to_end(frames: str, changes: str) -> None:
    assert run(frames).rstrip() == changes


def test_speech_that_goes_on_after_a_cut_is_another_onset() -> None:
    assert run("xxxx|xxxx......") == "  B |  B   P  E"


def test_speech_that_stops_soon_after_a_cut_just_ends() -> None:
    assert run("xxxx|xx......") == "  B |       E"


def test_a_cut_in_silence_changes_nothing() -> None:
    assert run("..|..xxx") == "  |    B"


@given(st.lists(st.floats(0, 1), max_size=300), st.sets(st.integers(0, 299)))
def test_onsets_and_ends_alternate_except_for_cuts(probabilities: list[float], cuts: set[int]) -> None:
    gate, is_open, was_cut = VoiceGate(), False, False
    for at, probability in enumerate(probabilities):
        if at in cuts:
            gate = gate.cut()
            was_cut = is_open
        gate, change = gate.heard(GateRule(), probability)
        match change:
            case Change.BEGAN:
                assert not is_open or was_cut
                is_open, was_cut = True, False
            case Change.ENDED:
                assert is_open
                is_open = was_cut = False
            case Change.PAUSED:
                assert is_open
                assert not was_cut


@pytest.mark.parametrize(
    ("probabilities", "begins"),
    [
        ([0.79], None),
        ([0.81], 0),
        ([0.6, 0.5, 0.2], None),  # a knock
        ([0.7, 0.7], 1),
        ([0.7, 0.4, 0.7], 2),
        ([0.7, 0.3, 0.7], None),
    ],
)
def test_over_the_agent_one_sure_frame_is_enough(probabilities: list[float], begins: int | None) -> None:
    gate, told = VoiceGate(), []
    for probability in probabilities:
        gate, change = gate.heard(GateRule(), probability, is_eager=True)
        told.append(change)
    assert told == [Change.BEGAN if place == begins else None for place in range(len(told))]
