"""A sound of which the voice detector is unsure is judged twice, and a sure voice once."""

from __future__ import annotations

import pytest

from duologue.ears.second_look import QUIET_FRAMES, SURE_FRAMES, SoundDoubt, raised


def heard(first: list[float], second: float = 0.5) -> tuple[SoundDoubt, list[bool]]:
    """The doubt after frames with these first answers, and which of them were judged twice."""
    doubt, looks = SoundDoubt(), list[bool]()
    for one in first:
        looks.append(doubt.needs_look(one))
        doubt.note(one, raised(one, second) if looks[-1] else one, looks[-1])
    return doubt, looks


def test_silence_is_judged_once() -> None:
    assert heard([0.0, 0.05, 0.02])[1] == [False, False, False]


def test_an_unsure_sound_is_judged_twice_until_it_is_over() -> None:
    assert heard([0.05, 0.2, 0.78, 0.4, 0.03])[1] == [False, True, True, True, True]
    quiet = [0.02] * QUIET_FRAMES
    assert heard([0.2, *quiet, 0.02], second=0.02)[1][-2:] == [False, False]


def test_a_voice_that_was_sure_is_not_judged_again_until_it_is_over() -> None:
    voice = [0.95] * SURE_FRAMES
    assert heard([*voice, 0.5, 0.2])[1] == [True] * SURE_FRAMES + [False, False]
    assert heard([*voice, *[0.02] * QUIET_FRAMES, 0.4])[1][-1]


def test_a_short_gap_does_not_end_a_sure_voice() -> None:
    gap = [0.02] * (QUIET_FRAMES - 1)
    assert not heard([*[0.95] * SURE_FRAMES, *gap, 0.4])[1][-1]


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [(0.2, 0.8, 0.5), (0.5, 0.5, 0.5), (0.0, 1.0, 0.5), (0.3, 0.9, 0.663), (0.8, 0.2, 0.8), (0.99, 0.5, 0.99)],
)
def test_a_second_look_raises_the_answer_to_the_mean_and_never_lowers_it(
    first: float, second: float, counts: float
) -> None:
    assert raised(first, second) == pytest.approx(counts, abs=0.001)
