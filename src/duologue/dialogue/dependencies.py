"""Dependencies: which slots depend on other slots, and which slots a step uses.

Rule: a confirmation is valid only for the values that the user confirmed. When one of them changes, the user has to
confirm again.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import Collect, Confirm, Domain, Instruction, JumpUnless, PerformAction
from .templates import gaps_of


def dependants(domain: Domain, changed: str) -> frozenset[str]:
    """Every slot that depends on `changed`, directly or through other slots."""
    found: set[str] = set()
    waiting = [changed]
    while waiting:
        slot = waiting.pop()
        near = {name for name, spec in domain.slots.items() if slot in spec.depends_on} - found - {changed}
        found |= near
        waiting += sorted(near)
    return frozenset(found)


def uses(at: Instruction, touched: frozenset[str], emptied: frozenset[str]) -> bool:
    """Does the step use a slot in `touched`, or ask for a slot in `emptied`? An action or a confirmation that names no
    slots uses all slots."""
    match at:
        case Collect():
            return at.slot in emptied
        case JumpUnless():
            return bool(touched & set(at.condition.names))
        case PerformAction():
            return not at.slots or bool(touched & set(at.slots))
        case Confirm():
            gaps = gaps_of(at.text)
            return not gaps or bool(touched & set(gaps))
    return False


def unconfirm(d: DialogueDraft, touched: frozenset[str], emptied: frozenset[str]) -> None:
    """Remove the user's confirmation of every step that uses a changed slot, so that the user is asked again."""
    if not d.top.confirmed:
        return
    again = {at.step for at in d.flow.program if isinstance(at, PerformAction | Confirm) and uses(at, touched, emptied)}
    d.set_top(confirmed=tuple(step for step in d.top.confirmed if step not in again))


def repeatable_from(d: DialogueDraft, place: int) -> None:
    """Let the final actions of a loop run again in its next round. The loop begins at the step with index `place` and
    ends at the current step. (A final action can't be undone, so normally it runs only once.)"""
    if not d.top.done:
        return
    again = {at.step for at in d.flow.program[place : d.top.at + 1]}
    d.set_top(done=tuple(step for step in d.top.done if step not in again))


def final_action_using(d: DialogueDraft, slot: str) -> PerformAction | None:
    """The final action of the open flow that has already run with this slot's value; None if there isn't one. A final
    action is one that can't be undone."""
    acts = (at for at in d.flow.program if isinstance(at, PerformAction) and at.step in d.top.done)
    return next((at for at in acts if uses(at, frozenset((slot,)), frozenset())), None)


def unconfirm_from(d: DialogueDraft, place: int) -> None:
    """Remove the confirmations of all steps from the one at index `place` to the current one, because the flow goes
    back to `place` and asks again."""
    if not d.top.confirmed:
        return
    again = {at.step for at in d.flow.program[place : d.top.at + 1]}
    d.set_top(confirmed=tuple(step for step in d.top.confirmed if step not in again))
