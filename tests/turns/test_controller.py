"""HOLD and SPEAK by fixed thresholds, exactly as the EasyTurn specification says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.core.settings import PROFILES
from duologue.core.views import VIEWS
from duologue.turns.controller import (
    PRESETS,
    Acoustic,
    Activity,
    FrameRule,
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
    _, decisions = play(frames(frame, 260), memory=settled()._replace(state=TurnState.SPEAK))
    held = [decision for decision in decisions if decision.state is TurnState.HOLD]
    assert held[0].at_ms == 200
    assert held[0].reason == "transition_to_HOLD_interrupt"


@pytest.mark.req("T-04")
@pytest.mark.parametrize("frame", [replace(QUIET, energy=0.015), replace(QUIET, vad=0.6)])
def test_the_interrupt_thresholds_themselves_are_not_enough(frame: Acoustic) -> None:
    memory, _ = play(frames(frame, 600), memory=settled()._replace(state=TurnState.SPEAK))
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
    memory = settled()._replace(state=TurnState.SPEAK)
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


@pytest.mark.req("T-09.answers")
def test_aggressive_is_300_ms_of_silence_and_150_ms_of_hysteresis() -> None:
    aggressive = PRESETS["aggressive"]
    assert (aggressive.silence_ms, aggressive.hysteresis_ms) == (300, 150)


@pytest.mark.req("T-09.answers")
@pytest.mark.parametrize("spoken_ms", [400, 2_000, 2_010])
def test_aggressive_adds_at_most_300_ms_once_the_end_of_speech_is_certain(spoken_ms: int) -> None:
    """It is certain when the preset's silence is over."""
    aggressive = PRESETS["aggressive"]
    memory, _ = play(frames(VOICE, spoken_ms), settings=aggressive)
    silent = (replace(QUIET, at_ms=spoken_ms + ms, silence_ms=ms) for ms in range(FRAME_MS, 2_000, FRAME_MS))
    _, decisions = play(silent, settings=aggressive, memory=memory)
    ended_ms = FRAME_MS * (1 + [decision.state for decision in decisions].index(TurnState.SPEAK))
    assert aggressive.silence_ms <= ended_ms <= aggressive.silence_ms + 300


@pytest.mark.req("T-10", "V-06")
@pytest.mark.parametrize("preset", ["conservative", "balanced", "aggressive"])
@pytest.mark.parametrize("text", ["yes", "no", "4K", "two"])
def test_short_answers_end_a_turn_in_every_preset_but_the_sources(preset: str, text: str) -> None:
    said = Linguistic(text, 0.9, 1.0)
    assert play(frames(QUIET, 400), said, PRESETS[preset], settled(said))[0].state is TurnState.SPEAK
    assert play(frames(QUIET, 400), said, EASYTURN, settled(said))[0].state is TurnState.HOLD


def test_a_noisy_room_never_ends_a_turn_in_the_source_and_does_in_the_presets() -> None:
    noisy = replace(QUIET, energy=0.03)  # a car, without speech
    assert play(frames(noisy, 1_000), memory=settled())[0].state is TurnState.HOLD
    assert play(frames(noisy, 1_000), settings=PRESETS["balanced"], memory=settled())[0].state is TurnState.SPEAK


# -- The source to the letter: `easyturn-003` at its boundaries, to the millisecond


def at(ms: int, frame: Acoustic = QUIET) -> Acoustic:
    return replace(frame, at_ms=ms)


def speaking() -> TurnMemory:
    return settled()._replace(state=TurnState.SPEAK)


@pytest.mark.req("T-01")
def test_there_are_two_turn_states_and_five_system_states() -> None:
    assert [state.value for state in TurnState] == ["HOLD", "SPEAK"]
    assert FrameRule(EASYTURN, 1).step(at(0), Linguistic()).state is TurnState.HOLD
    assert set(VIEWS["orchestrator"].states) == {"idle", "listening", "processing", "speaking", "interrupted"}
    assert {settings.breath_ms for settings in PROFILES.values()} == {50}


@pytest.mark.req("T-02")
def test_acoustic_and_linguistic_features_are_those_of_the_source() -> None:
    assert [field.name for field in fields(Acoustic)] == ["at_ms", "energy", "vad", "silence_ms"]
    assert [field.name for field in fields(Linguistic)] == ["text", "confidence", "stability"]


