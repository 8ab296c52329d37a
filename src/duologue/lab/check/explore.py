"""A breadth-first explorer over any pure machine.

The explorer does not know about conversations. It gets start states and a function from a state to its
labelled successors, and builds the graph. Rule: states are found in order of distance, so the trace to any
state is a shortest one.
"""

from __future__ import annotations

import gc
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

S = TypeVar("S", bound=Hashable)
E = TypeVar("E")


@dataclass(slots=True)
class Graph(Generic[S, E]):
    """The states in order of discovery, and all edges. A state's number is its index in `states`. For each state,
    `parents` has the number of the state from which it was first reached, and `labels` the event that led to it."""

    states: list[S] = field(default_factory=list)
    index: dict[S, int] = field(default_factory=dict)
    parents: array[int] = field(default_factory=lambda: array("q"))
    labels: list[E | None] = field(default_factory=list)
    sources: array[int] = field(default_factory=lambda: array("q"))
    targets: array[int] = field(default_factory=lambda: array("q"))
    complete: bool = True
    visited: int = 0  # the states whose successors are known; breadth first, so these are the nearest ones

    def add(self, state: S, parent: int, label: E | None) -> int:
        """Add a state, unless it was already added. In both cases, returns the number of the state."""
        known = self.index.get(state)
        if known is not None:
            return known
        number = len(self.states)
        self.index[state] = number
        self.states.append(state)
        self.parents.append(parent)
        self.labels.append(label)
        return number

    def trace(self, number: int) -> list[E]:
        """The events of a shortest path to this state."""
        found: list[E] = []
        while self.parents[number] >= 0:
            label = self.labels[number]
            assert label is not None
            found.append(label)
            number = self.parents[number]
        return found[::-1]

    def depth(self) -> int:
        """The number of events up to which every trace was explored. If the graph is complete, longer traces were
        explored too."""
        return len(self.trace(min(self.visited, len(self.states) - 1)))

    def edges(self) -> Iterator[tuple[int, int]]:
        """Every step that was found, as (source, target)."""
        return zip(self.sources, self.targets, strict=True)


def explore(
    graph: Graph[S, E],
    starts: Iterable[S],
    successors: Callable[[int, S], Iterable[tuple[E, S]]],
    states_max: int,
    progress: Callable[[int, int], None] | None = None,
    first: int = 0,
) -> None:
    """Visit every reachable state once, beginning with the state of number `first`. If more than `states_max` states
    are found, stop and set `graph.complete` to false."""
    for state in starts:
        graph.add(state, -1, None)
    with without_garbage_collection():
        _visit_all(graph, successors, states_max, progress, first)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Turn the garbage collector off inside a `with` block. States are values without reference cycles, so a search for
    cycles among all of them would find nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _visit_all(
    graph: Graph[S, E],
    successors: Callable[[int, S], Iterable[tuple[E, S]]],
    states_max: int,
    progress: Callable[[int, int], None] | None,
    number: int,
) -> None:
    known, add_source, add_target = graph.index.get, graph.sources.append, graph.targets.append
    while number < len(graph.states):
        for label, target in successors(number, graph.states[number]):
            found = known(target)
            if found is None:
                found = graph.add(target, number, label)
            add_source(number)
            add_target(found)
        number += 1
        graph.visited = number
        if progress and number % 1000 == 0:
            progress(number, len(graph.states))
        if len(graph.states) > states_max:
            graph.complete = False
            break


def can_reach(graph: Graph[S, E], goals: Iterable[int]) -> bytearray:
    """For each state: 1 if at least one goal can be reached from it, otherwise 0."""
    incoming: list[list[int]] = [[] for _ in graph.states]
    for source, target in graph.edges():
        incoming[target].append(source)
    reached = bytearray(len(graph.states))
    waiting = list(goals)
    for number in waiting:
        reached[number] = 1
    while waiting:
        for source in incoming[waiting.pop()]:
            if not reached[source]:
                reached[source] = 1
                waiting.append(source)
    return reached


def find_cycle(count: int, edges: Iterable[tuple[int, int]]) -> int | None:
    """A node from which a cycle can be reached, or None if there is no cycle. To find it, nodes without outgoing edges
    are removed until no such node is left. From every node that then remains, a cycle can be reached."""
    outgoing = [0] * count
    incoming: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        outgoing[source] += 1
        incoming[target].append(source)
    waiting = [node for node in range(count) if not outgoing[node]]
    left = count
    while waiting:
        left -= 1
        for source in incoming[waiting.pop()]:
            outgoing[source] -= 1
            if not outgoing[source]:
                waiting.append(source)
    if not left:
        return None
    return next(node for node in range(count) if outgoing[node])
