"""The gate that keeps the agent from hearing itself."""

from __future__ import annotations

import math
import random

import pytest

from duologue.ears.echo_level import UNKNOWN, EchoGate, EchoGateSettings, EchoLevel

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


# -- A late echo: the telephone

LATE_MS = [0, 60, 200, 400, 600]


def speech_db(seconds: float = 20.0, seed: int = 1) -> list[float]:
    """The level of a voice with syllables, words and pauses, frame by frame."""
    dice = random.Random(seed)
    levels: list[float] = []
    while len(levels) * FRAME_MS < seconds * 1000:
        levels += [-120.0] * dice.choice((0, 1, 3, 12))
        loud = dice.uniform(-24, -12)
        levels += [loud - drop + dice.uniform(-2, 2) for drop in (18, 6, 0, 1, 4, 9, 20)[: dice.randint(3, 7)]]
    return levels


def late(played: list[float], echo_db: float, delay_ms: int) -> list[float]:
    """What comes back. The codec leaves nothing of what is quieter than -75 dB."""
    frames = delay_ms // FRAME_MS
    echo = [level + echo_db for level in played]
    heard = [-120.0] * frames + echo[: len(echo) - frames] if frames else echo
    return [level if level > -75 else -120.0 for level in heard]


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", LATE_MS)
@pytest.mark.parametrize("echo_db", [-6.0, -12.0, -30.0, -40.0, -50.0])
def test_a_late_echo_of_any_level_never_passes(echo_db: float, delay_ms: int) -> None:
    gate, played = EchoGate(FRAME_MS), speech_db()
    levels = list(zip(late(played, echo_db, delay_ms), played, strict=True))
    passing = [gate.passes(*frame) and frame[0] > -75 for frame in levels]
    assert sum(frame[0] > -75 for frame in levels) > 100
    assert not any(passing)


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", LATE_MS)
def test_the_delay_is_learned_from_the_first_words(delay_ms: int) -> None:
    gate, played = EchoGate(FRAME_MS), speech_db(3.0)
    for levels in zip(late(played, -20.0, delay_ms), played, strict=True):
        gate.excess_db(*levels)
    assert gate.level.lag == delay_ms // FRAME_MS


@pytest.mark.req("H-12")
@pytest.mark.parametrize("echo_db", [-12.0, -30.0, -50.0])
@pytest.mark.parametrize("delay_ms", [60, 400])
def test_a_person_who_is_as_loud_as_the_agent_passes_over_its_late_echo(echo_db: float, delay_ms: int) -> None:
    gate, played, person = EchoGate(FRAME_MS), speech_db(20.0), speech_db(2.0, seed=2)
    heard = late(played, echo_db, delay_ms)
    begin = 10_000 // FRAME_MS
    passed = 0
    for place, (level, other) in enumerate(zip(heard, played, strict=True)):
        said = person[place - begin] if 0 <= place - begin < len(person) else -120.0
        passes = gate.passes(max(level, said), other)
        passed += passes and said > -30
    assert passed > 0.4 * sum(level > -30 for level in person)


# The levels of a spoken greeting, and of "Stop, please tell me about the weather in Berlin."
GREETING_DB = (
    *(-55, -41, -23, -14, -13, -13, -13, -13, -12, -13, -13, -13, -12, -13, -13, -16, -28, -49, -50, -55, -66, -77),
    *(-90, -90, -56, -36, -39, -16, -13, -13, -18, -42, -49, -44, -16, -13, -13, -19, -45, -49, -52, -51, -18, -13),
    *(-25, -43, -28, -14, -13, -13, -14, -14, -12, -12, -12, -13, -13, -12, -13, -13, -13, -14, -16, -17, -19, -20),
    *(-20, -21, -20, -16, -16, -21, -33, -52, -60, -57, -61, -62, -41, -38, -22, -14, -13, -15, -18, -17, -19, -50),
    *(-40, -38, -16, -14, -13, -15, -17, -16, -15, -15, -15, -24, -26, -27, -24, -13, -13, -12, -13, -19, -45, -44),
)
PERSON_DB = (
    *(-40, -40, -42, -29, -18, -15, -16, -18, -18, -20, -45, -38, -39, -42, -70, -67, -70, -72, -76, -81, -33, -29),
    *(-22, -16, -16, -22, -29, -29, -38, -50, -43, -33, -18, -15, -17, -22, -25, -25, -29, -24, -17, -19, -20, -17),
    *(-27, -24, -20, -14, -17, -25, -41, -37, -34, -30, -20, -20, -29, -20, -16, -16, -19, -26, -31, -24, -21, -23),
    *(-17, -16, -23, -24, -34, -24, -21, -22, -28, -24, -19, -13, -13, -15, -18, -22, -24, -24, -26, -34, -52, -52),
)
FIRST_WORD = 20  # frames of "Stop," and the pause after it


