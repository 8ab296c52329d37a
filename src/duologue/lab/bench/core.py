"""Measures what one step of the core costs, compared with two state machine libraries that do less.

Measures the CPU time of this thread, in many short slices, and takes the fastest slice. The contenders take turns, so
that a busy moment of the computer affects all of them. Garbage collection is off meanwhile. The time of the loop around
the steps is part of every number. Rule: every event is applied to the same state as in the recorded call, and all
events and states are built before the clock starts.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, NamedTuple

from duologue.core.machine import step
from duologue.core.settings import Settings
from duologue.core.state import State

from .budget import Budget
from .call_player import PlayedCall, PlayedStep
from .peer_machines import PEERS, MakeWalker, event_to, follow, park, quiet_logs, useless_event
from .representative_call import build_call

SLICES = 150
_IGNORED_ROUNDS = 20  # one round of ignored events is too short to time

NOTE = (
    "The core: one transition of all five regions with effects and deadlines, on average over the call. The peers: "
    "one move of the lifecycle view's flat table, without guards, payload or deadlines. us_per_moving_transition "
    "omits the core's transitions that change no region's leaf, such as playback progress."
)


BUDGETS: tuple[Budget, ...] = (
    Budget("us_per_transition", "core, per transition", 12, "µs"),
    Budget("us_per_ignored", "core, per ignored event", 1, "µs"),
    Budget("bytes_per_state", "core, busiest state of the call", 4096, "bytes"),
    Budget("ratio_python_statemachine", "python-statemachine / core, per transition", 15, "x", at_least=True),
    Budget("ratio_transitions", "transitions / core, per transition", 1, "x", at_least=True),
    Budget("ratio_transitions_ignored", "transitions / core, per ignored event", 4, "x", at_least=True),
)


class Contender(NamedTuple):
    """Something to time. Calling `run` one time makes `steps` steps. `key` is the name of the result."""

    key: str
    steps: int
    run: Callable[[], None]


def bench_core(slices: int = SLICES, with_peers: bool = True) -> dict[str, Any]:
    """Measure the core and, unless `with_peers` is false, the two other libraries."""
    call = build_call()
    contenders = _our_contenders(call)
    if with_peers:
        for name, build in PEERS.items():
            contenders += _peer_contenders(name, build(), call)
    with quiet_logs():
        result: dict[str, Any] = dict(_time(contenders, slices))
    result["bytes_per_state"] = max(deep_bytes(moment.after) for moment in call.moments)
    if with_peers:
        ours, ignored = result["us_per_transition"], result["us_per_ignored"]
        result["ratio_python_statemachine"] = result["us_per_transition_python_statemachine"] / ours
        result["ratio_transitions"] = result["us_per_transition_transitions"] / ours
        result["ratio_transitions_ignored"] = result["us_per_ignored_transitions"] / ignored
    held = [budget for budget in BUDGETS if budget.key in result]
    result["mix"] = {**call.mix(), "moving_transitions": len(_moving(call))}
    result["budget"] = {budget.key: budget.limit for budget in held}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in held}
    result["slices"] = slices
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    rows = [budget.row(result) for budget in BUDGETS if budget.key in result]
    rows += [
        (what, f"{result[key]:.2f} µs", "")
        for key, what in (
            ("us_per_moving_transition", "core, per transition that moves a region"),
            ("us_per_transition_python_statemachine", "python-statemachine, per lifecycle move"),
            ("us_per_ignored_python_statemachine", "python-statemachine, per ignored event"),
            ("us_per_transition_transitions", "transitions, per lifecycle move"),
            ("us_per_ignored_transitions", "transitions, per ignored event"),
        )
        if key in result
    ]
    return rows


# -- The contenders


def _our_contenders(call: PlayedCall) -> list[Contender]:
    return [
        _stepping("us_per_transition", call.transitions),
        _stepping("us_per_moving_transition", _moving(call)),
        _stepping("us_per_ignored", call.ignored * _IGNORED_ROUNDS),
    ]


def _stepping(key: str, moments: list[PlayedStep]) -> Contender:
    pairs = [(moment.before, moment.event) for moment in moments]

    def run() -> None:
        for state, event in pairs:
            step(state, event)

    return Contender(key, len(pairs), run)


def _moving(call: PlayedCall) -> list[PlayedStep]:
    """The transitions that change the leaf (the innermost state) of at least one region. A flat machine has only
    transitions of this kind, so they are the ones to compare with other libraries."""
    return [moment for moment in call.transitions if _leaves(moment.before) != _leaves(moment.after)]


def _leaves(s: State) -> tuple[object, ...]:
    return s.link, s.voice, s.user, s.reply, tuple(job.kind for job in s.jobs)


def _peer_contenders(name: str, make: MakeWalker, call: PlayedCall) -> list[Contender]:
    """Two contenders that use another library. The first is one machine that makes the same moves as the call. The
    second measures ignored events: for each event that the core ignored, a machine of the other library, in the same
    state, gets an event that it must ignore."""
    moves = call.lifecycle
    walker = follow(make, moves)
    events = [event_to(target) for _, target in moves]

    def walk() -> None:
        walker.seen.clear()
        walker.walk(events)

    shown = call.shown_when_ignored()
    parked = {state: park(make, state, moves).send for state in dict.fromkeys(shown)}
    sends = [(parked[state], useless_event(state)) for state in shown]

    def ignore() -> None:
        for send, event in sends:
            send(event)

    return [
        Contender(f"us_per_transition_{name}", len(events), walk),
        Contender(f"us_per_ignored_{name}", len(sends), ignore),
    ]


# -- Measuring


def _time(contenders: list[Contender], slices: int) -> dict[str, float]:
    """For each contender, the microseconds of CPU per step in its fastest slice."""
    assert slices > 0, slices
    best = {contender.key: sys.maxsize for contender in contenders}
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(slices):
            for key, _, run in contenders:
                run()  # not timed: fills the caches, so that the order of the contenders doesn't matter
                begun = time.thread_time_ns()
                run()
                spent = time.thread_time_ns() - begun
                best[key] = min(best[key], max(spent, 1))  # a coarse clock may not have moved
    finally:
        if was_enabled:
            gc.enable()
    return {contender.key: best[contender.key] / contender.steps / 1_000 for contender in contenders}


def deep_bytes(state: State) -> int:
    """The memory of one state in bytes, including the garbage collector's headers.

    Each object counts once, even if the state refers to it several times. Objects that all states of a process share
    don't count: enum members, the settings, None, True, False, small integers and the empty tuple. Objects that only
    two successive states share (an unchanged tuple of jobs, a large integer) count in both. So a list of successive
    states takes less memory than the sum of these numbers.
    """
    return sum(sys.getsizeof(value) for value in _parts(state, set()))


def _parts(value: object, known: set[int]) -> Iterable[object]:
    if id(value) in known or _is_shared(value):
        return
    known.add(id(value))
    yield value
    if isinstance(value, tuple):
        for item in value:
            yield from _parts(item, known)


def _is_shared(value: object) -> bool:
    if isinstance(value, int):
        return isinstance(value, bool) or -5 <= value <= 256
    return value is None or value == () or isinstance(value, Enum | Settings)
