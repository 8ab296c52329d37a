"""Applies the budget of one conversation's client in real time: stores the budget, provides the current time, and
counts refusals.

Rule: the pure module `caller_budget` decides what is allowed; this class only adds the clock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duologue.core.errors import DuologueError
from duologue.runtime.conversation import Conversation

from .caller_budget import Refused, TurnsLeft, Unanswered, command, hear_sound, new_budget, turns_left, type_text
from .settings import Limits


class CommandRefused(DuologueError):
    """A client sends too many commands. The message says what to do."""


def now_ms() -> int:
    """The time of the event loop, in milliseconds. In a test with simulated time, it is the simulated time."""
    return int(asyncio.get_running_loop().time() * 1000)


def unanswered_of(conversation: Conversation) -> Unanswered:
    """How many turns of this conversation wait for an answer, and how many characters these turns have."""
    state = conversation.machine_state
    turns = conversation.engine.transcript.turns(state.answered + 1, state.turn)
    return Unanswered(len(turns), sum(len(said.text) for said in turns))


class LimitedCaller:
    """The limits of one conversation's client. `note_refused` is called with the name of each limit that refuses
    something."""

    def __init__(self, limits: Limits, note_refused: Callable[[str], None]) -> None:
        self._limits = limits
        self._note_refused = note_refused
        self._budget = new_budget(limits, now_ms())

    def type(self, chars: int, unanswered: Unanswered) -> Refused | None:
        """Take a typed text of `chars` characters. Returns why it is refused, or None if it is accepted."""
        self._budget, refused = type_text(self._limits, self._budget, chars, unanswered, now_ms())
        if refused is not None:
            self._note_refused(refused.limit)
        return refused

    def command(self) -> None:
        """Take one command. Raises CommandRefused if there are too many."""
        self._budget, refused = command(self._limits, self._budget, now_ms())
        if refused is not None:
            self._note_refused(refused.limit)
            raise CommandRefused(refused.message)

    def turns_left(self) -> TurnsLeft:
        """How many turns may still be typed."""
        return turns_left(self._limits, self._budget, now_ms())

    def hear(self, ms: int, tell: Callable[[Refused], None]) -> bool:
        """Take `ms` milliseconds of sound. Returns whether the sound may be heard. `tell` is called when it is time to
        tell the client that sound was left out."""
        self._budget, is_heard, told = hear_sound(self._limits, self._budget, ms, now_ms())
        if not is_heard:
            self._note_refused("sound")
        if told is not None:
            tell(told)
        return is_heard
