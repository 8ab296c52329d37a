"""What a promise is, and the conditions that many promises share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from duologue.core.effects import Effect, StartReply
from duologue.core.events import Event, TimerFired
from duologue.core.leaves import Leaf, Link, Reply, User, Voice
from duologue.core.rows import Trigger
from duologue.core.state import State, has_foreground

from ..laws import CheckedStep


class Promise(NamedTuple):
    """What must happen: if one of the events `on` comes and the condition `when` is true before the step, the condition
    `then` must be true after the step."""

    name: str
    on: tuple[Trigger, ...]
    when: Callable[[State, Any], bool]
    then: Callable[[CheckedStep], bool]


def trigger_of(event: Event) -> Trigger:
    """The trigger of an event: for a TimerFired its timer, for any other event its type."""
    return event.timer if isinstance(event, TimerFired) else type(event)


def index(promises: Iterable[Promise]) -> dict[Trigger, list[Promise]]:
    """Maps each trigger to its promises. A promise with several triggers is listed under each of them."""
    found: dict[Trigger, list[Promise]] = {}
    for promise in promises:
        for trigger in promise.on:
            found.setdefault(trigger, []).append(promise)
    return found


def does(step: CheckedStep, *kinds: type[Effect]) -> bool:
    """Did the step have at least one effect of each of these kinds?"""
    return all(any(type(effect) is kind for effect in step.effects) for kind in kinds)


def never(step: CheckedStep, *kinds: type[Effect]) -> bool:
    """Did the step have no effect of any of these kinds?"""
    return not any(type(effect) in kinds for effect in step.effects)


def goes(step: CheckedStep, *leaves: Leaf) -> bool:
    """Is the machine in all of these leaves after the step?"""
    after = step.after
    return all(leaf in (after.link, after.user, after.voice, after.reply) for leaf in leaves)


def quiet_floor(s: State) -> bool:
    """Is the floor free, so that a complete turn can be sent to the brain immediately? It is free if the link is up,
    the voice is silent, and no reply or call is open."""
    return s.link is Link.UP and s.voice is Voice.SILENT and s.reply is Reply.NONE and not has_foreground(s)


def asks(step: CheckedStep, last: int) -> bool:
    """Did the step send exactly one request, about every unanswered turn up to `last`?"""
    starts = [effect for effect in step.effects if isinstance(effect, StartReply)]
    return len(starts) == 1 and starts[0].last == last and starts[0].first == step.after.answered + 1


def is_open(s: State) -> bool:
    """Is a turn of the user open?"""
    return s.user is not User.QUIET
