"""The verdict of a hostile run: does the fairness law hold in a phase, compared with the quiet phase?

The fairness law: with hostile clients, 95 % of the answers to honest callers come within twice the time of the quiet
phase plus 200 ms, memory grows by at most 50 MB for each hostile client, and no honest caller is refused. The same
factor holds for whole turns and for the start of a conversation, so that no wait is left out. It also holds for half of
the answers to each caller, so that no caller pays for the others: one of eight callers may have less than 5 % of the
answers, because its answers are slow. Rule: a phase that proves
nothing also breaks the law, because a caller got too few answers, the hostile clients did nothing, or the machine is
too slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .hostile_clients import ABUSES, CLIENTS

SLACK_MS = 200
MB_PER_CLIENT = 50
QUIET_P95_MS_MAX = 1_500  # a machine that takes longer without hostile clients is too busy for this measurement
QUIET = "quiet"
ALL = "all"
COLUMNS = (
    "hostile clients",
    "answers",
    "p95 ms",
    "allowed",
    "whole turns p95 ms",
    "allowed",
    "starts p95 ms",
    "allowed",
    "memory MB",
    "allowed",
    "honest refused",
    "hostile acts",
)


@dataclass(frozen=True, slots=True)
class HostilePhase:
    """What was found in one phase."""

    kind: str
    answer_ms: tuple[tuple[str, int], ...]  # the kind of turn, and its time
    refused: tuple[str, ...]
    memory_mb: int  # the most that the server used
    turn_ms: tuple[int, ...] = ()
    start_ms: tuple[int, ...] = ()
    by_caller: dict[int, tuple[int, ...]] = field(default_factory=dict)  # the times of answers, by honest caller
    reached: dict[str, int] = field(default_factory=dict)  # by kind of abuse: the acts that reached the server

    @property
    def p95_ms(self) -> int:
        return p95([ms for _, ms in self.answer_ms])


@dataclass(frozen=True, slots=True)
class JudgedPhase:
    """A phase, and the limits of the fairness law for it. `why` says how the law was broken; it is empty if the law
    holds."""

    phase: HostilePhase
    p95_ms_max: int
    turn_ms_max: int
    start_ms_max: int
    memory_mb_max: int
    why: str

    @property
    def line(self) -> str:
        """One line about this phase, for the log."""
        phase = self.phase
        limit = "" if phase.kind == QUIET else f" ({self.p95_ms_max} ms allowed)"
        return f"{phase.kind}: {len(phase.answer_ms)} answers, p95 {phase.p95_ms} ms{limit}, {phase.memory_mb} MB"


def p95(times_ms: list[int] | tuple[int, ...]) -> int:
    """The 95th percentile; 0 if there are no times."""
    ordered = sorted(times_ms)
    return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)] if ordered else 0


def median(times_ms: tuple[int, ...]) -> int:
    """The middle one of these times; of an even number, the lower one of the two in the middle."""
    return sorted(times_ms)[(len(times_ms) - 1) // 2]


def judge(quiet: HostilePhase, phase: HostilePhase) -> JudgedPhase:
    """Decide whether the fairness law holds in this phase, compared with the quiet phase."""
    p95_ms_max, turn_ms_max, start_ms_max = (
        2 * found + SLACK_MS for found in (quiet.p95_ms, p95(quiet.turn_ms), p95(quiet.start_ms))
    )
    memory_mb_max = quiet.memory_mb + MB_PER_CLIENT * CLIENTS
    judged = JudgedPhase(phase, p95_ms_max, turn_ms_max, start_ms_max, memory_mb_max, "")
    why = [*_unmeasured(quiet, phase), *_slow(quiet, judged), *_excessive(judged)]
    return JudgedPhase(phase, p95_ms_max, turn_ms_max, start_ms_max, memory_mb_max, "; ".join(why))


def _unmeasured(quiet: HostilePhase, phase: HostilePhase) -> Iterator[str]:
    """Yield a line for everything that the phase should have measured but didn't, because then it can't be judged."""
    if not phase.answer_ms:
        yield "no answer came"
    if phase is quiet:
        return
    for what, times_ms, quiet_ms in (
        ("turns", phase.turn_ms, quiet.turn_ms),
        ("starts", phase.start_ms, quiet.start_ms),
    ):
        if times_ms and not quiet_ms:
            yield f"{what} can't be compared, because there were none without hostile clients: let it run longer"
    for caller, times_ms in sorted(quiet.by_caller.items()):
        found, number = len(phase.by_caller.get(caller, ())), len(times_ms)
        if found < number // 3:
            yield f"few answers: honest caller {caller} got {found}, and {number} without hostile clients"
    kinds = tuple(ABUSES) if phase.kind == ALL else (phase.kind,)
    if idle := [kind for kind in kinds if not phase.reached.get(kind)]:
        yield f"the hostile clients did nothing that reached the server: {', '.join(idle)}"


def _slow(quiet: HostilePhase, judged: JudgedPhase) -> Iterator[str]:
    phase = judged.phase
    if phase is quiet:
        slowest_ms = max(quiet.p95_ms, p95(quiet.turn_ms), p95(quiet.start_ms))
        if slowest_ms > QUIET_P95_MS_MAX:
            yield f"p95 without hostile clients is {slowest_ms} ms: this machine is too busy to measure fairness"
        return
    for what, found_ms, allowed_ms in (
        ("answers", phase.p95_ms, judged.p95_ms_max),
        ("whole turns", p95(phase.turn_ms), judged.turn_ms_max),
        ("starts", p95(phase.start_ms), judged.start_ms_max),
    ):
        if found_ms > allowed_ms:
            yield f"p95 of the {what} is {found_ms} ms, but at most {allowed_ms} ms are allowed"
    for caller, times_ms in sorted(phase.by_caller.items()):
        if (found_ms := median(times_ms)) > judged.p95_ms_max:
            yield f"half of the answers to honest caller {caller} take {found_ms} ms or more"


def _excessive(judged: JudgedPhase) -> Iterator[str]:
    phase = judged.phase
    if phase.memory_mb > judged.memory_mb_max:
        yield f"the server uses {phase.memory_mb} MB, but at most {judged.memory_mb_max} MB are allowed"
    if phase.refused:
        yield f"honest callers were refused {len(phase.refused)} times, first: {phase.refused[0]}"


def hostile_rows(judged: list[JudgedPhase]) -> list[tuple[str, ...]]:
    """One row for each phase, with the columns in COLUMNS. The quiet phase has no limits and no hostile acts."""
    return [tuple(_cells(one)) for one in judged]


def _cells(one: JudgedPhase) -> Iterator[str]:
    phase, has_limits = one.phase, one.phase.kind != QUIET
    yield from (phase.kind, str(len(phase.answer_ms)))
    for found, allowed in (
        (phase.p95_ms, one.p95_ms_max),
        (p95(phase.turn_ms), one.turn_ms_max),
        (p95(phase.start_ms), one.start_ms_max),
        (phase.memory_mb, one.memory_mb_max),
    ):
        yield from (str(found), str(allowed) if has_limits else "")
    yield from (str(len(phase.refused)), str(sum(phase.reached.values())) if has_limits else "")


def as_json(judged: list[JudgedPhase]) -> dict[str, Any]:
    return {
        "phases": [
            {
                "kind": one.phase.kind,
                "answers": len(one.phase.answer_ms),
                "p95_ms": one.phase.p95_ms,
                "p95_ms_max": one.p95_ms_max,
                "turn_p95_ms": p95(one.phase.turn_ms),
                "turn_p95_ms_max": one.turn_ms_max,
                "start_p95_ms": p95(one.phase.start_ms),
                "start_p95_ms_max": one.start_ms_max,
                "memory_mb": one.phase.memory_mb,
                "memory_mb_max": one.memory_mb_max,
                "refused": list(one.phase.refused),
                "hostile_acts": dict(one.phase.reached),
                "why": one.why,
            }
            for one in judged
        ],
        "holds": not any(one.why for one in judged),
    }
