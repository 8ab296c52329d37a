"""What is known of one state is used in another only where nothing that was read differs."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import PENDING, Reply
from duologue.core.machine import MACHINE, ROWS, Machine
from duologue.core.rows import Row
from duologue.core.settings import PROFILES
from duologue.core.state import State, initial
from duologue.lab.check.core.abstract import abstract
from duologue.lab.check.core.alphabet import fresh, timers
from duologue.lab.check.core.check import CoreExplorer
from duologue.lab.check.core.outcomes import KnownEvents, KnownOutcomes, StepOutcome, Tree, outcome_of
from duologue.lab.check.core.watched import WatchedState
from tests.lab.check.core.broken_machines import OVER, TALK

START = abstract(initial(PROFILES["confirm"]))
RETRIES, TURN = State._fields.index("retries"), State._fields.index("turn")


def test_a_leaf_is_found_by_the_answers_to_its_questions_only() -> None:
    tree: Tree[str] = Tree()
    assert tree.find(("a", "b", "c")) is None
    tree.put({0: "a", 2: "c"}, "found")
    assert tree.find(("a", "other", "c")) == "found"
    assert tree.find(("a", "b", "other")) is None
    tree.put({0: "other"}, "short")
    assert tree.find(("other", 1, 2)) == "short"


def test_what_asks_no_question_holds_everywhere() -> None:
    tree: Tree[str] = Tree()
    tree.put({}, "always")
    assert tree.find(()) == "always"


def test_the_same_answers_never_lead_to_another_question() -> None:
    tree: Tree[str] = Tree()
    tree.put({0: "a", 2: "c"}, "found")
    with pytest.raises(AssertionError, match="the same question"):
        tree.put({0: "a", 1: "b"}, "found")


def test_an_outcome_changes_what_the_step_has_written() -> None:
    after: Any = WatchedState(START, {})._replace(retries=2)
    found = outcome_of(after, {}, steps=2)
    assert found.change is not None
    other = START._replace(check_ins=1)
    assert found.change.apply(other) == other._replace(retries=2)
    assert outcome_of(None, {}, steps=1) == StepOutcome(1, by_profile=False)


def test_events_that_are_always_ignored_are_left_out_and_still_counted() -> None:
    idle: Tree[StepOutcome] = Tree()
    open_one: Tree[StepOutcome] = Tree()
    idle.put({}, StepOutcome(2, by_profile=False))
    event = ev.EndRequested(0, 1)
    alphabet = KnownEvents([(event, idle), (event, open_one)])
    assert len(alphabet.visit()) == 2
    assert alphabet.idle_steps == 0
    assert alphabet.visit() == [(event, open_one)]
    assert alphabet.idle_steps == 2


def test_states_that_differ_in_what_nearly_every_step_reads_share_nothing() -> None:
    known = KnownOutcomes()
    assert known.family(START) is known.family(START._replace(retries=1))
    assert known.family(START) is not known.family(START._replace(turn=2))


@pytest.mark.parametrize("scope", [OVER, TALK], ids=lambda scope: scope.name)
def test_an_exploration_finds_every_step_of_the_machine(scope: Any) -> None:
    explorer = CoreExplorer(PROFILES["confirm"], scope)
    assert explorer.run(states_max=250).violations == []
    states, edges = explorer.graph.states, list(explorer.graph.edges())
    explored = range(0, edges[-1][0], 7)
    for number in explored:
        s = states[number]
        steps = [MACHINE.step(s, event)[0] for event in (*timers(s), *fresh(s, scope))]
        expected = [abstract(after, scope.late_turns) for after in steps if after is not s]
        assert [states[target] for source, target in edges if source == number] == expected


def test_a_machine_that_is_broken_for_one_value_of_a_counter_is_noticed() -> None:
    """The counter isn't in what the states of a family have in common, so only the noted reads tell them apart."""
    drops = Row(PENDING, (ev.ReplyAccepted,), Reply.NONE, None, lambda s, e: s.retries == 1)
    found = CoreExplorer(PROFILES["confirm"], TALK, Machine((drops, *ROWS)), violations_max=1).run(states_max=1_500)
    assert found.violations
    assert any("timer retry" in line for line in found.violations[0].trace)