@pytest.mark.req("T-02")
@pytest.mark.parametrize("frame_ms", [20, 25, 32, 40])
def test_whatever_the_frame_the_turn_ends_in_the_first_one_that_may_end_it(frame_ms: int) -> None:
    rule = FrameRule(EASYTURN, 1)
    told = [rule.step(at(ms, replace(QUIET, silence_ms=ms)), SAID) for ms in range(0, 1_000, frame_ms)]
    ended_at = next(decision.at_ms for decision in told if decision.state is TurnState.SPEAK)
    silent_at = next(ms for ms in range(0, 1_000, frame_ms) if ms >= 400)
    assert ended_at == next(ms for ms in range(silent_at, 1_000, frame_ms) if ms - silent_at >= 200)


@pytest.mark.req("T-03")
@pytest.mark.parametrize(
    ("frame", "said", "blocks"),
    [
        (replace(QUIET, silence_ms=399), SAID, ("silence",)),
        (replace(QUIET, silence_ms=400), SAID, ()),
        (QUIET, replace(SAID, text="four"), ("text_length",)),
        (QUIET, replace(SAID, text="fives"), ()),
        (QUIET, replace(SAID, confidence=0.59), ("confidence",)),
        (QUIET, replace(SAID, confidence=0.6), ()),
        (QUIET, replace(SAID, stability=0.79), ("stability",)),
        (QUIET, replace(SAID, stability=0.8), ()),
        (replace(QUIET, energy=0.0201), SAID, ("speaking",)),
        (replace(QUIET, energy=0.02), SAID, ()),
        (replace(QUIET, vad=0.701), SAID, ("speaking",)),
        (replace(QUIET, vad=0.7), SAID, ()),
        (
            Acoustic(0, 0.5, 1.0, 0),
            Linguistic("four", 0.1, 0.1),
            ("speaking", "silence", "text_length", "confidence", "stability"),
        ),
    ],
    ids=str,
)
def test_each_boundary_is_where_the_source_says(frame: Acoustic, said: Linguistic, blocks: tuple[str, ...]) -> None:
    _, decision = step(EASYTURN, settled(said), frame, said)
    assert decision.blocked_by == blocks
    assert decision.reason == ("stable_HOLD" if blocks else "pending_SPEAK")
    assert decision.state is TurnState.HOLD


@pytest.mark.req("T-03")
def test_a_text_is_unchanged_after_150_ms_and_not_after_149() -> None:
    changed = replace(SAID, text=SAID.text + " please")
    memory, first = step(EASYTURN, settled(), at(1_000), changed)
    assert first.blocked_by == ("text_changing",)
    assert step(EASYTURN, memory, at(1_149), changed)[1].blocked_by == ("text_changing",)
    assert step(EASYTURN, memory, at(1_150), changed)[1].blocked_by == ()


@pytest.mark.req("T-03")
def test_a_partial_that_comes_back_the_same_is_no_change() -> None:
    memory, _ = step(EASYTURN, settled(), at(1_000), SAID)
    assert memory.text_changed_ms == -1_000


@pytest.mark.req("T-03")
@pytest.mark.parametrize("length", [19, 20])
def test_the_source_names_no_other_silence_for_short_texts_so_it_is_the_same(length: int) -> None:
    assert EASYTURN.silence_ms_for(length) == 400


@pytest.mark.req("T-03", "T-06")
def test_all_of_it_is_stable_after_200_ms_and_not_after_199() -> None:
    memory, first = step(EASYTURN, settled(), at(1_000), SAID)
    assert (first.state, first.reason) == (TurnState.HOLD, "pending_SPEAK")
    _, early = step(EASYTURN, memory, at(1_199), SAID)
    assert (early.state, early.reason) == (TurnState.HOLD, "pending_SPEAK_199ms")
    later, due = step(EASYTURN, memory, at(1_200), SAID)
    assert (due.state, due.reason) == (TurnState.SPEAK, "transition_to_SPEAK_eot")
    _, after = step(EASYTURN, later, at(1_220), SAID)
    assert (after.state, after.reason) == (TurnState.SPEAK, "stable_SPEAK")


