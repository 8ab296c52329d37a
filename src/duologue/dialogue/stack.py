"""The stack of open flows, grouped into tasks. A task is a started flow, with the flows that it called above it.

A task can be interrupted by another task, resumed and restarted. Rule: the same flow is on the stack twice only if
another flow called it.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import Domain
from .language.readings import ANY
from .records import changed
from .state import DialogueState, Instance, Slots, put, tasks_of
from .unconfirmed_values import PICKED_OUT

PROGRAM = "program"  # the source of values that the program gave, not the user


def begin(d: DialogueDraft, name: str, slots: Slots = (), *, called: bool = False) -> None:
    """Push a flow onto the stack."""
    d.set(instances=d.s.instances + 1)
    slots = (*slots, *_carried_over(d, name, frozenset(slot for slot, _ in slots)))
    d.set(stack=(*d.s.stack, Instance(d.s.instances, name, slots=slots, called=called)))
    _forget_question(d)
    d.set(ended=None)
    d.note("flow_started", flow=name)


def _carried_over(d: DialogueDraft, flow: str, given: frozenset[str]) -> Slots:
    """Values from earlier tasks that this flow can use instead of asking. Only slots that are kept for the whole
    conversation are used. The agent announces the values, so that the user can object."""
    wanted = [slot for slot in d.domain.flows[flow].slots if slot not in given and d.domain.slots[slot].is_session]
    known = dict(d.s.kept)
    told = {"source": PICKED_OUT, "confirmed": False, "turn": d.s.turn_count}
    return tuple((slot, changed(known[slot], told)) for slot in wanted if slot in known and known[slot].value != ANY)


def _forget_question(d: DialogueDraft) -> None:
    """Forget everything about the question that was open."""
    d.set(misses=0, silences=0, among=(), unproposed=False, reading_back=False, values=())


def return_to(d: DialogueDraft, flow: str, given: Slots | None = None) -> bool:
    """Resume the open task that contains this flow: move the task to the top of the stack. Returns False if no open
    task contains the flow. If another flow links to this one, `given` holds values from that other flow. They fill
    slots of this flow that are still empty."""
    tasks = tasks_of(d.s.stack)
    found = next((task for task in reversed(tasks) if any(one.flow == flow for one in task)), None)
    if found is None:
        return False
    if found is not tasks[-1] or given is not None:
        others = [one for task in tasks if task is not found for one in task]
        d.set(stack=(*others, *found))
        _forget_question(d)
        d.note("flow_resumed", flow=flow)
        d.say(d.domain.patterns.back_to)
    for name, filled in given or ():
        if d.top.flow == flow and d.top.filled(name) is None:
            d.set_top(slots=put(d.top.slots, name, filled))
    return True


def restart_task(d: DialogueDraft) -> None:
    """Restart the open task from its first step. Values from the user are dropped; values from your program stay.
    Actions get new keys, so that your code doesn't mistake them for retries."""
    *below, task = tasks_of(d.s.stack)
    given = tuple((name, filled) for name, filled in task[0].slots if filled.source == PROGRAM)
    d.set(stack=tuple(one for other in below for one in other), trouble=None)
    d.say(d.domain.patterns.restarted)
    begin(d, task[0].flow, given)


def has_just_ended(domain: Domain, state: DialogueState) -> bool:
    """Is no task open, and has one ended a moment ago, so that it can still be corrected?"""
    is_recent = state.turn_count - state.ended_turn <= domain.correctable_turns
    return not state.stack and state.ended is not None and is_recent


def reopen(d: DialogueDraft, ended: Instance) -> None:
    """Push a task that has ended onto the stack again, at its last step and with its values, so that it can be
    corrected. It gets a new id, so that your code doesn't mistake an action that runs again for a retry."""
    d.set(instances=d.s.instances + 1, ended=None)
    asked = tuple(slot for slot in ended.asked if slot in d.domain.flows[ended.flow].slots)
    d.set(stack=(*d.s.stack, changed(ended, {"id": d.s.instances, "asked": asked})))
    _forget_question(d)
    d.note("flow_reopened", flow=ended.flow)


def keep_slots(d: DialogueDraft, *instances: Instance) -> None:
    """Store the slots of ended flows, so that their values can still be used."""
    for instance in instances:
        for name, filled in instance.slots:
            d.set(kept=put(d.s.kept, name, filled))
