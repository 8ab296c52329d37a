"""The filter that removes the agent's echo before words are read."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.audio.levels import rms, to_dbfs
from duologue.ears.echo_level import UNKNOWN
from duologue.ears.linear_echo import BEFORE, LinearEcho

pytestmark = pytest.mark.req("H-12")

SIZE = 512
RATE_HZ = 16_000
SECONDS = 6


def babble(seed: int, level: float = 0.1) -> Samples:
    """Noise in syllables, with the spectrum of a voice."""
    dice = np.random.default_rng(seed)
    noise = np.convolve(dice.normal(0, 1, SECONDS * RATE_HZ), np.ones(6) / 6, "same")
    syllables = np.repeat(dice.uniform(0, 1, SECONDS * 5) ** 2, RATE_HZ // 5)
    return (level * noise * syllables).astype(np.float32)


def echo_of(sound: Samples, lag: int, gain: float = 0.25) -> Samples:
    """The sound after a short room, `lag` frames and 100 samples later."""
    late = lag * SIZE + 100
    room = np.zeros(400)
    room[[0, 60, 300]] = 1.0, -0.4, 0.15
    return gain * np.concatenate((np.zeros(late), np.convolve(sound, room)))[: sound.size].astype(np.float32)


def run(heard: Samples, played: Samples, lag: int, person: range = range(0)) -> Samples:
    """What is left of the sound. In the seconds of `person`, the frames are known not to be echo."""
    state, left = LinearEcho(SIZE), []
    for at in range(0, heard.size - SIZE + 1, SIZE):
        is_echo = at // RATE_HZ not in person
        state, frame = state.after(heard[at : at + SIZE], played[at : at + SIZE], lag, is_echo)
        left.append(frame)
    return np.concatenate(left)


def level_db(sound: Samples, start_s: int, end_s: int) -> float:
    return to_dbfs(rms(sound[start_s * RATE_HZ : end_s * RATE_HZ]))


@pytest.mark.parametrize("lag", [1, 6, 14, 22])
def test_after_some_seconds_the_echo_is_gone(lag: int) -> None:
    played = babble(1)
    heard = echo_of(played, lag)
    left = run(heard, played, lag)
    assert level_db(left, 4, 5) < level_db(heard, 4, 5) - 15


def test_a_lag_that_is_a_frame_off_is_covered() -> None:
    played = babble(1)
    heard = echo_of(played, 8)
    for told in (7, 9):
        assert level_db(run(heard, played, told), 4, 5) < level_db(heard, 4, 5) - 15


def test_a_person_over_the_echo_stays_and_spoils_nothing() -> None:
    played, person = babble(1), babble(2)
    person[: 3 * RATE_HZ] = 0
    person[4 * RATE_HZ :] = 0
    echo = echo_of(played, 6)
    left = run(echo + person, played, 6, person=range(3, 4))
    assert level_db(left - person[: left.size], 3, 4) < level_db(echo, 3, 4) - 8, "only the person is left"
    assert level_db(left, 4, 5) < level_db(echo, 4, 5) - 15, "and afterwards nothing is"


def test_without_an_echo_the_person_is_untouched() -> None:
    played, person = babble(1), babble(2)
    left = run(person, played, 6, person=range(SECONDS))
    assert np.array_equal(left, person[: left.size])


def test_nothing_becomes_louder() -> None:
    played, other = babble(1), babble(3)
    left = run(other, played, 4)
    for at in range(0, left.size, SIZE):
        assert rms(left[at : at + SIZE]) <= rms(other[at : at + SIZE]) + 1e-6


def test_while_the_lag_is_unknown_nothing_is_filtered() -> None:
    played = babble(1)
    heard = echo_of(played, 4)
    assert np.array_equal(run(heard, played, UNKNOWN), heard[: heard.size - heard.size % SIZE])


def test_a_lag_that_moves_by_a_frame_keeps_what_was_learned_and_a_larger_move_starts_again() -> None:
    played = babble(1)
    heard = echo_of(played, 6)
    state = LinearEcho(SIZE)
    for at in range(0, 4 * RATE_HZ, SIZE):
        state, _ = state.after(heard[at : at + SIZE], played[at : at + SIZE], 6, True)
    at = 4 * RATE_HZ
    moved, _ = state.after(heard[at : at + SIZE], played[at : at + SIZE], 6 + BEFORE - 1, True)
    assert moved.lag == 6
    again, _ = state.after(heard[at : at + SIZE], played[at : at + SIZE], 6 + BEFORE, True)
    assert again.lag == 6 + BEFORE
