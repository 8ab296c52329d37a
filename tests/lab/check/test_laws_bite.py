"""Each law is worth what it notices: the machine is broken on purpose, and the checker finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.deadlines import LIMITS, DeadlineOwners
from duologue.core.draft import Draft
from duologue.core.leaves import Link, Outcome, Reply, Timer, User, Voice, Words
from duologue.core.machine import ROWS, Machine
from duologue.core.rows import Row, Rule, row
from duologue.core.rules import RULES
from duologue.core.settings import PROFILES
from duologue.lab.check.core import laws
from duologue.lab.check.core.check import CoreExplorer, Findings
from duologue.lab.check.core.promises import PROMISES
from duologue.lab.check.core.scopes import QUICK

WORK, TALK, LINK, _PAIR = QUICK


def explore(machine: Machine, scope: Any = TALK, violations_max: int = 30) -> Findings:
    """Explore a broken machine, by the laws alone, until there are so many complaints."""
    explorer = CoreExplorer(PROFILES["confirm"], scope, machine, violations_max=violations_max, promised=())
    return explorer.run(states_max=6_000)


def breaks(law: str, machine: Machine, scope: Any = TALK) -> bool:
    """Is this law broken? Most often the first complaint is about it; otherwise look further."""
    return any(violation.law == law for most in (1, 30) for violation in explore(machine, scope, most).violations)


def changed(match: str, change: Callable[[Row], Row | None], rows: tuple[Row, ...] = ROWS) -> tuple[Row, ...]:
    """The rows, with the ones whose name holds `match` changed or dropped."""
    found = [(row, change(row)) if match in row.name else (row, row) for row in rows]
    assert any(old is not new for old, new in found), f"no row is like {match!r}"
    return tuple(new for _, new in found if new is not None)


def drop(_: Row) -> None:
    return None


def with_rule(name: str, do: Callable[[Draft, Any], None]) -> tuple[Rule, ...]:
    return tuple(replace(rule, do=do) if rule.name == name else rule for rule in RULES)


def forgetful(machine: Machine, kind: type[ev.Event]) -> Machine:
    """The same machine, which no longer tells a fresh event of this kind from a stale one."""
    machine.accept_stale(kind)
    return machine


def test_the_real_machine_breaks_no_law_in_what_these_tests_explore() -> None:
    assert explore(Machine()).violations == []


# -- 1 Never stuck


def test_a_leaf_without_a_hard_deadline_is_found() -> None:
    owners = DeadlineOwners([limit for limit in LIMITS if limit.timer is not Timer.TALK])
    assert breaks(laws.NEVER_STUCK, Machine(owners=owners))


def test_a_deadline_that_no_row_handles_is_found() -> None:
    assert breaks(laws.NEVER_STUCK, Machine(changed("timer:prepare", drop)))


def test_rest_that_can_no_longer_be_reached_is_found() -> None:
    stay = changed("terminating + SessionClosed", lambda r: replace(r, target=None, do=_rearm_close))
    found = CoreExplorer(PROFILES["confirm"], LINK, Machine(stay), promised=()).run()
    assert any("rest can't be reached" in seen.message for seen in found.violations)


def _rearm_close(d: Draft, e: ev.Event) -> None:
    d.arm(Timer.CLOSE, 1)


def test_a_conversation_that_timers_alone_drive_in_circles_is_found() -> None:
    rows = changed("-> faulted", lambda r: replace(r, do=_uncounted_fault) if r.do else r)
    found = CoreExplorer(PROFILES["confirm"], LINK, Machine(rows), promised=()).run()
    assert any("timers alone lead round in a circle" in seen.message for seen in found.violations)


def _uncounted_fault(d: Draft, e: ev.Event) -> None:
    """A fault that no breaker counts."""


# -- 2 Nothing stale


@pytest.mark.parametrize("kind", [ev.AudioBuffered, ev.SessionReady, ev.TurnEnded, ev.ReplyFailed])
def test_an_event_with_an_old_id_that_still_counts_is_found(kind: type[ev.Event]) -> None:
    assert breaks(laws.NOTHING_STALE, forgetful(Machine(), kind))


# -- 3 Once


def test_two_requests_in_one_step_are_found() -> None:
    def ask_twice(d: Draft, e: ev.Event) -> None:
        next(rule for rule in RULES if rule.name == "ask").do(d, e)
        d.emit(fx.StartReply(d.reply_id + 1, 1, 1))

    assert breaks(laws.ONCE, Machine(rules=with_rule("ask", ask_twice)))


def test_a_request_dropped_without_its_cancel_is_found() -> None:
    def just_move_on(d: Draft, e: ev.Event) -> None:
        d.reply_id += 1

    rows = changed("WordsHeard/TextTyped [adds_to_question]", lambda r: replace(r, do=just_move_on))
    assert breaks(laws.ONCE, Machine(rows))


def test_a_second_output_for_one_call_is_found() -> None:
    def tell_twice(d: Draft, e: Any, job: Any) -> None:
        d.news = True
        for _ in range(2):
            d.emit(fx.PostOutput(job.call, Outcome.DONE))

    rows = changed("tool/delegated + JobFinished", lambda r: replace(r, do=tell_twice))
    assert breaks(laws.ONCE, Machine(rows), WORK)


# -- 4 Said and heard agree


def test_sound_that_is_cut_without_being_stopped_is_found() -> None:
    rows = changed("[takes_floor] -> stopping", lambda r: replace(r, do=None))
    assert breaks(laws.SAID_AND_HEARD_AGREE, Machine(rows))


def test_sound_that_is_cut_without_being_truncated_is_found() -> None:
    rows = changed("timer:stop -> silent", lambda r: replace(r, do=None))
    assert breaks(laws.SAID_AND_HEARD_AGREE, Machine(rows))


def test_sound_that_starts_over_the_user_is_found() -> None:
    def careless(d: Draft) -> bool:
        return d.reply is Reply.READY and d.voice is Voice.SILENT and d.link is Link.UP

    rules = tuple(replace(rule, when=careless) if rule.name == "speak" else rule for rule in RULES)
    assert breaks(laws.SAID_AND_HEARD_AGREE, Machine(rules=rules))


# -- 5 Idempotent


def test_an_event_that_works_twice_is_found() -> None:
    assert breaks(laws.IDEMPOTENT, forgetful(Machine(), ev.TextTyped))


# -- 6 Every sentence ends


def test_a_sentence_that_ends_for_no_reason_is_found() -> None:
    def end(d: Draft, e: ev.Event) -> None:
        d.emit(fx.StopPlayback(d.voice_id))
        d.emit(fx.TruncateReply(d.voice_id, d.heard_ms))

    extra = row(Voice.PLAYING, ev.SpeechStopped, Voice.SILENT, end)
    assert breaks(laws.EVERY_SENTENCE_ENDS, Machine((extra, *ROWS)))


# -- 7 Every view is honest


def test_a_move_that_a_view_does_not_know_is_found() -> None:
    extra = row(Link.IDLE, ev.RetryRequested, Link.UP)
    assert breaks(laws.VIEWS_ARE_HONEST, Machine((extra, *ROWS)))


# -- 8 No input is lost


def test_words_that_are_dropped_in_silence_are_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        d.words = Words.NONE

    rows = changed("timer:text -> quiet", lambda r: replace(r, do=forget))
    assert breaks(laws.NO_INPUT_IS_LOST, Machine(rows))


def test_a_turn_that_counts_as_answered_for_no_reason_is_found() -> None:
    def pretend(d: Draft, e: ev.Event) -> None:
        d.answered = d.asked

    rows = changed("committing + ReplyAccepted", lambda r: replace(r, do=pretend))
    assert breaks(laws.NO_INPUT_IS_LOST, Machine(rows))


# -- 9 Suspend then resume, and rules at rest


def test_a_pause_that_forgets_is_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        d.check_ins = 0
        d.asked_again = not d.asked_again

    rows = changed("suspended + ResumeRequested", lambda r: replace(r, do=forget))
    assert breaks(laws.PAUSING_CHANGES_NOTHING, Machine(rows), LINK)


def test_a_rule_that_is_never_at_rest_is_found() -> None:
    restless = Rule("restless", lambda d: d.link is Link.UP, lambda d, e: None, "")
    assert breaks(laws.RULES_AT_REST, Machine(rules=(*RULES, restless)))


# -- Promises


def test_a_dropped_row_that_breaks_no_law_breaks_a_promise() -> None:
    rows = changed("playing + SpeechStarted [onset_holds]", drop)
    found = CoreExplorer(PROFILES["confirm"], TALK, Machine(rows), promised=PROMISES).run(states_max=6_000)
    assert {seen.law for seen in found.violations} == {"promise"}
    assert found.violations[0].trace[-1].startswith("SpeechStarted")


def test_every_counterexample_is_a_shortest_trace() -> None:
    rows = changed("committing + ReplyAccepted", drop)
    found = CoreExplorer(PROFILES["confirm"], TALK, Machine(rows)).run(states_max=6_000)
    names = [line.split()[0].split("(")[0] for line in found.violations[0].trace]
    assert names[:2] == ["StartRequested", "SessionReady"]
    assert names[-1] == "ReplyAccepted"
    assert len(names) == 4


def test_user_leaves_are_explored() -> None:
    assert {User.TALKING, User.SETTLING} <= {s.user for s in _states()}


def _states() -> Any:
    explorer = CoreExplorer(PROFILES["confirm"], TALK, promised=())
    explorer.run(states_max=500)
    return explorer.graph.states
