"""Explorations of several profiles make a step that is the same in all of them once."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import Overlap, Voice
from duologue.core.machine import ROWS, Machine
from duologue.core.rows import Row
from duologue.core.settings import PROFILES
from duologue.core.state import initial
from duologue.lab.check.core.check import CoreExplorer, explore_profiles
from duologue.lab.check.core.sharing import SharedSteps
from duologue.lab.check.core.watched import PROFILE
from tests.lab.check.core.broken_machines import LINK, OVER

NAMES = tuple(PROFILES)


def contents(explorer: CoreExplorer) -> list[tuple[Any, ...]]:
    """Every state that was found, without its settings."""
    return [tuple(s)[1:] for s in explorer.graph.states]


@pytest.mark.parametrize("scope", [LINK, OVER], ids=lambda scope: scope.name)
def test_each_profile_finds_the_same_states_and_steps_as_if_it_was_explored_alone(scope: Any) -> None:
    shared = SharedSteps([scope.narrow(PROFILES[name]) for name in NAMES])
    for name in NAMES:
        together, alone = CoreExplorer(PROFILES[name], scope, shared=shared), CoreExplorer(PROFILES[name], scope)
        assert together.run(states_max=250).violations == alone.run(states_max=250).violations == []
        assert contents(together) == contents(alone)
        assert list(together.graph.edges()) == list(alone.graph.edges())
        assert together.graph.labels == alone.graph.labels
        assert len(together.timer_edges) == len(alone.timer_edges)


def test_what_happened_in_a_profile_is_found_in_one_of_them() -> None:
    shared = SharedSteps([LINK.narrow(PROFILES[name]) for name in NAMES])
    together = [CoreExplorer(PROFILES[name], LINK, shared=shared).run(states_max=200) for name in NAMES]
    for name in NAMES:
        alone = CoreExplorer(PROFILES[name], LINK).run(states_max=200)
        assert alone.fired <= {row for found in together for row in found.fired}
        assert alone.tested <= {promise for found in together for promise in found.tested}
        for view, moves in alone.moves.items():
            assert moves <= {move for found in together for move in found.moves[view]}


def test_profiles_are_explored_in_the_given_order() -> None:
    found = explore_profiles([PROFILES["words"], PROFILES["confirm"]], LINK._replace(without=frozenset(ev.EVENTS)))
    assert [one.profile for one in found] == ["words", "confirm"]
    assert all(one.complete and one.states == 1 for one in found)


@pytest.mark.parametrize("broken", NAMES)
def test_a_machine_that_is_broken_in_one_profile_only_is_noticed_there(broken: str) -> None:
    machine = Machine((_without_verdicts(PROFILES[broken].overlap), *ROWS))
    shared = SharedSteps([OVER.narrow(PROFILES[name]) for name in NAMES])
    noticed = [
        name
        for name in NAMES
        if CoreExplorer(PROFILES[name], OVER, machine, violations_max=1, shared=shared).run(states_max=400).violations
    ]
    assert noticed == [broken]


def _without_verdicts(overlap: Overlap) -> Row:
    """A row that drops every verdict about the user's sound if the settings have this overlap."""
    return Row((Voice.PLAYING, Voice.HELD), (ev.OverlapJudged,), None, None, lambda s, e: s.settings.overlap is overlap)


def test_only_values_in_which_the_profiles_differ_are_watched() -> None:
    shared = SharedSteps([PROFILES["confirm"], PROFILES["words"]])
    assert set(shared.differing) == {"name", "overlap", "greets", "dead_air_ms", "check_ins_max", "hangs_up"}
    assert shared.settings.beat_ms == PROFILES["words"].beat_ms
    assert shared.reads == {}
    assert shared.settings.overlap is Overlap.CONFIRM
    assert shared.reads == {PROFILE: "confirm"}


def test_the_settings_have_the_values_of_the_profile_that_is_explored_now() -> None:
    shared = SharedSteps([PROFILES["confirm"], PROFILES["words"]])
    before = initial(shared.settings)
    shared.begin(PROFILES["words"])
    assert (shared.settings.overlap, shared.settings.greets) == (Overlap.WORDS, True)
    assert before == initial(shared.settings), "a state is the same value in every profile"


def test_only_a_step_that_reads_such_a_value_is_taken_again() -> None:
    shared = SharedSteps([OVER.narrow(PROFILES[name]) for name in NAMES])
    explorer = CoreExplorer(PROFILES["confirm"], OVER, shared=shared)
    explorer.run(states_max=400)
    known = [found for s in explorer.graph.states if (found := shared.find(s)) is not None]
    again = {
        type(event)
        for found in known
        for event, target in zip(found.events, found.targets, strict=True)
        if target is None
    }
    assert known
    assert again == {ev.SpeechStarted, ev.StartRequested}


def test_what_is_forgotten_is_made_again() -> None:
    shared = SharedSteps([LINK.narrow(PROFILES[name]) for name in NAMES])
    explorer = CoreExplorer(PROFILES["confirm"], LINK, shared=shared)
    explorer.run(states_max=50)
    assert shared.find(explorer.graph.states[0]) is not None
    shared.forget()
    assert shared.find(explorer.graph.states[0]) is None
