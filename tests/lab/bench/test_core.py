"""The bench of the core measures the right things. No test checks how fast it is: that depends on the computer."""

from __future__ import annotations

import gc

import pytest

from duologue.core.leaves import JobKind
from duologue.core.settings import profile
from duologue.core.state import JobRecord, initial
from duologue.lab.bench import peer_machines
from duologue.lab.bench.core import BUDGETS, bench_core, deep_bytes, report

LIBRARIES = {"python_statemachine": "statemachine", "transitions": "transitions"}


# -- The result


def test_the_result_holds_a_positive_number_for_every_budget_and_every_contender() -> None:
    for library in LIBRARIES.values():
        pytest.importorskip(library, reason="pip install 'duologue[bench]'")
    result = bench_core(slices=1)
    timed = {f"us_per_{what}_{name}" for what in ("transition", "ignored") for name in peer_machines.PEERS}
    keys = {budget.key for budget in BUDGETS} | timed | {"us_per_moving_transition"}
    assert all(result[key] > 0 for key in keys)
    assert set(result["budget"]) == set(result["within_budget"]) == {budget.key for budget in BUDGETS}
    assert len(report(result)) == len(keys)


def test_a_ratio_is_their_time_over_ours() -> None:
    for library in LIBRARIES.values():
        pytest.importorskip(library, reason="pip install 'duologue[bench]'")
    result = bench_core(slices=1)
    theirs, ours = result["us_per_transition_python_statemachine"], result["us_per_transition"]
    assert result["ratio_python_statemachine"] == pytest.approx(theirs / ours)


def test_without_peers_the_core_is_measured_alone() -> None:
    result = bench_core(slices=1, with_peers=False)
    assert not any("statemachine" in key or "ratio" in key for key in result)
    assert result["us_per_transition"] > 0
    assert set(result["budget"]) == {"us_per_transition", "us_per_ignored", "bytes_per_state"}


def test_the_result_says_what_the_call_was_made_of_and_what_is_compared() -> None:
    result = bench_core(slices=1, with_peers=False)
    mix = result["mix"]
    assert 0 < mix["moving_transitions"] < mix["transitions"] < mix["events"]
    assert "lifecycle" in result["note"]


def test_a_missed_budget_is_marked_in_the_report() -> None:
    result = bench_core(slices=1, with_peers=False)
    result["us_per_transition"], result["within_budget"]["us_per_transition"] = 99.0, False
    assert report(result)[0] == ("core, per transition", "99.00 µs", "≤ 12 µs (missed)")


def test_garbage_collection_is_on_again_after_timing() -> None:
    assert gc.isenabled()
    bench_core(slices=1, with_peers=False)
    assert gc.isenabled()


# -- The size of a state


def test_what_all_states_share_costs_a_state_nothing() -> None:
    fresh = initial(profile("confirm"))
    assert deep_bytes(fresh) == deep_bytes(fresh._replace(settings=profile("words")))
    assert deep_bytes(fresh) == deep_bytes(fresh._replace(turn=200, final=True))


def test_what_a_state_alone_holds_costs_it_once() -> None:
    fresh = initial(profile("confirm"))
    large = int("1000000")
    once, twice = fresh._replace(at=large), fresh._replace(at=large, heard_ms=large)
    busy = fresh._replace(jobs=(JobRecord(1, JobKind.TOOL, False, large),))
    assert deep_bytes(fresh) < deep_bytes(once) == deep_bytes(twice) < deep_bytes(busy)
