"""The request that a state waits for, made of the state alone.

So that a dialogue restored from a checkpoint asks for the same thing again, with the same number and the same
key (D-14). Rule: nothing is in a request that is not in the state.
"""

from __future__ import annotations

from .effects import RunAction, Understand, Validate
from .flow import Domain, PerformAction
from .state import DialogueState, Phase, tasks_of, values_of


def request_of(domain: Domain, state: DialogueState) -> Understand | Validate | RunAction | None:
    """What is being waited for; None if nothing is."""
    if not state.pending:
        return None
    match state.phase:
        case Phase.UNDERSTANDING:
            return understanding(domain, state)
        case Phase.VALIDATING_SLOT:
            return validation(domain, state)
        case Phase.EXECUTING_ACTION:
            return action(domain, state)
    return None


def understanding(domain: Domain, state: DialogueState) -> Understand:
    flows = tuple(flow.name for flow in domain.offered)  # the open one too, or whoever names it again is misheard
    top = state.top
    slots = (*domain.flows[top.flow].slots, *top.needs) if top is not None else ()
    return Understand(state.pending, state.heard, flows, slots, state.waiting_for, state.last_question)


def open_now(state: DialogueState) -> set[str]:
    """The flows of the open task. Those below it may be asked for: they are returned to."""
    tasks = tasks_of(state.stack)
    return {instance.flow for instance in tasks[-1]} if tasks else set()


def validation(domain: Domain, state: DialogueState) -> Validate:
    value, top = state.values[0], state.top
    assert top is not None, state
    spec = domain.slots[value.slot]
    slots = tuple(values_of(top.slots).items())
    return Validate(state.pending, value.slot, value.value, spec.normaliser, spec.validator, slots)


def action(domain: Domain, state: DialogueState) -> RunAction:
    top = state.top
    assert top is not None, state
    at = domain.flows[top.flow].program[top.at]
    assert isinstance(at, PerformAction), at
    values = values_of(top.slots)
    wanted = at.slots or tuple(values)
    slots = tuple((name, values[name]) for name in wanted if name in values)
    key = f"{top.id}:{at.step}:{top.runs}"
    return RunAction(state.pending, at.action, slots, key, at.step in top.confirmed)
