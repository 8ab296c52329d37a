"""What is measured is the right thing. How fast it is, no test asks: that depends on the machine."""

from __future__ import annotations

import gc
import importlib
import logging

import pytest

from duologue.core.errors import DuologueError
from duologue.core.leaves import JobKind
from duologue.core.settings import profile
from duologue.core.state import JobRecord, initial
from duologue.core.views import LIFECYCLE
from duologue.lab.bench import peer_machines
from duologue.lab.bench.core import BUDGETS, bench_core, deep_bytes, report
from duologue.lab.bench.representative_call import build_call

LIBRARIES = {"python_statemachine": "statemachine", "transitions": "transitions"}


def build_peer(name: str) -> peer_machines.MakeWalker:
    pytest.importorskip(LIBRARIES[name])
    return peer_machines.PEERS[name]()


# -- The peers


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_reproduces_the_lifecycle_of_the_call(name: str) -> None:
    moves = build_call().lifecycle
    assert peer_machines.follow(build_peer(name), moves).seen == [target for _, target in moves]


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_makes_every_move_of_the_table_and_no_other(name: str) -> None:
    make, allowed = build_peer(name), LIFECYCLE.allowed()
    for state in LIFECYCLE.states:
        for target in LIFECYCLE.states:
            walker = peer_machines.follow(make, path_to(state))
            walker.seen.clear()
            walker.send(peer_machines.event_to(target))
            assert walker.seen == ([target] if (state, target) in allowed else []), (state, target)


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_ignores_a_useless_event_without_raising(name: str) -> None:
    make, moves = build_peer(name), build_call().lifecycle
    for state in dict.fromkeys(build_call().shown_when_ignored()):
        walker = peer_machines.park(make, state, moves)
        noted = list(walker.seen)
        walker.send(peer_machines.useless_event(state))
        assert walker.seen == noted


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_peer_that_takes_another_path_is_not_timed(name: str) -> None:
    with pytest.raises(DuologueError, match="the peer entered"):
        peer_machines.follow(build_peer(name), [("idle", "idle")])


@pytest.mark.parametrize("name", peer_machines.PEERS)
def test_a_missing_library_says_how_to_install_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def import_nothing(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(importlib, "import_module", import_nothing)
    with pytest.raises(DuologueError, match=r"pip install 'duologue\[bench\]'"):
        peer_machines.PEERS[name]()


def test_the_logs_of_a_peer_are_quiet_only_while_it_is_timed() -> None:
    logger = logging.getLogger("transitions")
    before = logger.level
    with peer_machines.quiet_logs():
        assert logger.level == logging.ERROR
    assert logger.level == before


def path_to(state: str) -> list[tuple[str, str]]:
    """A shortest way from the first state, along the table."""
    paths: dict[str, list[tuple[str, str]]] = {LIFECYCLE.states[0]: []}
    for source in (queue := [LIFECYCLE.states[0]]):
        for target in LIFECYCLE.states:
            if (source, target) in LIFECYCLE.allowed() and target not in paths:
                paths[target] = [*paths[source], (source, target)]
                queue.append(target)
    return paths[state]


# -- The result


def test_the_result_holds_a_positive_number_for_every_budget_and_every_contender() -> None:
    for library in LIBRARIES.values():
        pytest.importorskip(library)
    result = bench_core(slices=1)
    timed = {f"us_per_{what}_{name}" for what in ("transition", "ignored") for name in peer_machines.PEERS}
    keys = {budget.key for budget in BUDGETS} | timed | {"us_per_moving_transition"}
    assert all(result[key] > 0 for key in keys)
    assert set(result["budget"]) == set(result["within_budget"]) == {budget.key for budget in BUDGETS}
    assert len(report(result)) == len(keys)


def test_a_ratio_is_their_time_over_ours() -> None:
    for library in LIBRARIES.values():
        pytest.importorskip(library)
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


def test_a_budget_for_costs_is_a_ceiling_and_one_for_ratios_a_floor() -> None:
    budgets = {budget.key: budget for budget in BUDGETS}
    assert budgets["us_per_transition"].holds(12)
    assert not budgets["us_per_transition"].holds(12.1)
    assert budgets["ratio_transitions"].holds(1)
    assert not budgets["ratio_transitions"].holds(0.9)


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
