"""Rows and rules. Everything that the state machine does is written as a row or a rule.

A row is about one region (part) of the state. It says: if the region is in one of these leaves, one of these events
happens and the guard is true, go to the target leaf and run the action. A rule says: if this condition holds after the
rows, run this action to correct the state. Rule: a guard reads the state before the step, and a row's action never
moves a region.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .draft import Draft
from .events import Event
from .leaves import Leaf, Link, Timer

Trigger: TypeAlias = type[Event] | Timer
Action: TypeAlias = Callable[..., None]  # (draft, event), for jobs (draft, event, record)
Guard: TypeAlias = Callable[..., bool]  # (state, event), for jobs (state, event, record)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table, for one region. If `target` is None, the region stays in its leaf."""

    sources: tuple[Leaf, ...]
    on: tuple[Trigger, ...]
    target: Leaf | None
    do: Action | None = None
    when: Guard | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """The name of the row in diagrams, logs and reports."""
        sources = "/".join(leaf.name.lower() for leaf in self.sources)
        triggers = "/".join(trigger_name(trigger) for trigger in self.on)
        guard = f" [{self.when.__name__}]" if self.when else ""
        target = self.target.name.lower() if self.target else "same"
        return f"{type(self.sources[0]).__name__.lower()}: {sources} + {triggers}{guard} -> {target}"


def row(
    sources: Leaf | tuple[Leaf, ...],
    on: Trigger | tuple[Trigger, ...],
    target: Leaf | None,
    do: Action | None = None,
    when: Guard | None = None,
    why: str = "",
) -> Row:
    """Make a row. `sources` and `on` are each a single value, or a tuple of several."""
    return Row(
        sources if isinstance(sources, tuple) else (sources,),
        on if isinstance(on, tuple) else (on,),
        target,
        do,
        when,
        why,
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """A combination of leaves that must not last, and the action that corrects it. The rule is checked only while the
    link is in one of `links`."""

    name: str
    when: Callable[[Draft], bool]
    do: Callable[[Draft, Any], None]
    why: str
    links: tuple[Link, ...] = tuple(Link)


def trigger_name(trigger: Trigger) -> str:
    """The name of a trigger: `timer:name` for a timer, the class name for an event."""
    return f"timer:{trigger.value}" if isinstance(trigger, Timer) else trigger.__name__
