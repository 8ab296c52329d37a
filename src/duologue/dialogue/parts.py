"""Values that were picked out of a message which nobody wholly understood: told, and open to objection.

What was picked out is told before the next question; whoever answers that question has let it stand. Rule: no action
runs on such a value before the person could object.
"""

from __future__ import annotations

from .draft import Draft
from .phrases import gaps_of, spoken
from .records import changed
from .state import Filled, put

PART = "part"  # the source of such a value


def unheard(d: Draft) -> list[str]:
    """The values that the person can't have objected to yet."""
    return [name for name, filled in d.top.slots if is_part(filled) and filled.turn == d.s.turn_count]


def is_part(filled: Filled) -> bool:
    return filled.source == PART and not filled.confirmed


def tell(d: Draft) -> None:
    """Say what was picked out, before anything else."""
    if d.s.stack and (new := unheard(d)):
        d.begin_with(d.domain.patterns.noted, slots=_listed(d, new))


def check(d: Draft) -> None:
    """Ask whether it is right, where an action would be next."""
    d.begin_with("")
    d.set_top(confirm=d.domain.patterns.check)


def is_checking(d: Draft) -> bool:
    return d.top.confirm == d.domain.patterns.check


def listed(d: Draft) -> str:
    """What was picked out and has not been said yes to, as people say it."""
    return _listed(d, [name for name, filled in d.top.slots if is_part(filled)])


def _listed(d: Draft, names: list[str]) -> str:
    return ", ".join(f"{d.spec(name).called} {spoken(d.s.slots[name])}" for name in names)


def confirm(d: Draft, question: str) -> None:
    """A yes is one to every value that the question names; to all of them, if it names none."""
    named = [name for name in gaps_of(question) if d.top.filled(name) is not None]
    for name, filled in d.top.slots:
        if not named or name in named:
            d.set_top(slots=put(d.top.slots, name, changed(filled, {"confirmed": True})))
