"""An exploration of hearing checks every state and step, and reports what is wrong with a shortest trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.core.events import SuspendRequested
from duologue.core.leaves import Timer
from duologue.core.machine import ROWS, Machine
from duologue.core.settings import PROFILES
from duologue.core.state import initial
from duologue.hearing.inputs import ButtonReleased
from duologue.hearing.machine import HEARING_ROWS
from duologue.hearing.state import HearingState, initial_hearing
from duologue.lab.check.hearing.abstract import NOW, PAST_MS
from duologue.lab.check.hearing.check import HearingExplorer, HearingNode, differences
from duologue.lab.check.hearing.laws import EVERY_WAIT_ENDS, SAME_AGAIN
from duologue.lab.check.hearing.ledger import LedgerChoice
from duologue.lab.check.hearing.product import Posted
from duologue.lab.check.hearing.report import QUICK_STATES_MAX
from duologue.lab.check.hearing.scopes import QUICK, QUICK_NAMES, SCOPES
from duologue.ports.ears import SpeechBegan
from duologue.turns.controller import Linguistic
from duologue.turns.own_speech import OwnSpeech
from tests.lab.check.hearing.broken_hearing import SENT, TINY, changed


def test_a_quick_scope_breaks_no_law() -> None:
    """`duologue check --quick`, which runs beside the tests, explores all of them and sees that every row fires."""
    assert HearingExplorer("confirm", SCOPES["early"]).run(QUICK_STATES_MAX).violations == []


@pytest.mark.sweep
def test_the_quick_scopes_break_no_law_and_fire_every_row() -> None:
    found = [HearingExplorer("confirm", scope).run(QUICK_STATES_MAX) for scope in QUICK]
    assert [violation for findings in found for violation in findings.violations] == []
    fired = {index for findings in found for index in findings.fired}
    unfired = {row.name for index, row in enumerate(HEARING_ROWS) if index not in fired}
    assert unfired == set()


class Forgetful(HearingExplorer):
    """An exploration whose abstraction forgets something."""

    forget: Callable[[HearingState], HearingState]

    def reduce(self, node: HearingNode) -> HearingNode:
        node = super().reduce(node)
        return node._replace(state=node.state._replace(hearing=self.forget(node.state.hearing)))


def without(scope: str, name: str, value: Any) -> Any:
    return pytest.param(scope, lambda s: s._replace(**{name: value}), id=name)


def without_of_utterances(scope: str, name: str, value: Any) -> Any:
    def forget(s: HearingState) -> HearingState:
        return s._replace(known=tuple(one._replace(**{name: value}) for one in s.known))

    return pytest.param(scope, forget, id=f"{name} of utterances")


LONG_AGO = NOW - PAST_MS


@pytest.mark.parametrize(
    ("scope", "forget"),
    [
        without("echo", "began_at", LONG_AGO),
        without("stray", "ended_at", LONG_AGO),
        without("again", "end_reported_at", LONG_AGO),
        without("textual", "turn_at", LONG_AGO),
        without("textual", "text_at", LONG_AGO),
        without("line", "deaf_at", LONG_AGO),
        without("echo", "heard_at", LONG_AGO),
        without("again", "newest", 0),
        without("again", "said_by", 0),
        without("typed", "sent_turn", 0),
        without("again", "speaking", False),
        without("long", "button", False),
        without("unnumbered", "hears_onsets", False),
        without("textual", "reads_along", False),
        without("frames", "has_frames", False),
        without("frames", "pause", None),
        without("stray", "wait", None),
        without("early", "question", None),
        without("echo", "agent_words", ()),
        without("doubtful", "first_texts", ()),
        without("echo", "own", OwnSpeech()),
        without("textual", "said", Linguistic()),
        pytest.param("doubtful", lambda s: s._replace(said=replace(s.said, confidence=1.0)), id="confidence"),
        without_of_utterances("frames", "sound", None),
        without_of_utterances("firm", "over_ms", -1),
        without_of_utterances("echo", "began_at", 0),
        without_of_utterances("long", "has_begun", True),
        without_of_utterances("long", "was_dismissed", False),
        without_of_utterances("textual", "taken", ()),
        without_of_utterances("textual", "is_final", False),
    ],
)
def test_a_quick_scope_notices_an_abstraction_that_forgets(
    scope: str, forget: Callable[[HearingState], HearingState]
) -> None:
    """Each state is also reached with the real times and ids, and there the machines still know it."""
    assert scope in QUICK_NAMES
    explorer = Forgetful("confirm", SCOPES[scope], violations_max=1)
    explorer.forget = forget
    (violation,) = explorer.run(QUICK_STATES_MAX).violations
    assert violation.law == SAME_AGAIN


def test_a_difference_names_the_fields() -> None:
    one = initial_hearing(initial(PROFILES["confirm"]))
    assert differences(one, one) == []
    assert differences(one, one._replace(text_at=5, core=one.core._replace(turn=3))) == ["turn", "text_at"]


def test_a_violation_has_a_shortest_trace() -> None:
    rows = changed("[due_endpoint]", lambda _: None)
    (violation,) = HearingExplorer("confirm", TINY, rows, violations_max=1).run().violations
    assert [line.split()[1].partition("(")[0] for line in violation.trace] == ["SpeechBegan", "Final", "TimePassed"]
    assert "up/settling/silent/none" in violation.trace[1]


def test_an_exploration_that_is_too_large_is_not_complete() -> None:
    found = HearingExplorer("confirm", SENT).run(states_max=20)
    assert not found.complete
    assert HearingExplorer("confirm", TINY).run().complete


BEGAN = LedgerChoice(SpeechBegan(2), 1, 2)


def test_a_trace_is_followed_as_far_as_it_is_possible_and_explored_from_there() -> None:
    explorer = HearingExplorer("confirm", TINY)
    assert explorer.follow([BEGAN, LedgerChoice(ButtonReleased(0))], states_max=12) == []
    assert explorer.graph.trace(1) == [BEGAN]
    assert len(explorer.graph.states) > 12
    assert all(explorer.graph.trace(number)[0] == BEGAN for number in range(1, len(explorer.graph.states)))
    assert len(explorer.real) == len(explorer.graph.states)


def test_a_wait_without_an_end_is_found_from_the_end_of_a_trace() -> None:
    endless = tuple(
        replace(row, on=tuple(on for on in row.on if on not in (Timer.TALK, Timer.SETTLE, Timer.READY))) for row in ROWS
    )
    assert HearingExplorer("confirm", TINY).follow([BEGAN], states_max=0) == []
    explorer = HearingExplorer("confirm", TINY, machine=Machine(endless))
    assert EVERY_WAIT_ENDS in {one.law for one in explorer.follow([BEGAN], states_max=0)}


def test_a_pause_is_no_wait_that_must_end() -> None:
    pause = LedgerChoice(Posted(SuspendRequested))
    assert HearingExplorer("confirm", SCOPES["line"]).follow([BEGAN, pause], states_max=0) == []
