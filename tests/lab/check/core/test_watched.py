"""A watched state notes what a step reads of it, and leads to the same state as the real machine."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from dataclasses import astuple, replace
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.draft import Draft
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
    assert after.changes() == ({FIELDS.index("retries"): 3}, {TIMER_INDEX[Timer.BEAT]: 5})


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


# -- A state may be read in many ways

OTHER = START._replace(retries=1, due=(1, *START.due[1:]))  # the states that differ in what is read below
RETRIES, LAST_PLACE = FIELDS.index("retries"), FIELDS.index("retries") - len(FIELDS)


def matches_by_name(s: Any) -> bool:
    match s:
        case State(retries=1):
            return True
    return False


def matches_by_place(s: Any) -> bool:
    match s:
        case [_, *rest]:
            return bool(rest[RETRIES - 1] == 1)
    return False


READINGS: dict[str, Callable[[Any], object]] = {
    "attribute": lambda s: s.retries,
    "attrgetter": attrgetter("retries"),
    "index": lambda s: s[RETRIES],
    "index from the end": lambda s: s[LAST_PLACE],
    "slice": lambda s: s[RETRIES : RETRIES + 1],
    "itemgetter": itemgetter(RETRIES),
    "tuple": lambda s: tuple(s)[RETRIES],
    "unpacked": lambda s: [*s][RETRIES],
    "zip": lambda s: dict(zip(FIELDS, s, strict=True))["retries"],
    "equal": lambda s: s == OTHER,
    "equal from the right": partial(operator.eq, OTHER),
    "not equal": lambda s: s != START,
    "equal to a tuple": lambda s: s == tuple(OTHER),
    "equal to a change": lambda s: s == s._replace(retries=1),
    "in": lambda s: s in (OTHER,),
    "contains": lambda s: OTHER.due in s,
    "isinstance": lambda s: isinstance(s, State) and s.retries,
    "class": lambda s: s.__class__ is State and s.retries,
    "match by name": matches_by_name,
    "match by place": matches_by_place,
    "repr": repr,
    "due": lambda s: s.due[0],
    "due in": lambda s: 1 in s.due,
    "due any": lambda s: any(s.due),
    "due max": lambda s: max(s.due),
    "due equal": lambda s: s.due == OTHER.due,
    "due not equal": lambda s: s.due != START.due,
    "due reversed": lambda s: list(reversed(s.due)),
    "due sorted": lambda s: sorted(s.due),
    "due repr": lambda s: repr(s.due),
}


@pytest.mark.parametrize("way", READINGS)
def test_every_way_to_read_a_state_has_the_real_answer_and_is_noted(way: str) -> None:
    read = READINGS[way]
    assert read(OTHER) != read(START), "the two states differ in what is read"
    for state in (START, OTHER):
        s, reads = watch(state)
        assert read(s) == read(state)
        assert reads.keys() & {RETRIES, FIELDS.index("due"), len(FIELDS)}


@pytest.mark.parametrize(
    "read",
    [
        hash,
        replace,
        astuple,
        State._replace,
        lambda s: s._asdict(),
        lambda s: s < START,
        lambda s: s.due[-1],
        lambda s: hash(s.due),
    ],
)
def test_what_a_watched_state_can_not_answer_is_an_error(read: Callable[[Any], object]) -> None:
    with pytest.raises((TypeError, AttributeError, IndexError)):
        read(watch()[0])


def test_lengths_are_those_of_the_state() -> None:
    s, _ = watch()
    assert (len(s), len(s.due), bool(s), bool(s.due)) == (len(START), len(START.due), True, True)
    assert isinstance(WATCHED(s, MACHINE.owners, 0), Draft)


def test_a_due_time_that_only_a_layer_between_has_changed_is_a_difference() -> None:
    s, reads = watch()
    first = WATCHED(s, MACHINE.owners, 0)
    first.arm(Timer.BEAT, 5)
    second = WATCHED(first.build(), MACHINE.owners, 0)
    second.retries = 0
    assert second.build() != s
    assert len(FIELDS) + TIMER_INDEX[Timer.BEAT] in reads


def test_what_the_caller_knows_is_the_same_in_all_states_of_a_family() -> None:
    """These fields aren't noted when they are read."""
    explorer = CoreExplorer(PROFILES["confirm"], QUICK[0], promised=())
    explorer.run(states_max=400)
    families: dict[object, set[object]] = {}
    for s in explorer.graph.states:
        known = tuple(getattr(s, name) for name in FIELDS if name in KNOWN)
        families.setdefault(family_of(s), set()).add(known)
    assert len(families) > 20
    assert all(len(known) == 1 for known in families.values())
