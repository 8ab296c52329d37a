"""The comparison: cut-ins against waits, and a recommendation that says how sure it is."""

from __future__ import annotations

from duologue.lab.tune.frontier import Comparison, PolicyPoint, compare, compare_overlaps
from duologue.lab.tune.pauses import DecidedOverlap
from duologue.lab.tune.policies import RECORDED
from tests.lab.tune.decided_calls import call, end, middle


def _point(comparison: Comparison, name: str) -> PolicyPoint:
    return next(point for point in comparison.points if point.name == name)


def test_cut_ins_are_counted_in_pauses_and_waits_in_ends() -> None:
    found = compare({RECORDED: [call(middle(300), middle(), end(500)), call(end(700, answered_ms=600))]})
    point = _point(found, RECORDED)
    assert (point.cut_ins, point.pauses, point.cut_in_pct) == (1, 2, 50.0)
    assert (point.wait_ms, point.ends, point.assumed, point.unknown) == (600, 2, 1, 0)
    assert point.cost_ms == (1_200 + 2_000) / 2


def test_the_setting_that_costs_least_is_recommended_and_clear_if_every_draw_agrees() -> None:
    recorded = [call(middle(300), end(400)) for _ in range(20)]
    found = compare({RECORDED: recorded, "patient": [call(middle(), end(700)) for _ in range(20)]})
    assert found.recommended is not None
    assert found.recommended.point.name == "patient"
    assert found.recommended.is_clear
    assert found.recommended.saved_ms == 2_400 - 700
    assert _point(found, "patient").wins_pct == 100


def test_a_cheap_cut_in_makes_the_quick_setting_the_best() -> None:
    recorded = [call(middle(300), end(400)) for _ in range(20)]
    found = compare({RECORDED: recorded, "patient": [call(middle(), end(700)) for _ in range(20)]}, cut_in_ms=100)
    assert found.recommended is not None
    assert found.recommended.point.name == RECORDED
    assert not found.recommended.is_clear


def test_a_difference_that_hangs_on_one_call_is_not_clear() -> None:
    same = [call(middle(), end(500)) for _ in range(9)]
    found = compare({RECORDED: [*same, call(middle(300), end(500))], "other": [*same, call(middle(), end(600))]})
    assert found.recommended is not None
    assert found.recommended.point.name == "other"
    assert not found.recommended.is_clear


def test_nothing_is_recommended_if_no_user_went_on_after_a_pause() -> None:
    assert compare({RECORDED: [call(end(700))], "quick": [call(end(300))]}).recommended is None


def test_a_setting_about_which_much_is_unknown_is_not_recommended() -> None:
    recorded = [call(middle(300), end(400)) for _ in range(10)]
    late = [*[call(middle(), end(100)) for _ in range(7)], *[call(middle(), end(None)) for _ in range(3)]]
    found = compare({RECORDED: recorded, "late": late})
    assert (_point(found, "late").unknown, _point(found, "late").is_known) == (3, False)
    assert found.recommended is not None
    assert found.recommended.point.name == RECORDED


def test_a_pause_that_the_recorded_setting_did_not_end_counts_for_no_setting() -> None:
    found = compare({RECORDED: [call(end(None), end(700))], "quick": [call(end(300), end(300))]})
    assert [(point.ends, point.unknown) for point in found.points] == [(1, 0), (1, 0)]


def test_the_same_seed_gives_the_same_ranges() -> None:
    calls = {RECORDED: [call(middle(number * 10 or None), end(400 + number)) for number in range(20)]}
    assert compare(calls, seed=3) == compare(calls, seed=3)


def test_verdicts_about_overlaps_are_counted_and_compared() -> None:
    stopped, ignored = DecidedOverlap(1, 100, 400, True, 400), DecidedOverlap(2, 900, 1_000, False)
    late = DecidedOverlap(1, 100, None, None, 400)
    own, other = compare_overlaps(
        {RECORDED: [call(overlaps=(stopped, ignored))], "words": [call(overlaps=(late, ignored))]}
    )
    assert (own.sounds, own.stops, own.goes_on, own.unknown, own.verdict_ms, own.changed) == (2, 1, 1, 0, 300, 0)
    assert (other.stops, other.goes_on, other.unknown, other.verdict_ms, other.changed) == (0, 1, 1, None, 1)
