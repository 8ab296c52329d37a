"""The explorer on machines of a few numbers."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from duologue.lab.check.explore import Graph, can_reach, explore, find_cycle, without_garbage_collection


def steps_up(_: int, state: int) -> Iterator[tuple[str, int]]:
    """From each number to the next and to its double, up to 20."""
    for name, target in (("next", state + 1), ("double", state * 2)):
        if target <= 20:
            yield name, target


def explored(states_max: int = 1_000) -> Graph[int, str]:
    graph: Graph[int, str] = Graph()
    explore(graph, [1], steps_up, states_max)
    return graph


def test_every_reachable_state_is_found_once() -> None:
    graph = explored()
    assert sorted(graph.states) == list(range(1, 21))
    assert graph.complete


def test_a_trace_is_a_shortest_path() -> None:
    graph = explored()
    assert graph.trace(graph.index[1]) == []
    assert len(graph.trace(graph.index[20])) == 5  # 2, 4, 5, 10, 20
    assert graph.trace(graph.index[16]) in (["next", *["double"] * 3], ["double"] * 4)


def test_every_step_is_an_edge() -> None:
    graph = explored()
    edges = {(graph.states[source], graph.states[target]) for source, target in graph.edges()}
    assert edges == {(state, target) for state in range(1, 21) for _, target in steps_up(0, state)}


def test_an_exploration_beyond_the_bound_is_not_complete() -> None:
    assert not explored(states_max=5).complete


def test_a_bounded_exploration_says_up_to_which_length_it_has_every_trace() -> None:
    graph = explored(states_max=5)
    first = graph.states[graph.visited]
    assert graph.depth() == len(graph.trace(graph.index[first])) == 3
    near = {1}
    for _ in range(graph.depth()):
        near |= {target for state in near for _, target in steps_up(0, state)}
    assert near <= set(graph.states)


def test_an_exploration_can_begin_in_the_middle() -> None:
    graph: Graph[int, str] = Graph()
    graph.add(1, -1, None)
    graph.add(18, 0, "far")
    explore(graph, (), steps_up, 1_000, first=1)
    assert graph.states == [1, 18, 19, 20]
    assert graph.trace(2) == ["far", "next"]


def test_progress_is_reported() -> None:
    graph: Graph[int, str] = Graph()
    seen: list[int] = []
    explore(graph, range(2_500), lambda number, state: [], 10_000, lambda visited, found: seen.append(visited))
    assert seen == [1_000, 2_000]


def test_a_goal_is_reached_from_smaller_numbers_only() -> None:
    graph = explored()
    reaches = can_reach(graph, [graph.index[10]])
    assert {state for state, reached in zip(graph.states, reaches, strict=True) if reached} == set(range(1, 11))


def test_a_cycle_is_found() -> None:
    assert find_cycle(3, [(0, 1), (1, 2)]) is None
    assert find_cycle(4, [(0, 1), (1, 2), (2, 1), (2, 3)]) in (0, 1, 2)


def test_garbage_is_collected_again_after_an_exploration() -> None:
    assert gc.isenabled()
    with without_garbage_collection():
        explored()
        assert not gc.isenabled()
    assert gc.isenabled()
