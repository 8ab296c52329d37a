"""The moves that rules make. A rule is code, not a row of the table, so its moves are found by running it.

Every rule is applied to every combination of leaves several times: with nothing added, with a finished turn, and with a
job of each kind. Rule: only moves that a rule really made are reported. They are sorted by rule, then by leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

from duologue.core.draft import Draft
from duologue.core.events import TimerFired
from duologue.core.leaves import JobKind, Leaf, Link, Reply, Timer, User, Voice
from duologue.core.machine import MACHINE
from duologue.core.settings import Settings
from duologue.core.state import JobRecord, State

Fill = Callable[[Draft], None]


def rule_moves(region: type[Leaf]) -> tuple[tuple[str, Leaf, Leaf], ...]:
    """The moves that rules make in this region, each as (name of the rule, source, target)."""
    order = {leaf: index for index, leaf in enumerate(region)}
    moves = [move for move in _all_moves() if isinstance(move[1], region)]
    rules = {rule.name: index for index, rule in enumerate(MACHINE.rules)}
    return tuple(sorted(moves, key=lambda move: (rules[move[0]], order[move[1]], order[move[2]])))


@cache
def _all_moves() -> frozenset[tuple[str, Leaf, Leaf]]:
    event = TimerFired(at=0, timer=next(iter(Timer)), due=0)
    found = set()
    for state, fill in product(_joint_states(), _fills()):
        untouched = _filled(state, fill)
        for rule in MACHINE.rules:
            if state.link in rule.links and rule.when(untouched):
                draft = _filled(state, fill)
                rule.do(draft, event)
                leaves = zip(_leaves(untouched), _leaves(draft), strict=True)
                found |= {(rule.name, old, new) for old, new in leaves if old is not new}
    return frozenset(found)


def _filled(state: State, fill: Fill) -> Draft:
    draft = Draft(state, MACHINE.owners, 0)
    fill(draft)
    return draft


def _joint_states() -> Iterator[State]:
    settings = Settings()
    for link, user, voice, reply in product(Link, User, Voice, Reply):
        yield State(settings, link=link, user=user, voice=voice, reply=reply)


def _fills() -> list[Fill]:
    """Functions that prepare a draft for a rule. A rule may depend on the leaf states, on a finished turn and on a job.
    So one function adds nothing, one adds a finished turn, and each of the others adds a job of one kind."""

    def nothing(draft: Draft) -> None:
        pass

    def finished_turn(draft: Draft) -> None:
        draft.turn = draft.said = draft.said + 1

    def job(kind: JobKind) -> Fill:
        def fill(draft: Draft) -> None:
            draft.jobs = (JobRecord(1, kind, cancellable=True, due=0),)

        return fill

    return [nothing, finished_turn, *(job(kind) for kind in JobKind if kind is not JobKind.ABSENT)]


def _leaves(draft: Draft) -> tuple[Leaf, ...]:
    """The current leaf of each region. The last item stands for the running job: its kind, or ABSENT without a job."""
    job = draft.jobs[0].kind if draft.jobs else JobKind.ABSENT
    return draft.link, draft.user, draft.voice, draft.reply, job
