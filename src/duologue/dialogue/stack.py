"""The stack of open flows, and tasks: a flow that was begun, with those that it called on top of it.

A task is left for another one, comes back when that is over or when it is asked for again, and may begin anew. Rule:
a flow is begun once; only a `call` opens a second one of the same.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .state import Instance, Slots, put, tasks_of

PROGRAM = "program"  # the source of values that nobody said


def begin(d: DialogueDraft, name: str, slots: Slots = (), *, called: bool = False) -> None:
    """Put a flow on top of the others."""
    d.set(instances=d.s.instances + 1)
    d.set(stack=(*d.s.stack, Instance(d.s.instances, name, slots=slots, called=called)))
    _turn_away(d)
    d.note("flow_started", flow=name)


def _turn_away(d: DialogueDraft) -> None:
    """Whatever was asked last is no longer what is open."""
    d.set(misses=0, silences=0, among=(), unproposed=False, reading_back=False, values=())


def return_to(d: DialogueDraft, flow: str, given: Slots | None = None) -> bool:
    """Go on with the task that has this flow open; those on top of it wait below. `given` is what a flow that goes over
    to it brings, and fills what it lacks. False if there is none."""
    tasks = tasks_of(d.s.stack)
    found = next((task for task in reversed(tasks) if any(one.flow == flow for one in task)), None)
    if found is None:
        return False
    if found is not tasks[-1] or given is not None:
        others = [one for task in tasks if task is not found for one in task]
        d.set(stack=(*others, *found))
        _turn_away(d)
        d.note("flow_resumed", flow=flow)
        d.say(d.domain.patterns.back_to)
    for name, filled in given or ():
        if d.top.flow == flow and d.top.filled(name) is None:
            d.set_top(slots=put(d.top.slots, name, filled))
    return True


def begin_anew(d: DialogueDraft) -> None:
    """The open task from its first step. What people said is forgotten, what the program brought stays; it is another
    run, so its actions have other keys."""
    *below, task = tasks_of(d.s.stack)
    brought = tuple((name, filled) for name, filled in task[0].slots if filled.source == PROGRAM)
    d.set(stack=tuple(one for other in below for one in other), trouble=None)
    d.say(d.domain.patterns.restarted)
    begin(d, task[0].flow, brought)


def keep_slots(d: DialogueDraft, *instances: Instance) -> None:
    """What flows have collected is kept for reference when they are over."""
    for instance in instances:
        for name, filled in instance.slots:
            d.set(kept=put(d.s.kept, name, filled))