@pytest.mark.req("T-04", "T-06")
@pytest.mark.parametrize("frame", [replace(QUIET, energy=0.0151), replace(QUIET, vad=0.601)], ids=["energy", "vad"])
def test_the_floor_is_taken_back_after_200_ms_and_not_after_199(frame: Acoustic) -> None:
    memory, first = step(EASYTURN, speaking(), at(1_000, frame), SAID)
    assert (first.state, first.reason) == (TurnState.SPEAK, "pending_HOLD")
    _, early = step(EASYTURN, memory, at(1_199, frame), SAID)
    assert (early.state, early.reason) == (TurnState.SPEAK, "pending_HOLD_199ms")
    _, due = step(EASYTURN, memory, at(1_200, frame), SAID)
    assert (due.state, due.reason) == (TurnState.HOLD, "transition_to_HOLD_interrupt")


@pytest.mark.req("T-04")
@pytest.mark.parametrize(
    ("energy", "vad", "is_one"),
    [(0.015, 0.6, False), (0.0151, 0.0, True), (0.0, 0.601, True), (0.0, 0.0, False)],
)
def test_an_interruption_is_energy_or_voice_above_the_sources_numbers(energy: float, vad: float, is_one: bool) -> None:
    assert is_interrupting(EASYTURN, Acoustic(0, energy, vad, 0)) is is_one


@pytest.mark.req("T-05")
@pytest.mark.parametrize(
    ("energy", "vad", "activity"),
    [
        (0.0201, 0.0, Activity.SPEAKING),
        (0.02, 0.7, Activity.UNSURE),
        (0.0, 0.701, Activity.SPEAKING),
        (0.0049, 0.299, Activity.SILENT),
        (0.005, 0.0, Activity.UNSURE),
        (0.0, 0.3, Activity.UNSURE),
    ],
)
def test_speaking_needs_one_sign_and_silence_both(energy: float, vad: float, activity: Activity) -> None:
    assert activity_of(EASYTURN, Acoustic(0, energy, vad, 0)) is activity


heard_frames = st.lists(
    st.tuples(st.integers(1, 60), st.floats(0, 1), st.floats(0, 1), st.integers(0, 3_000)), min_size=1, max_size=60
)
REASONS = r"(stable|pending)_(HOLD|SPEAK)|pending_(HOLD|SPEAK)_\d+ms|transition_to_(SPEAK_eot|HOLD_interrupt)"


@pytest.mark.req("T-06")
@pytest.mark.parametrize("preset", sorted(PRESETS))
@given(
    heard=heard_frames,
    said=st.builds(
        Linguistic, st.sampled_from(["", "yes", "four", "a longer text of more than twenty"]), st.floats(0, 1)
    ),
    stability=st.floats(0, 1),
)
def test_every_decision_has_one_of_the_reasons_and_a_confidence_and_never_skips_the_hysteresis(
    preset: str, heard: list[tuple[int, float, float, int]], said: Linguistic, stability: float
) -> None:
    settings, memory, now_ms, changed_ms = PRESETS[preset], TurnMemory(), 0, -10_000
    before = TurnState.HOLD
    for frame_ms, energy, vad, silence_ms in heard:
        now_ms += frame_ms
        frame = Acoustic(now_ms, energy, vad, silence_ms)
        memory, decision = step(settings, memory, frame, replace(said, stability=stability))
        assert re.fullmatch(REASONS, decision.reason)
        assert 0 <= decision.confidence <= 1
        assert decision.at_ms == now_ms
        if decision.state is not before:
            assert decision.reason.startswith("transition")
            assert now_ms - changed_ms > settings.hysteresis_ms
            changed_ms, before = now_ms, decision.state


@pytest.mark.req("T-10")
def test_the_source_is_one_typed_object_with_these_numbers_and_no_others() -> None:
    assert {field.name: getattr(EASYTURN, field.name) for field in fields(EASYTURN)} == {
        "silence_ms": 400,
        "silence_short_ms": 400,
        "short_length": 20,
        "text_length_min": 5,
        "confidence_min": 0.6,
        "stability_min": 0.8,
        "text_unchanged_ms": 150,
        "hysteresis_ms": 200,
        "interrupt_energy": 0.015,
        "interrupt_vad": 0.6,
        "speaking_energy": 0.02,
        "speaking_vad": 0.7,
        "silent_energy": 0.005,
        "silent_vad": 0.3,
    }
    assert set(PRESETS) == {"easyturn-003", "conservative", "balanced", "aggressive"}
    with pytest.raises(FrozenInstanceError):
        EASYTURN.silence_ms = 1  # type: ignore[misc]
