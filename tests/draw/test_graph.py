"""Diagrams say what the machine does: no row, rule or amendment is left out, and nothing is made up."""

from __future__ import annotations

import pytest

from duologue.core.events import EVENTS
from duologue.core.leaves import Leaf, Timer
from duologue.core.machine import MACHINE, ROWS
from duologue.core.rows import row
from duologue.core.views import VIEWS, View
from duologue.draw.graph import REGIONS, Diagram, region_diagram, region_rows, row_label, view_diagram
from duologue.draw.rule_moves import rule_moves

each_region = pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS)


each_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


def labels_of(diagram: Diagram) -> dict[tuple[str, str], list[str]]:
    labels: dict[tuple[str, str], list[str]] = {}
    for edge in diagram.edges:
        labels.setdefault((edge.source, edge.target), []).extend(edge.labels)
    return labels


def test_every_row_belongs_to_exactly_one_region() -> None:
    found = [found for region in REGIONS.values() for found in region_rows(region)]
    assert sorted(map(id, found)) == sorted(map(id, ROWS))


@each_region
def test_every_row_that_moves_is_in_its_regions_diagram(region: type[Leaf]) -> None:
    labels = labels_of(region_diagram(region))
    for found in region_rows(region):
        for source in found.sources:
            if found.target not in (None, source):
                assert row_label(found) in labels[source.value, found.target.value], found.name


@each_region
def test_a_region_shows_no_move_that_neither_a_row_nor_a_rule_makes(region: type[Leaf]) -> None:
    made = {(source.value, (found.target or source).value) for found in region_rows(region) for source in found.sources}
    made |= {(source.value, target.value) for _, source, target in rule_moves(region)}
    assert set(labels_of(region_diagram(region))) <= made


@each_region
def test_rows_between_the_same_two_states_share_one_edge(region: type[Leaf]) -> None:
    ends = [(edge.source, edge.target, edge.kind) for edge in region_diagram(region, loops=True).edges]
    assert len(ends) == len(set(ends))


@each_region
def test_every_state_is_drawn_once_and_one_of_them_is_the_start(region: type[Leaf]) -> None:
    diagram = region_diagram(region)
    assert [node.name for node in diagram.nodes] == [leaf.value for leaf in region]
    assert sum(node.start for node in diagram.nodes) == 1


@each_region
def test_every_state_can_be_reached_from_the_start(region: type[Leaf]) -> None:
    """True only because the moves of rules are drawn too: no row makes the agent's sound start."""
    diagram = region_diagram(region)
    reached = {node.name for node in diagram.nodes if node.start}
    for _ in diagram.nodes:
        reached |= {edge.target for edge in diagram.edges if edge.source in reached}
    assert reached == {node.name for node in diagram.nodes}


@each_region
def test_loops_are_counted_and_left_out_unless_requested(region: type[Leaf]) -> None:
    quiet, full = region_diagram(region), region_diagram(region, loops=True)
    stays = [found for found in region_rows(region) if found.target is None or found.target in found.sources]
    assert quiet.loops == full.loops == len(stays)
    assert not any(edge.is_loop for edge in quiet.edges)
    shown = labels_of(full)
    for found in stays:
        stay = found.sources if found.target is None else (found.target,)
        assert all(row_label(found) in shown[leaf.value, leaf.value] for leaf in stay)


@each_region
def test_a_state_is_timed_if_a_hard_deadline_ends_it(region: type[Leaf]) -> None:
    timed = {node.name for node in region_diagram(region).nodes if node.timed}
    hard = {leaf for limit in MACHINE.owners.limits if limit.hard for leaf in limit.leaves} | set(MACHINE.owners.jobs)
    assert timed == {leaf.value for leaf in region if leaf in hard}


def test_a_label_names_timers_and_has_the_guard_in_brackets() -> None:
    def may_go(*_: object) -> bool:
        return True

    timer, event = next(iter(Timer)), EVENTS[0]
    label = row_label(row(ROWS[0].sources, (event, timer), ROWS[0].target, when=may_go))
    assert label == f"{event.__name__}, timer:{timer.value} [may_go]"


@each_view
def test_every_state_and_every_move_of_a_view_is_drawn(view: View) -> None:
    diagram = view_diagram(view)
    assert tuple(node.name for node in diagram.nodes) == view.states
    drawn = {(edge.source, edge.target, edge.kind) for edge in diagram.edges}
    expected = {(source, target, "source") for source, target in view.source_moves()}
    expected |= {(amendment.source, amendment.target, "amended") for amendment in view.amendments}
    assert drawn == expected


@each_view
def test_an_amended_move_says_why(view: View) -> None:
    labels = labels_of(view_diagram(view))
    for source, target, why in view.amendments:
        assert why in labels[source, target]
