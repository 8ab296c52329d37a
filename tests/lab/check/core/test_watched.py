"""A watched state notes what a step reads of it, and leads to the same state as the real machine."""

from __future__ import annotations

import random
from typing import Any

from duologue.core import events as ev
from duologue.core.leaves import TIMER_INDEX, Ask, Timer
from duologue.core.machine import MACHINE
from duologue.core.settings import PROFILES
from duologue.core.state import State, initial
from duologue.lab.check.core.abstract import abstract
from duologue.lab.check.core.alphabet import fresh, timers
from duologue.lab.check.core.check import CoreExplorer
from duologue.lab.check.core.scopes import QUICK
from duologue.lab.check.core.watched import KNOWN, PROFILE, Reads, WatchedDraft, WatchedState, answers, family_of

WATCHED: Any = WatchedDraft
START = abstract(initial(PROFILES["confirm"]))
FIELDS = State._fields


def watch(s: State = START) -> tuple[Any, Reads]:
    reads: Reads = {}
    return WatchedState(s, reads), reads


def test_each_field_is_noted_when_it_is_first_read() -> None:
    s, reads = watch()
    assert (s.retries, s.ask, s.retries) == (0, Ask.ANSWER, 0)
    assert reads == {FIELDS.index("retries"): 0, FIELDS.index("ask"): Ask.ANSWER}
    assert list(reads) == [FIELDS.index("retries"), FIELDS.index("ask")]


def test_a_field_that_the_family_has_in_common_is_not_noted() -> None:
    s, reads = watch()
    for name in KNOWN - {"settings"}:
        assert getattr(s, name) == getattr(START, name)
    assert reads == {}
    assert s[2:6] == START[2:6]


def test_one_due_time_is_noted_by_itself_and_all_of_them_as_one_answer() -> None:
    s, reads = watch()
    assert s.due[TIMER_INDEX[Timer.BEAT]] == 0
    assert list(reads) == [len(FIELDS) + TIMER_INDEX[Timer.BEAT]]
    assert tuple(s.due) == START.due
    assert reads[FIELDS.index("due")] == START.due


def test_what_was_written_is_no_read() -> None:
    s, reads = watch()
    d = WATCHED(s, MACHINE.owners, 0)
    d.retries = 3
    d.arm(Timer.BEAT, 5)
    after = d.build()
    assert (after.retries, after.due[TIMER_INDEX[Timer.BEAT]]) == (3, 5)
    assert reads == {}
    assert after.changes() == ({FIELDS.index("retries"): 3, FIELDS.index("at"): 0}, {TIMER_INDEX[Timer.BEAT]: 5})


def test_states_are_compared_by_what_was_written() -> None:
    s, reads = watch()
    same, other = s._replace(at=s.at), s._replace(retries=1)
    assert same == s
    assert reads == {}
    assert other != s
    assert list(reads) == [FIELDS.index("retries")]
    assert other.unwatched() == START._replace(retries=1)
    assert WatchedState(START._replace(retries=1), {}) != s


def test_every_question_has_an_answer() -> None:
    found = answers(START, "words")
    assert found[: len(FIELDS)] == tuple(START)
    assert found[PROFILE] == "words"
    assert len(family_of(START)) < len(FIELDS)


def test_a_step_on_a_watched_state_is_the_step_of_the_machine() -> None:
    explorer = CoreExplorer(PROFILES["confirm"], QUICK[0], promised=())
    explorer.run(states_max=400)
    moved = 0
    for s in random.Random(1).sample(explorer.graph.states, 25):
        for event in (*timers(s), *fresh(s, QUICK[0])):
            real, watched = MACHINE.advance(s, event), MACHINE.advance(watch(s)[0], event, WATCHED)
            assert (real is None) == (watched is None)
            if real is not None and watched is not None:
                moved += 1
                assert watched.build().unwatched() == real.build()
                assert (watched.effects, watched.fired) == (real.effects, real.fired)
    assert moved > 200


def test_a_pause_reads_all_due_times() -> None:
    up, _ = MACHINE.step(START, ev.StartRequested(0, 1))
    up, _ = MACHINE.step(up, ev.SessionReady(0, 1 + START.session_id))
    s, reads = watch(up)
    d = MACHINE.advance(s, ev.SuspendRequested(0, 9), WATCHED)
    assert d is not None
    assert FIELDS.index("due") in reads
    assert d.build().unwatched() == MACHINE.step(up, ev.SuspendRequested(0, 9))[0]
