"""The schedule of faults: data that one seed makes."""

from __future__ import annotations

from duologue.lab.torture.faults import CALM_S, KINDS, PlannedFault, schedule


def test_one_seed_makes_one_schedule() -> None:
    assert schedule(7, 3, 60.0, 3.0) == schedule(7, 3, 60.0, 3.0)
    assert schedule(7, 3, 60.0, 3.0) != schedule(8, 3, 60.0, 3.0)
    assert {"kill", "freeze"} <= {fault.kind for fault in schedule(1, 2, 10.0, 3.0)}


def test_faults_are_in_order_within_the_run_and_at_its_nodes() -> None:
    faults = schedule(3, 2, 500.0, 3.0)
    times = [fault.at_s for fault in faults]
    assert times == sorted(times)
    assert times[0] >= CALM_S
    assert times[-1] < 500.0
    assert {fault.node for fault in faults} == {0, 1}
    assert {fault.kind for fault in faults} == {kind for kind, _ in KINDS}


def test_some_freezes_are_shorter_and_some_longer_than_a_lease() -> None:
    lasts_s = [fault.lasts_s for fault in schedule(3, 2, 500.0, 3.0) if fault.kind == "freeze"]
    assert min(lasts_s) < 3.0 < max(lasts_s)


def test_a_fault_is_shown_with_its_time_node_length_and_amount() -> None:
    assert str(PlannedFault(2.5, "freeze", 1, lasts_s=1.25)) == "   2.5 s  freeze of b for 1.2 s"
    assert str(PlannedFault(12.0, "clock", 0, amount=-30)) == "  12.0 s  clock of a (-30)"
