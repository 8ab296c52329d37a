"""What must happen: promises, small data over single steps.

Laws say what must never be; a dropped row breaks no law when nothing happens at all. Each promise
names the events it is about, when it applies, and what the step must then do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    ACTIVE,
    AWAY,
    ENDING,
    FOREGROUND,
    LIVE,
    PENDING,
    SOUNDING,
    Ask,
    ErrorClass,
    Job,
    Link,
    Outcome,
    Overlap,
    Reply,
    Timer,
    User,
    Voice,
    Words,
)
from duologue.core.rows import Trigger
from duologue.core.settings import POLICIES
from duologue.core.state import State, has_foreground

from .laws import Step


class Promise(NamedTuple):
    """On these events, when this holds before, this holds after."""

    name: str
    on: tuple[Trigger, ...]
    when: Callable[[State, Any], bool]
    then: Callable[[Step], bool]


def trigger_of(event: ev.Event) -> Trigger:
    return event.timer if isinstance(event, ev.TimerFired) else type(event)


def index(promises: Iterable[Promise]) -> dict[Trigger, list[Promise]]:
    """Promises by the event that they are about."""
    found: dict[Trigger, list[Promise]] = {}
    for promise in promises:
        for trigger in promise.on:
            found.setdefault(trigger, []).append(promise)
    return found


PROMISES: tuple[Promise, ...] = ()
