"""Builds the request that a state waits for, from the state alone.

A dialogue restored from a checkpoint thus repeats its request with the same number and the same key. Rule: a request
contains nothing that isn't in the state.
"""

from __future__ import annotations

from .effects import RunAction, Understand, Validate
from .flow import AnswerFromFaq, Domain, PerformAction
from .state import DialogueState, Phase, tasks_of, values_of


def request_of(domain: Domain, state: DialogueState) -> Understand | Validate | RunAction | None:
    """The request that the state waits for; None if the state doesn't wait for a request."""
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
    if state.top is not None and isinstance(domain.flows[state.top.flow].program[state.top.at], AnswerFromFaq):
        return Understand(state.pending, state.heard, (), (), only_faq=True)
    flows = tuple(flow.name for flow in domain.offered)  # includes the open flow: users may name it again
    top = state.top
    slots = (*domain.flows[top.flow].slots, *top.needs) if top is not None else ()
    return Understand(state.pending, state.heard, flows, slots, state.waiting_for, state.last_question)


def open_flows(state: DialogueState) -> set[str]:
    """The names of the flows in the open task: the flow that was started, and the flows that it called and that are
    still open."""
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
