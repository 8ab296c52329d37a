"""What a row and a rule are. All behaviour of the machine is written in these two forms.

A row says: in one of these leaves, on one of these events, if the guard holds, go to the target and
do this. A rule says: whatever led here, a joint state like this may not last; mend it so. Rule:
guards read the state before the step, only a row or a rule moves a region, actions never do.
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
    """One behaviour. `target` None stays in the leaf."""

    sources: tuple[Leaf, ...]
    on: tuple[Trigger, ...]
    target: Leaf | None
    do: Action | None = None
    when: Guard | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """How the row is called in diagrams, logs and reports."""
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
    """A row, with single sources and triggers written plainly."""
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
    """A joint state that may not last, and what mends it. It is looked for in these links only."""

    name: str
    when: Callable[[Draft], bool]
    do: Callable[[Draft, Any], None]
    why: str
    links: tuple[Link, ...] = tuple(Link)


def trigger_name(trigger: Trigger) -> str:
    """A timer as `timer:name`, an event by its name."""
    return f"timer:{trigger.value}" if isinstance(trigger, Timer) else trigger.__name__
