"""How much sound of a reply was made and isn't heard yet, for voices that may wait with their next sound.

A conversation sets its own function for the tasks that it starts, and child tasks inherit it. Rule: outside a
conversation the lead is 0, so nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

_LEAD: ContextVar[Callable[[], int] | None] = ContextVar("duologue_playback_lead", default=None)


def tell_playback_lead(lead_ms: Callable[[], int]) -> None:
    """From now on, `playback_lead_ms` returns what this function returns, in the current task and in tasks that it
    starts."""
    _LEAD.set(lead_ms)


def playback_lead_ms() -> int:
    """For how many milliseconds the listener still has sound of this reply, without any new sound."""
    lead = _LEAD.get()
    return lead() if lead is not None else 0
