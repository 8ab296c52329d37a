"""Checks that a confirmation allows one run of an action, and only while the confirmed values stay the same.

The check keeps its own account of unused confirmations. Rule: the account is derived only from what was said and done,
so a machine that forgets to ask for a confirmation is caught.
"""

from __future__ import annotations

from duologue.dialogue.effects import RunAction
from duologue.dialogue.flow import Confirm, PerformAction
from duologue.dialogue.state import Instance
from duologue.dialogue.templates import gaps_of

from .abstract import Given
from .observed_step import ObservedStep, at_of, changed_in
from .program_paths import Program, yeses_before

LAW = "one run per confirmation"


def account(seen: ObservedStep, given: Given) -> tuple[Given, list[str]]:
    """Update the account after a step. Returns the confirmations that are unused now, and one message for each
    confirmation that an action needed but didn't have."""
    given = _taken_back(seen, given)
    before, after = seen.before.top, seen.after.top
    if before is not None:
        given |= _said_to(seen, before)
    wrong: list[str] = []
    for run in seen.runs:
        assert after is not None
        given, missing = _used_up(seen, run, after, given)
        wrong += missing
    return given, wrong


def _said_to(seen: ObservedStep, one: Instance) -> Given:
    program = seen.domain.flows[one.flow].program
    acts = [(place, at.step) for place, at in enumerate(program) if isinstance(at, PerformAction)]
    found = set()
    for step in seen.confirmed:
        found |= {(one.id, step, name) for place, name in acts if name == step or step in yeses_before(program, place)}
    return frozenset(found)


def _taken_back(seen: ObservedStep, given: Given) -> Given:
    """The confirmations in `given`, without those that the step has made invalid. A confirmation becomes invalid if its
    question mentions a slot whose value has changed."""
    for before, after in seen.pairs():
        if after is None:
            continue
        changed = changed_in(before, after)
        program = seen.domain.flows[before.flow].program
        void = {at.step for at in program if isinstance(at, Confirm) and changed & set(gaps_of(at.text))}
        given = frozenset(yes for yes in given if yes[0] != before.id or yes[1] not in void)
    return given


def _used_up(seen: ObservedStep, run: RunAction, top: Instance, given: Given) -> tuple[Given, list[str]]:
    act, program = at_of(seen.domain, top), seen.domain.flows[top.flow].program
    own = (top.id, act.step, act.step)
    old = next((one for one in seen.before.stack if one.id == top.id), None)
    if old is not None and old.is_acting and old.at == top.at and old.runs == top.runs:
        return given - {own}, []
    needed = {(top.id, step, act.step) for step in yeses_before(program, top.at)}
    if run.confirmed and not _asks_itself(program, act.step):
        needed.add(own)
    wrong = [f"{act.step} runs again without a new confirmation of {step}" for _, step, _ in sorted(needed - given)]
    return given - needed - {own}, wrong


def _asks_itself(program: Program, step: str) -> bool:
    """Does this step of the flow, which performs an action, also ask for a confirmation?"""
    return any(isinstance(at, Confirm) and at.step == step for at in program)
