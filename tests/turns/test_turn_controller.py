"""HOLD and SPEAK by fixed thresholds: the source's rules to the letter (T-01 … T-06, T-10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from duologue.turns.controller import (
    PRESETS,
    Acoustic,
    Activity,
    Linguistic,
    TurnDecision,
    TurnMemory,
    TurnSettings,
    TurnState,
    activity_of,
    is_interrupting,
    step,
)

FRAME_MS = 20
EASYTURN = PRESETS["easyturn-003"]
QUIET = Acoustic(at_ms=0, energy=0.001, vad=0.05, silence_ms=1_000)
VOICE = Acoustic(at_ms=0, energy=0.1, vad=0.95, silence_ms=0)
SAID = Linguistic("book me a table for two", confidence=0.9, stability=1.0)


def frames(frame: Acoustic, ms: int, start_ms: int = 0) -> Iterator[Acoustic]:
    """The same frame again and again; silence grows if it is silent."""
    for at_ms in range(start_ms, start_ms + ms, FRAME_MS):
        yield replace(frame, at_ms=at_ms)


def play(
    stream: Iterator[Acoustic],
    said: Linguistic = SAID,
    settings: TurnSettings = EASYTURN,
    memory: TurnMemory | None = None,
) -> tuple[TurnMemory, list[TurnDecision]]:
    memory = memory or TurnMemory()
    found = []
    for frame in stream:
        memory, decision = step(settings, memory, frame, said)
        found.append(decision)
    return memory, found


def settled(said: Linguistic = SAID) -> TurnMemory:
    """A memory whose text hasn't changed for long."""
    return TurnMemory(text=said.text, text_changed_ms=-1_000)


@pytest.mark.req("T-01")
def test_a_turn_starts_in_hold() -> None:
    assert TurnMemory().state is TurnState.HOLD


@pytest.mark.req("T-03")
def test_a_turn_ends_when_everything_has_been_true_for_200_ms() -> None:
    _, decisions = play(frames(QUIET, 260), memory=settled())
    spoke = [decision.at_ms for decision in decisions if decision.state is TurnState.SPEAK]
    assert spoke[0] == 200


@pytest.mark.req("T-03")
@pytest.mark.parametrize(
    ("frame", "said", "block"),
    [
        (replace(QUIET, energy=0.021), SAID, "speaking"),
        (replace(QUIET, vad=0.71), SAID, "speaking"),
        (replace(QUIET, silence_ms=399), SAID, "silence"),
        (QUIET, replace(SAID, text="book"), "text_length"),
        (QUIET, replace(SAID, confidence=0.59), "confidence"),
        (QUIET, replace(SAID, stability=0.79), "stability"),
    ],
)
def test_each_condition_alone_keeps_the_turn(frame: Acoustic, said: Linguistic, block: str) -> None:
    memory, decisions = play(frames(frame, 1_000), said, memory=settled(said))
    assert memory.state is TurnState.HOLD
    assert {decision.blocked_by for decision in decisions} == {(block,)}
    assert {decision.reason for decision in decisions} == {"stable_HOLD"}


@pytest.mark.req("T-03")
@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (replace(QUIET, energy=0.02), SAID),
        (replace(QUIET, vad=0.7), SAID),
        (replace(QUIET, silence_ms=400), SAID),
        (QUIET, replace(SAID, text="books")),
        (QUIET, replace(SAID, confidence=0.6)),
        (QUIET, replace(SAID, stability=0.8)),
    ],
)
def test_each_threshold_itself_is_enough(frame: Acoustic, said: Linguistic) -> None:
    memory, _ = play(frames(frame, 260), said, memory=settled(said))
    assert memory.state is TurnState.SPEAK


@pytest.mark.req("T-03")
def test_a_text_that_changed_less_than_150_ms_ago_keeps_the_turn() -> None:
    memory = settled()
    changed = replace(SAID, text=SAID.text + " please")
    _, decisions = play(frames(QUIET, 140), changed, memory=memory)
    assert all(decision.blocked_by == ("text_changing",) for decision in decisions)
    _, decisions = play(frames(QUIET, 400), changed, memory=memory)
    first = next(decision for decision in decisions if not decision.blocked_by)
    assert first.at_ms == 160
    spoke = next(decision for decision in decisions if decision.state is TurnState.SPEAK)
    assert spoke.at_ms == 160 + 200


@pytest.mark.req("T-03")
def test_a_text_under_20_characters_has_a_silence_of_its_own() -> None:
    settings = replace(EASYTURN, silence_short_ms=700)
    short, long = replace(SAID, text="x" * 19), replace(SAID, text="x" * 20)
    frame = replace(QUIET, silence_ms=500)
    assert play(frames(frame, 400), short, settings, settled(short))[0].state is TurnState.HOLD
    assert play(frames(frame, 400), long, settings, settled(long))[0].state is TurnState.SPEAK


