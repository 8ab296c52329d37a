"""Compares policies on recorded calls: how often the agent would cut in on the user, how long the user would wait, and
how certain the result is.

Rule: to find out how certain a result is, whole calls are drawn at random, again and again (a bootstrap), because the
pauses of one call resemble each other. A recommendation says how much time it saves in nine of ten draws. A policy
isn't recommended if too many of its results are unknown.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .pauses import DecidedCall, DecidedOverlap
from .policies import RECORDED

DRAWS = 400
CUT_IN_MS = 2_000  # a cut-in costs as much as waiting this long: the user has to begin again
UNKNOWN_PCT_MAX = 20.0  # of the ends of turns


class PolicyPoint(NamedTuple):
    """The results of one policy on all calls. Each range covers the results of nine of ten random draws of calls."""

    name: str
    cut_ins: int
    cut_in_pct: float  # of the pauses in which the user went on alone
    cut_in_range: tuple[float, float]
    wait_ms: float  # the mean from the user's last sound to the end of the turn
    wait_range: tuple[float, float]
    wait_ms_p95: int
    interruptions: int
    pauses: int  # pauses in which the user went on alone
    ends: int  # ends of turns whose wait is known
    unknown: int  # ends of turns that the policy had not found when the user spoke again, acted or hung up
    assumed: int  # of `ends`: found only after the recorded answer was heard
    cost_ms: float  # per turn: the mean wait, and CUT_IN_MS for each cut-in
    wins_pct: float = 0.0  # in how many draws this policy costs least

    @property
    def is_known(self) -> bool:
        """Is enough known about this policy to recommend it?"""
        return self.ends > 0 and 100 * self.unknown <= UNKNOWN_PCT_MAX * (self.ends + self.unknown)


class Recommendation(NamedTuple):
    """The policy with the lowest cost, and how many milliseconds it saves per turn. The range covers the results of
    nine of ten random draws of calls."""

    point: PolicyPoint
    saved_ms: float
    saved_range: tuple[float, float]

    @property
    def is_clear(self) -> bool:
        """Is the recommended policy better than the recorded policy in at least nine of ten draws?"""
        return self.saved_range[0] > 0


class Comparison(NamedTuple):
    """The results of all policies on the same calls. `recommended` is None if too little is known about the policies,
    or if no user went on after a pause, because then nothing is known about cut-ins."""

    points: tuple[PolicyPoint, ...]
    recommended: Recommendation | None


def compare(decided: Mapping[str, Sequence[DecidedCall]], seed: int = 0, cut_in_ms: int = CUT_IN_MS) -> Comparison:
    """Compare the decisions of several policies about the same calls, which are in the same order for each policy. One
    of the policies is RECORDED, the policy that was used in the calls."""
    decided = {name: _by_silence(decided[RECORDED], calls) for name, calls in decided.items()}
    counts = {name: [_count(call) for call in calls] for name, calls in decided.items()}
    calls = len(counts[RECORDED])
    dice = random.Random(seed)
    draws = [[dice.randrange(calls) for _ in range(calls)] for _ in range(DRAWS)]
    drawn = {name: [_sums([found[number] for number in draw]) for draw in draws] for name, found in counts.items()}
    points = [_point(name, decided[name], drawn[name], cut_in_ms) for name in counts]
    eligible = [point.name for point in points if point.is_known]
    wins = dict.fromkeys(counts, 0)
    for number in range(DRAWS if eligible else 0):
        wins[min(eligible, key=lambda name: _cost(drawn[name][number], cut_in_ms))] += 1
    points = [point._replace(wins_pct=100 * wins[point.name] / DRAWS) for point in points]
    return Comparison(tuple(points), _recommend(points, drawn, cut_in_ms))


def _by_silence(recorded: Sequence[DecidedCall], calls: Sequence[DecidedCall]) -> list[DecidedCall]:
    """Leave out the pauses in which the user ended the turn with a button, or hung up, before the recorded policy ended
    the turn. Such a pause doesn't show which policy is better."""
    return [
        call._replace(
            pauses=tuple(one for own, one in zip(before.pauses, call.pauses, strict=True) if not own.is_unknown)
        )
        for before, call in zip(recorded, calls, strict=True)
    ]