@pytest.mark.req("H-12")
@pytest.mark.parametrize("begin", [6, 15, 21])
def test_a_person_who_talks_into_the_agents_first_words_is_not_taken_for_its_echo(begin: int) -> None:
    gate, heard = EchoGate(FRAME_MS), [-120.0] * len(GREETING_DB)
    heard[begin : begin + len(PERSON_DB)] = map(float, PERSON_DB)
    passing = [gate.passes(*levels) for levels in zip(heard, map(float, GREETING_DB), strict=True)]
    loud = [begin + place for place, level in enumerate(PERSON_DB) if level > -30 and place >= FIRST_WORD]
    assert sum(passing[place] for place in loud) > 0.9 * len(loud)


@pytest.mark.req("H-12")
def test_without_an_echo_no_delay_is_learned_and_a_quiet_person_passes() -> None:
    gate = EchoGate(FRAME_MS)
    for level in speech_db():
        gate.excess_db(-120.0, level)
    assert gate.level.lag == UNKNOWN
    assert gate.passes(-45.0, -20.0)


@pytest.mark.req("H-12")
def test_an_echo_within_reach_is_expected_after_the_sound_has_ended() -> None:
    gate, played = EchoGate(FRAME_MS), [*speech_db(8.0), -15.0, -15.0, *[-120.0] * 40]
    heard = late(played, -12.0, 400)
    assert not any(gate.passes(*frame) and frame[0] > -75 for frame in zip(heard, played, strict=True))
    assert gate.passes(-50.0, -120.0), "then the line is free"


@pytest.mark.req("H-12")
def test_a_frame_changes_nothing_of_what_was_known_before() -> None:
    level = EchoLevel(FRAME_MS)
    after = level.after(-30.0, -20.0)
    assert after.heard_db
    assert level == EchoLevel(FRAME_MS)


def _coupling_by_sorting(level: EchoLevel, lag: int) -> float:
    """The coupling at this lag as the docstrings define it, computed in the plainest way."""
    rule, peak_db, found = level.settings, -math.inf, []
    heard, played = level.heard_db, level.played_db
    for place, played_db in enumerate(played):
        peak_db = max(played_db, peak_db - rule.decay_db_s * level.frame_ms / 1000)
        is_loud = played_db > max(rule.playing_db, peak_db - rule.loud_db)
        if is_loud and place + lag + 1 < len(heard):
            near = slice(max(0, place - 1), place + 2)
            found.append(max(heard[max(0, place + lag - 1) : place + lag + 2]) - max(played[near]))
    return sorted(found)[int(len(found) * (1 - rule.loud_share))]


@pytest.mark.parametrize("seed", range(5))
def test_while_the_lag_is_unknown_the_coupling_is_the_highest_of_all_lags(seed: int) -> None:
    dice, compared = random.Random(seed), 0
    level = EchoLevel(FRAME_MS)
    for _ in range(400):
        before, level = level, level.after(dice.uniform(-50.0, -10.0), dice.choice(SYLLABLES_DB))
        if level.looked_at != before.looked_at and level.lag == UNKNOWN and len(level.heard_db) > 150:
            lags = range(level.settings.reach_ms // FRAME_MS + 1)
            assert level.coupling_db == max(_coupling_by_sorting(level, lag) for lag in lags)
            compared += 1
    assert compared > 20
