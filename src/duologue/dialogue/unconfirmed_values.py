"""Values from a message that was only partly understood. The user is told about them and may object.

The agent announces such values together with the next question. If the user's reply doesn't object, they are accepted.
The `source` of a value says whether it was announced and accepted. Rule: no action uses such a value before it was
announced and the user has replied.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import PerformAction
from .language.readings import SlotKind
from .records import changed
from .state import BUSY, Filled, put
from .templates import Wording, gaps_of

PICKED_OUT = "part"  # picked out, not announced yet
ANNOUNCED = "part, told"  # announced; the user may still object
ACCEPTED = "part, let stand"  # announced, and the user didn't object
_OPEN = (PICKED_OUT, ANNOUNCED)


def is_unconfirmed(filled: Filled) -> bool:
    """May the user still object to this value?"""
    return filled.source in _OPEN and not filled.confirmed


def announce(d: DialogueDraft) -> None:
    """Announce the values that haven't been announced yet, before all other responses of the step. If the open question
    already asks about them, say nothing."""
    if not d.s.stack or d.s.phase in BUSY:
        return
    new = [name for name, filled in d.top.slots if filled.source == PICKED_OUT and is_unconfirmed(filled)]
    if new and not is_checking(d):
        d.say_first(d.domain.patterns.noted, slots=_listed(d, new))
    _change_source(d, PICKED_OUT, ANNOUNCED)


def accept_on_reply(d: DialogueDraft) -> None:
    """The user has replied: accept the values that were announced before, unless the open question asks whether they
    are right."""
    if d.s.stack and d.s.phase not in BUSY and not is_checking(d):
        accept_announced(d)


def accept_announced(d: DialogueDraft) -> None:
    """Accept the announced values."""
    _change_source(d, ANNOUNCED, ACCEPTED)


def _change_source(d: DialogueDraft, before: str, after: str) -> None:
    for name, filled in d.top.slots:
        if filled.source == before:
            d.set_top(slots=put(d.top.slots, name, changed(filled, {"source": after})))


# -- Asking about unconfirmed values


def wants_check(d: DialogueDraft, at: PerformAction) -> bool:
    """Would this action use a value to which the user may still object?"""
    return any(is_unconfirmed(filled) for name, filled in d.top.slots if not at.slots or name in at.slots)


def check(d: DialogueDraft) -> None:
    """Make the flow ask whether the unconfirmed values are right, before it runs an action."""
    d.set_top(confirm=d.domain.patterns.check)


def is_checking(d: DialogueDraft) -> bool:
    return d.top.confirm == d.domain.patterns.check


def listed(d: DialogueDraft) -> str:
    """The values that the user hasn't confirmed yet, in the form in which the agent says them."""
    return _listed(d, [name for name, filled in d.top.slots if is_unconfirmed(filled)])


def _listed(d: DialogueDraft, names: list[str]) -> str:
    slots = dict(d.top.slots)
    said = [(name, d.spoken(d.shown(name, slots[name]))) for name in names]
    return ", ".join(f"{d.spec(name).display_name}{_mark(d, name)} {value}" for name, value in said)


def _mark(d: DialogueDraft, slot: str) -> str:
    """The sign between the label of a slot and its value: a colon for a yes/no slot, nothing for other slots."""
    return ":" if d.spec(slot).kind is SlotKind.YES_NO else ""


# -- Confirmation


def confirm(d: DialogueDraft, question: Wording) -> None:
    """The user has said yes to a confirmation: mark the values that it named as confirmed. If the question named no
    slot, mark all values."""
    named = [name for name in gaps_of(question) if d.top.filled(name) is not None]
    for name, filled in d.top.slots:
        if not named or name in named:
            d.set_top(slots=put(d.top.slots, name, changed(filled, {"confirmed": True})))
