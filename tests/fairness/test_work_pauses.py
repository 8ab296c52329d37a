"""A thread that computes for long pauses after each piece of work."""

from __future__ import annotations

from itertools import count

from duologue.fairness.work_pauses import with_pauses


def test_the_thread_pauses_whenever_its_work_has_taken_that_long() -> None:
    slept: list[float] = []
    clock = count()  # each look at the clock is a second later than the one before
    found = list(with_pauses(range(6), work_s=2, pause_s=7, now_s=lambda: next(clock), pause=slept.append))
    assert found == list(range(6))
    assert slept == [7, 7, 7]


def test_short_work_has_no_pause() -> None:
    slept: list[float] = []
    assert list(with_pauses("abc", now_s=lambda: 0.0, pause=slept.append)) == ["a", "b", "c"]
    assert slept == []
