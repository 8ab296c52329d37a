"""The time axis: what fits at which width, and how times are written."""

from __future__ import annotations

import pytest

from duologue.replay.picture.scale import Scale, write_length


def test_a_text_is_shown_from_the_first_width_on_that_has_room_for_it() -> None:
    scale = Scale(100_000)
    widths = list(scale.widths())
    seen = scale.seen(50, 5_000)
    assert seen is not None
    number = int(seen[1:])
    assert widths[number] * 5_000 / 100_000 >= 50 > widths[number - 1] * 5_000 / 100_000


def test_a_text_that_never_has_room_is_left_out() -> None:
    assert Scale(100_000).seen(50, 0) is None
    assert Scale(100_000).seen(50, 10) is None


@pytest.mark.parametrize("length_ms", [1, 99, 5_000, 167_000, 600_000, 3_600_000, 40_000_000, 4_000_000_000])
def test_an_axis_has_round_times_and_never_too_many(length_ms: int) -> None:
    ticks = list(Scale(length_ms).ticks())
    assert ticks[0].at_ms == 0
    assert len(ticks) <= 701
    assert all(tick.at_ms <= length_ms for tick in ticks)


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 ms"), (999, "999 ms"), (1_249, "1.24 s"), (59_999, "59.99 s"), (125_400, "2 min 5 s")]
)
def test_lengths_are_written_for_people(ms: int, text: str) -> None:
    assert write_length(ms) == text
