"""How often the brain has been asked in a row without a word for the person.

A brain may call tools for ever; the person must not wait for ever. Rule: after so many rounds it is
asked without tools, and if it still calls one, the answer fails and the person is told.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from duologue.core.effects import StartReply
from duologue.core.leaves import ErrorClass
from duologue.core.state import State
from duologue.ports.brain import Part, Request
from duologue.ports.failure import BrokenContract


class Rounds:
    """Counts requests between two things that the person said or heard."""

    def __init__(self) -> None:
        self._count = 0
        self._since = (0, 0)

    def count(self, effect: StartReply, s: State) -> int:
        """The number of this request among those that led to nothing yet."""
        since = (effect.last, s.voice_id)  # the newest turn, and how often the agent has spoken
        self._count = self._count + 1 if since == self._since else 1
        self._since = since
        return self._count


class Stuck:
    """A brain that fails, in place of one that never comes to an end."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        raise BrokenContract(ErrorClass.UNKNOWN, "the brain calls tools and never answers")
        yield ""
