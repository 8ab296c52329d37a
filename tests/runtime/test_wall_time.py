"""The time of day of moments on a conversation's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from duologue.runtime.wall_time import WallTime

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


class Clocks:
    """A conversation's clock and that of the computer."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.utc = NOON
        self.wall_time = WallTime(lambda: self.now_ms, lambda: self.utc)

    def wait(self, ms: int, off_ms: int = 0) -> None:
        self.now_ms += ms
        self.utc += timedelta(milliseconds=ms + off_ms)


@pytest.mark.req("C-API.since")
def test_a_moment_has_the_time_of_day_at_which_it_was() -> None:
    clocks = Clocks()
    clocks.wait(90_000)
    assert clocks.wall_time.of(61_001) == NOON + timedelta(milliseconds=61_001)


@pytest.mark.req("C-API.since")
def test_a_moment_keeps_its_time_though_the_clocks_differ_a_little() -> None:
    clocks = Clocks()
    first = clocks.wall_time.of(500)
    for off_ms in (3, -6, 20, -30):
        clocks.wait(1_000, off_ms)
        assert clocks.wall_time.of(500) == first


@pytest.mark.req("C-API.since")
def test_after_a_time_in_which_no_process_ran_the_conversation_the_time_of_day_is_right() -> None:
    clocks = Clocks()
    clocks.wait(1_000)
    assert clocks.wall_time.of(1_000) == NOON + timedelta(seconds=1)
    clocks.utc += timedelta(seconds=40)  # the conversation's clock stood still
    clocks.wait(1_000)
    assert clocks.wall_time.of(2_000) == NOON + timedelta(seconds=42)
