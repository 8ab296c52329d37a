"""Shows a dialogue as a form: the slots of the open flow, their values, and which one is being asked for.

Rule: values are shown as people say them, never as they are stored.
"""

from __future__ import annotations

from duologue.dialogue.flow import Domain
from duologue.dialogue.state import DialogueState, Instance, Phase
from duologue.dialogue.templates import as_said, spoken
from duologue.ports.brain import Form, FormSlot


def form_of(domain: Domain, state: DialogueState) -> Form | None:
    """The form of the open flow; None if no flow is open."""
    top = state.top
    if top is None:
        return None
    flow = domain.flows[top.flow]
    names = dict.fromkeys((*flow.slots, *(name for name, _ in top.slots if name in domain.slots)))
    slots = tuple(_slot(domain, state, top, name) for name in names)
    asked = domain.slots.get(state.waiting_for or "")
    question = asked.display_name if asked is not None else "" if state.phase is Phase.CONFIRMING else None
    return Form(flow.name, flow.description or flow.name.replace("_", " "), state.phase.value, question, slots)


def _slot(domain: Domain, state: DialogueState, top: Instance, name: str) -> FormSlot:
    filled = top.filled(name)
    label = domain.slots[name].display_name if name in domain.slots else name
    value = spoken(as_said(filled.value, filled.raw)) if filled else ""
    if name == state.waiting_for:
        return FormSlot(name, label, value, "asked")
    if filled is None:
        return FormSlot(name, label, "", "empty")
    return FormSlot(name, label, value, "confirmed" if filled.confirmed else "filled")