def _recommend(
    points: Sequence[PolicyPoint], drawn: Mapping[str, Sequence[_Sums]], cut_in_ms: int
) -> Recommendation | None:
    known = [point for point in points if point.is_known]
    recorded = points[[point.name for point in points].index(RECORDED)]
    if not known or not recorded.is_known or not any(point.pauses for point in known):
        return None
    best = min(known, key=lambda point: (point.cost_ms, point.name != RECORDED))
    pairs = zip(drawn[RECORDED], drawn[best.name], strict=True)
    saved = [_cost(one, cut_in_ms) - _cost(two, cut_in_ms) for one, two in pairs]
    return Recommendation(best, recorded.cost_ms - best.cost_ms, _range(saved))


class OverlapPoint(NamedTuple):
    """How one overlap policy judges the sounds that are heard while the agent speaks."""

    name: str
    sounds: int
    stops: int  # it stops the agent
    goes_on: int  # the agent goes on
    unknown: int  # undecided when the recorded agent was stopped
    verdict_ms: float | None  # the mean from the onset to the verdict that stops the agent
    changed: int  # verdicts that differ from the recorded ones


def compare_overlaps(decided: Mapping[str, Sequence[DecidedCall]]) -> list[OverlapPoint]:
    """The results of each overlap policy. One of the policies is RECORDED, the policy that was used in the calls."""
    points = []
    for name, calls in decided.items():
        found = [one for call in calls for one in call.overlaps]
        verdicts = [one.judged_at - one.began_at for one in found if one.bid and one.judged_at is not None]
        stops, unknown = sum(one.bid is True for one in found), sum(one.is_unknown for one in found)
        recorded = [one for call in decided[RECORDED] for one in call.overlaps]
        changed = sum(_verdict(one) != _verdict(two) for one, two in zip(recorded, found, strict=True))
        mean = sum(verdicts) / len(verdicts) if verdicts else None
        points.append(OverlapPoint(name, len(found), stops, len(found) - stops - unknown, unknown, mean, changed))
    return points


def _verdict(overlap: DecidedOverlap) -> bool | None:
    return None if overlap.is_unknown else overlap.bid is True


class _Sums(NamedTuple):
    middles: int = 0  # pauses in which the user went on alone
    cut_ins: int = 0
    ends: int = 0
    wait_ms: int = 0
    unknown: int = 0
    assumed: int = 0
    interruptions: int = 0


def _count(call: DecidedCall) -> _Sums:
    waits = [pause.wait_ms for pause in call.pauses if pause.wait_ms is not None]
    return _Sums(
        sum(not pause.is_end for pause in call.pauses),
        sum(pause.is_cut_in for pause in call.pauses),
        len(waits),
        sum(waits),
        sum(pause.is_unknown for pause in call.pauses),
        sum(pause.is_assumed for pause in call.pauses),
        sum(overlap.bid is True for overlap in call.overlaps),
    )


def _sums(counts: Sequence[_Sums]) -> _Sums:
    return _Sums(*(sum(column) for column in zip(*counts, strict=True)))


def _cut_in_pct(sums: _Sums) -> float:
    return 100 * sums.cut_ins / sums.middles if sums.middles else 0.0


def _wait(sums: _Sums) -> float:
    return sums.wait_ms / sums.ends if sums.ends else 0.0


def _cost(sums: _Sums, cut_in_ms: int) -> float:
    return (sums.wait_ms + cut_in_ms * sums.cut_ins) / max(1, sums.ends)


def _point(name: str, calls: Sequence[DecidedCall], drawn: Sequence[_Sums], cut_in_ms: int) -> PolicyPoint:
    whole = _sums([_count(call) for call in calls])
    waits = sorted(pause.wait_ms for call in calls for pause in call.pauses if pause.wait_ms is not None)
    return PolicyPoint(
        name,
        whole.cut_ins,
        _cut_in_pct(whole),
        _range([_cut_in_pct(draw) for draw in drawn]),
        _wait(whole),
        _range([_wait(draw) for draw in drawn]),
        waits[min(len(waits) - 1, round(0.95 * len(waits)))] if waits else 0,
        whole.interruptions,
        whole.middles,
        whole.ends,
        whole.unknown,
        whole.assumed,
        _cost(whole, cut_in_ms),
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[len(ordered) // 20], ordered[-1 - len(ordered) // 20]
