"""Asks which value is meant, after a change that may mean several values: "Wednesday", if today is a Wednesday.

Rule: the slot is emptied and its question is asked with the possible values, so the answer is read like any other.
"""

from __future__ import annotations

from .commands import ChitChat
from .draft import DialogueDraft
from .partial_corrections import UnclearChange
from .run_flow import continue_flow
from .state import Phase
from .templates import fill
from .yes_and_no import clear


def ask_which(d: DialogueDraft, change: UnclearChange) -> None:
    """Empty the slot and ask which of the candidates is meant. If a final action (one that can't be undone) has used
    the slot, only say so."""
    d.enter(Phase.UNDERSTANDING)
    clear(d, change.slot)
    if d.top.filled(change.slot) is None:
        d.set(among=change.candidates, misses=0, silences=0)
    continue_flow(d)


def which_slot(d: DialogueDraft, slots: tuple[str, ...]) -> ChitChat:
    """The reply to a new value that fits several slots: the agent can't tell which of them is meant."""
    forms = d.domain.pack.spoken
    named = [forms.named.replace("{name}", d.spec(name).display_name) for name in slots]
    return ChitChat(fill(d.domain.patterns.which, {"slots": named}, "", forms))
