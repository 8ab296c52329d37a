"""An exploration checks every state and step, and reports what is wrong with a shortest trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.draft import Draft
from duologue.core.leaves import Link, Timer, User
from duologue.core.machine import ROWS, Machine
from duologue.core.rows import Rule, row
from duologue.core.rules import RULES
from duologue.core.settings import PROFILES
from duologue.lab.check.core import laws
from duologue.lab.check.core.check import CoreExplorer
from duologue.lab.check.core.promises import PROMISES
from tests.lab.check.core.broken_machines import LINK, STATES_MAX, TALK, breaks, changed, drop, explore, forgetful

# The scope `link` without pauses and without what a reply does: small enough to explore every state of it.
CALM = LINK._replace(without=LINK.without | {ev.SuspendRequested, ev.LinkWobbled, ev.TextTyped, ev.SoundDismissed})


def test_the_real_machine_breaks_no_law_in_what_these_tests_explore() -> None:
    assert explore(Machine(), states_max=STATES_MAX).violations == []


# -- Never stuck


def test_a_deadline_that_no_row_handles_is_found() -> None:
    assert breaks(laws.NEVER_STUCK, Machine(changed("timer:prepare", drop)))


def test_rest_that_can_no_longer_be_reached_is_found() -> None:
    stay = changed("terminating + SessionClosed", lambda r: replace(r, target=None, do=_rearm_close))
    found = CoreExplorer(PROFILES["confirm"], CALM, Machine(stay), promised=()).run()
    assert any("no state of rest can be reached" in seen.message for seen in found.violations)


def _rearm_close(d: Draft, e: ev.Event) -> None:
    d.arm(Timer.CLOSE, 1)


def test_a_conversation_that_timers_alone_drive_in_circles_is_found() -> None:
    rows = changed("-> faulted", lambda r: replace(r, do=_uncounted_fault) if r.do else r)
    found = CoreExplorer(PROFILES["confirm"], CALM, Machine(rows), promised=()).run()
    assert any("timers alone lead back to the same state" in seen.message for seen in found.violations)


def _uncounted_fault(d: Draft, e: ev.Event) -> None:
    """A fault that no breaker counts."""


# -- Nothing stale


@pytest.mark.parametrize("kind", [ev.AudioBuffered, ev.SessionReady, ev.TurnEnded, ev.ReplyFailed])
def test_an_event_with_an_old_id_that_still_counts_is_found(kind: type[ev.Event]) -> None:
    assert breaks(laws.NOTHING_STALE, forgetful(Machine(), kind))


# -- Idempotent


def test_an_event_that_counts_twice_is_found() -> None:
    assert breaks(laws.IDEMPOTENT, forgetful(Machine(), ev.TextTyped))


# -- Every view is honest


def test_a_move_that_a_view_does_not_know_is_found() -> None:
    extra = row(Link.IDLE, ev.RetryRequested, Link.UP)
    assert breaks(laws.VIEWS_ARE_HONEST, Machine((extra, *ROWS)))


# -- Rules at rest


def test_a_rule_that_is_never_at_rest_is_found() -> None:
    restless = Rule("restless", lambda d: d.link is Link.UP, lambda d, e: None, "")
    assert breaks(laws.RULES_AT_REST, Machine(rules=(*RULES, restless)))


# -- Promises


def test_a_dropped_row_that_breaks_no_law_breaks_a_promise() -> None:
    rows = changed("playing + SpeechStarted [onset_holds]", drop)
    found = CoreExplorer(PROFILES["confirm"], TALK, Machine(rows), promised=PROMISES).run(states_max=STATES_MAX)
    assert {seen.law for seen in found.violations} == {"promise"}
    assert found.violations[0].trace[-1].startswith("SpeechStarted")


def test_every_counterexample_is_a_shortest_trace() -> None:
    rows = changed("committing + ReplyAccepted", drop)
    found = CoreExplorer(PROFILES["confirm"], TALK, Machine(rows)).run(states_max=STATES_MAX)
    names = [line.split()[0].split("(")[0] for line in found.violations[0].trace]
    assert names[:2] == ["StartRequested", "SessionReady"]
    assert names[-1] == "ReplyAccepted"
    assert len(names) == 4


def test_states_in_which_the_user_talks_are_explored() -> None:
    assert {User.TALKING, User.SETTLING} <= {s.user for s in _states()}


def _states() -> Any:
    explorer = CoreExplorer(PROFILES["confirm"], TALK, promised=())
    explorer.run(states_max=500)
    return explorer.graph.states