@pytest.mark.req("T-04")
@pytest.mark.parametrize("frame", [replace(QUIET, energy=0.016), replace(QUIET, vad=0.61)])
def test_energy_or_voice_takes_the_floor_back_after_the_hysteresis(frame: Acoustic) -> None:
    assert is_interrupting(EASYTURN, frame)
    _, decisions = play(frames(frame, 260), memory=replace(settled(), state=TurnState.SPEAK))
    held = [decision for decision in decisions if decision.state is TurnState.HOLD]
    assert held[0].at_ms == 200
    assert held[0].reason == "transition_to_HOLD_interrupt"


@pytest.mark.req("T-04")
@pytest.mark.parametrize("frame", [replace(QUIET, energy=0.015), replace(QUIET, vad=0.6)])
def test_the_interrupt_thresholds_themselves_are_not_enough(frame: Acoustic) -> None:
    memory, _ = play(frames(frame, 600), memory=replace(settled(), state=TurnState.SPEAK))
    assert memory.state is TurnState.SPEAK


@pytest.mark.req("T-05")
@pytest.mark.parametrize(
    ("energy", "vad", "activity"),
    [
        (0.021, 0.0, Activity.SPEAKING),
        (0.0, 0.71, Activity.SPEAKING),
        (0.02, 0.7, Activity.UNSURE),
        (0.004, 0.29, Activity.SILENT),
        (0.005, 0.29, Activity.UNSURE),
        (0.004, 0.3, Activity.UNSURE),
    ],
)
def test_speaking_and_silent_are_two_tests(energy: float, vad: float, activity: Activity) -> None:
    assert activity_of(EASYTURN, Acoustic(0, energy, vad, 0)) is activity


@pytest.mark.req("T-06")
def test_every_decision_has_its_reason() -> None:
    _, decisions = play(frames(QUIET, 260), memory=settled())
    reasons = [decision.reason for decision in decisions]
    assert reasons[0] == "pending_SPEAK"
    assert reasons[1:10] == [f"pending_SPEAK_{ms}ms" for ms in range(20, 200, 20)]
    assert reasons[10] == "transition_to_SPEAK_eot"
    assert reasons[11] == "stable_SPEAK"


@pytest.mark.req("T-06")
def test_one_contrary_frame_starts_the_hysteresis_again() -> None:
    memory, _ = play(frames(QUIET, 180), memory=settled())
    memory, [decision] = play(frames(VOICE, FRAME_MS, 180), memory=memory)
    assert decision.reason == "stable_HOLD"
    _, decisions = play(frames(QUIET, 260, 200), memory=memory)
    assert next(d.at_ms for d in decisions if d.state is TurnState.SPEAK) == 400


@pytest.mark.req("T-06")
def test_a_click_doesnt_flap_the_state() -> None:
    memory = replace(settled(), state=TurnState.SPEAK)
    for start_ms in range(0, 2_000, 100):
        memory, decisions = play(frames(VOICE, 80, start_ms), memory=memory)
        memory, more = play(frames(QUIET, 20, start_ms + 80), memory=memory)
        assert {decision.state for decision in decisions + more} == {TurnState.SPEAK}


@pytest.mark.req("T-06")
def test_confidence_follows_what_is_heard() -> None:
    memory, decisions = play(frames(QUIET, 260), memory=settled())
    assert decisions[-1].confidence > 0.9
    doubtful = play(frames(replace(QUIET, vad=0.5), 20), replace(SAID, confidence=0.2), memory=memory)[1]
    assert doubtful[0].confidence < decisions[-1].confidence
    assert play(frames(VOICE, 20))[1][0].confidence == 1.0
    assert all(0 <= decision.confidence <= 1 for decision in decisions)


@pytest.mark.req("T-10")
def test_the_presets_are_one_typed_object_from_patient_to_quick() -> None:
    conservative, balanced, aggressive = (PRESETS[name] for name in ("conservative", "balanced", "aggressive"))
    assert conservative.silence_ms > balanced.silence_ms > aggressive.silence_ms
    assert conservative.hysteresis_ms > balanced.hysteresis_ms > aggressive.hysteresis_ms


@pytest.mark.req("T-09")
def test_aggressive_is_300_ms_of_silence_and_150_ms_of_hysteresis() -> None:
    aggressive = PRESETS["aggressive"]
    assert (aggressive.silence_ms, aggressive.hysteresis_ms) == (300, 150)


@pytest.mark.req("T-10", "V-06")
@pytest.mark.parametrize("preset", ["conservative", "balanced", "aggressive"])
@pytest.mark.parametrize("text", ["yes", "no", "4K", "two"])
def test_short_answers_end_a_turn_in_every_preset_but_the_sources(preset: str, text: str) -> None:
    said = Linguistic(text, 0.9, 1.0)
    assert play(frames(QUIET, 400), said, PRESETS[preset], settled(said))[0].state is TurnState.SPEAK
    assert play(frames(QUIET, 400), said, EASYTURN, settled(said))[0].state is TurnState.HOLD


def test_a_noisy_room_never_ends_a_turn_in_the_source_and_does_in_the_presets() -> None:
    noisy = replace(QUIET, energy=0.03)  # a car, with nobody speaking
    assert play(frames(noisy, 1_000), memory=settled())[0].state is TurnState.HOLD
    assert play(frames(noisy, 1_000), settings=PRESETS["balanced"], memory=settled())[0].state is TurnState.SPEAK
