"""Values that were picked out of a message which nobody wholly understood: told, and open to objection.

What was picked out is told with the next question; whoever answers that has let it stand. The source of a value says
how far it is. Rule: no action runs on such a value before the person was told of it and has spoken.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .records import changed
from .state import BUSY, Filled, put
from .templates import as_said, gaps_of, spoken

PART = "part"  # picked out, and nobody was told yet
TOLD = "part, told"  # the person may still object
LET_STAND = "part, let stand"
_OPEN = (PART, TOLD)


def is_part(filled: Filled) -> bool:
    """May the person still have to object?"""
    return filled.source in _OPEN and not filled.confirmed


def tell(d: DialogueDraft) -> None:
    """Say what was picked out, before anything else; unless it is being asked about."""
    if not d.s.stack or d.s.phase in BUSY:
        return
    new = [name for name, filled in d.top.slots if filled.source == PART and is_part(filled)]
    if new and not is_checking(d):
        d.begin_with(d.domain.patterns.noted, slots=_listed(d, new))
    _become(d, PART, TOLD)


def hear(d: DialogueDraft) -> None:
    """The person speaks, after all that was told: what they don't object to stands."""
    if d.s.stack and d.s.phase not in BUSY and not is_checking(d):
        let_stand(d)


def let_stand(d: DialogueDraft) -> None:
    """Whatever was told and not objected to."""
    _become(d, TOLD, LET_STAND)


def _become(d: DialogueDraft, before: str, after: str) -> None:
    for name, filled in d.top.slots:
        if filled.source == before:
            d.set_top(slots=put(d.top.slots, name, changed(filled, {"source": after})))


# -- Asking about them


def wants_check(d: DialogueDraft) -> bool:
    return any(is_part(filled) for _, filled in d.top.slots)


def check(d: DialogueDraft) -> None:
    """Ask whether they are right, where an action would be next."""
    d.set_top(confirm=d.domain.patterns.check)


def is_checking(d: DialogueDraft) -> bool:
    return d.top.confirm == d.domain.patterns.check


def listed(d: DialogueDraft) -> str:
    """What may still be objected to, as people say it."""
    return _listed(d, [name for name, filled in d.top.slots if is_part(filled)])


def _listed(d: DialogueDraft, names: list[str]) -> str:
    slots = dict(d.top.slots)
    return ", ".join(f"{d.spec(name).called} {spoken(as_said(slots[name].value, slots[name].raw))}" for name in names)


# -- A yes


def confirm(d: DialogueDraft, question: str) -> None:
    """A yes is one to every value that the question names; to all of them, if it names none."""
    named = [name for name in gaps_of(question) if d.top.filled(name) is not None]
    for name, filled in d.top.slots:
        if not named or name in named:
            d.set_top(slots=put(d.top.slots, name, changed(filled, {"confirmed": True})))
