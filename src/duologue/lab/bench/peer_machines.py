"""The lifecycle table as a flat machine in two well-known libraries (the peers), to compare them with the core.

The table is read from the lifecycle view, including its amendments (moves that were added to the specified table). Both
machines have the same form: one event for each target state, allowed from every source state that the table names.
Events are sent by name (`send`, `trigger`), so that a peer has to look its event up, as the core's `step` does. Each
machine has one observer that records every state that is entered: the counterpart of the effects that each step of the
core yields. Events that aren't allowed are ignored. The comparison favours the peers: their tables are flat, without
guards, payload or deadlines, and the warning that `transitions` logs for each ignored event is off while timing. Rule:
a peer is timed only after it has entered the same states as the call, in the same order.
"""

from __future__ import annotations

import importlib
import logging
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from duologue.core.errors import DuologueError
from duologue.core.views import LIFECYCLE
from duologue.core.views.view import Move


class Walker(NamedTuple):
    """One running machine of a peer (another library): the function that sends an event to it, and the states that its
    observer recorded."""

    send: Callable[[str], object]
    seen: list[str]

    def walk(self, events: Iterable[str]) -> None:
        """Send these events, one after the other."""
        send = self.send
        for event in events:
            send(event)


MakeWalker = Callable[[], Walker]


def event_to(state: str) -> str:
    """The name of the event that leads to a state."""
    return f"go_{state}"


def useless_event(state: str) -> str:
    """An event that the table doesn't allow in this state. If there are several such events, it is the one whose target
    state comes first in the table."""
    allowed = LIFECYCLE.allowed()
    return next(event_to(target) for target in LIFECYCLE.states if (state, target) not in allowed)


def _sources(target: str) -> list[str]:
    """The states from which the table allows a move to `target`, in the order of the table."""
    allowed = LIFECYCLE.allowed()
    return [source for source in LIFECYCLE.states if (source, target) in allowed]


def _library(name: str) -> Any:
    """Import a peer library. Raises `DuologueError` if it isn't installed. Called only when the library is measured."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DuologueError(f"the benchmark needs {name!r}: pip install 'duologue[bench]'") from error


# -- The peers


def python_statemachine() -> MakeWalker:
    """A function that makes machines of the library python-statemachine, with its synchronous engine."""
    library = _library("statemachine")
    states = {name: library.State(initial=name == LIFECYCLE.states[0]) for name in LIFECYCLE.states}
    members: dict[str, Any] = {"allow_event_without_transition": True, **states}
    for target in LIFECYCLE.states:
        members[event_to(target)] = states[target].from_(*(states[source] for source in _sources(target)))

    def after_transition(self: Any, target: Any) -> None:
        self.seen.append(target.id)

    members["after_transition"] = after_transition
    machine_class: Any = types.new_class("Lifecycle", (library.StateMachine,), exec_body=lambda ns: ns.update(members))

    def make() -> Walker:
        machine = machine_class()
        machine.seen = []
        return Walker(machine.send, machine.seen)

    return make


class _Model:
    """The object whose `state` the `transitions` library sets, and to which it adds `trigger`."""

    state: str
    trigger: Callable[[str], object]


def transitions() -> MakeWalker:
    """A function that makes machines of the library `transitions`, flat and synchronous."""
    library = _library("transitions")

    def make() -> Walker:
        model = _Model()
        seen: list[str] = []
        machine = library.Machine(
            model,
            states=list(LIFECYCLE.states),
            initial=LIFECYCLE.states[0],
            auto_transitions=False,  # only the table's moves
            ignore_invalid_triggers=True,
            after_state_change=lambda: seen.append(model.state),
        )
        for target in LIFECYCLE.states:
            machine.add_transition(event_to(target), _sources(target), target)
        return Walker(model.trigger, seen)

    return make


PEERS: dict[str, Callable[[], MakeWalker]] = {
    "python_statemachine": python_statemachine,
    "transitions": transitions,
}


# -- Driving the peers


def follow(make: MakeWalker, moves: list[Move]) -> Walker:
    """Make a machine, let it make these moves, and return it. Raises `DuologueError` if the machine didn't enter the
    same states as the call, because then the times of the machine and the core can't be compared."""
    walker = make()
    walker.walk(event_to(target) for _, target in moves)
    targets = [target for _, target in moves]
    if walker.seen != targets:
        raise DuologueError(f"the peer entered {walker.seen}, but the call entered {targets}")
    return walker


def park(make: MakeWalker, state: str, moves: list[Move]) -> Walker:
    """Make a machine, let it make the moves of the call until it is in this state for the first time, and return it."""
    states = [moves[0][0], *(target for _, target in moves)]
    return follow(make, moves[: states.index(state)])


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Turn off the warnings of `transitions` inside a `with` block, because logging an ignored event costs more than
    ignoring it."""
    logger = logging.getLogger("transitions")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
