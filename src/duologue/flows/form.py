"""Shows a dialogue as a form: the slots of the open flow, their values, and which slot is being asked for.

After a flow is completed, its form shows its values and the results of its actions, until the next flow begins. Rule:
values are shown as people say them, never as they are stored.
"""

from __future__ import annotations

from duologue.dialogue.flow import Domain, Flow, PerformAction
from duologue.dialogue.state import DialogueState, Filled, Instance, Phase
from duologue.dialogue.templates import as_said, spoken
from duologue.ports.brain import Form, FormSlot

_ENDS = ("flow_completed", "flow_cancelled")


def form_of(domain: Domain, state: DialogueState) -> Form | None:
    """The form of the open flow. If no flow is open, this is the form of the flow that ended last. None if there is no
    such flow, if it was cancelled, or if its form would be empty."""
    top = state.top
    if top is None:
        return _completed(domain, state)
    flow = domain.flows[top.flow]
    names = dict.fromkeys((*flow.slots, *(name for name, _ in top.slots if name in domain.slots)))
    slots = tuple(_slot(domain, state, top, name) for name in names)
    asked = domain.slots.get(state.waiting_for or "")
    question = asked.display_name if asked is not None else "" if state.phase is Phase.CONFIRMING else None
    return Form(flow.name, flow.description or flow.name.replace("_", " "), state.phase.value, question, slots)


def _completed(domain: Domain, state: DialogueState) -> Form | None:
    """The form of the flow that ended last. None if that flow wasn't completed, or if it has nothing to show."""
    ended = next((line for line in reversed(state.trace) if line.event in _ENDS), None)
    name = dict(ended.data).get("flow", "") if ended is not None else ""
    flow = domain.flows.get(name)
    if ended is None or ended.event != "flow_completed" or flow is None:
        return None
    kept = dict(state.kept)
    asked = [_kept(domain, kept[name], name, "confirmed") for name in flow.slots if name in kept]
    results = [_kept(domain, kept[name], name, "result") for name in _results(flow) if name in kept]
    if not asked and not results:
        return None
    return Form(flow.name, flow.description or flow.name.replace("_", " "), "completed", None, (*asked, *results))


def _results(flow: Flow) -> tuple[str, ...]:
    """The slots that are filled by actions of this flow, without those that the flow asks for."""
    outputs = (slot for at in flow.program if isinstance(at, PerformAction) for _, slot in at.outputs)
    return tuple(dict.fromkeys(slot for slot in outputs if slot not in flow.slots))


def _spoken(domain: Domain, filled: Filled) -> str:
    forms = domain.pack.spoken
    return spoken(as_said(filled.value, filled.raw, forms), "", forms)


def _kept(domain: Domain, filled: Filled, name: str, state: str) -> FormSlot:
    label = domain.slots[name].display_name if name in domain.slots else name.replace("_", " ")
    return FormSlot(name, label, _spoken(domain, filled), state)


def _slot(domain: Domain, state: DialogueState, top: Instance, name: str) -> FormSlot:
    filled = top.filled(name)
    label = domain.slots[name].display_name if name in domain.slots else name
    value = _spoken(domain, filled) if filled else ""
    if name == state.waiting_for:
        return FormSlot(name, label, value, "asked")
    if filled is None:
        return FormSlot(name, label, "", "empty")
    return FormSlot(name, label, value, "confirmed" if filled.confirmed else "filled")
