"""Whether a better model keeps up: one late answer is enough to go without it, and later it is tried again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duologue.ears.final_pace import LENGTH_MS_MAX, LIMIT_MS, FinalPace


def test_an_unknown_model_is_tried() -> None:
    assert FinalPace().length_ms_max == LENGTH_MS_MAX


def test_a_fast_model_is_used_for_longer_utterances_than_a_slow_one() -> None:
    fast, slow = FinalPace().ran(3_000, 100), FinalPace().ran(3_000, 250)
    assert LENGTH_MS_MAX >= fast.length_ms_max > slow.length_ms_max >= 3_000


def test_one_late_answer_is_enough_to_go_without_for_such_utterances() -> None:
    quick = FinalPace()
    for _ in range(50):
        quick = quick.ran(3_000, 60)
    late = quick.ran(3_000, LIMIT_MS + 300)
    assert late.length_ms_max < 3_000
    assert late.ran(1_000, 50).length_ms_max > late.length_ms_max


def test_a_model_that_was_slow_is_tried_again_after_a_while() -> None:
    pace, times = FinalPace().ran(2_000, 6_000), 0
    while pace.length_ms_max < 2_000:
        pace, times = pace.skipped(), times + 1
    assert 5 <= times <= 100


@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(0, 60_000), st.floats(0, 60_000))), max_size=50))
def test_the_longest_utterance_is_always_within_bounds(runs: list[tuple[int, float] | None]) -> None:
    pace = FinalPace()
    for run in runs:
        pace = pace.skipped() if run is None else pace.ran(*run)
        assert 0 <= pace.length_ms_max <= LENGTH_MS_MAX
