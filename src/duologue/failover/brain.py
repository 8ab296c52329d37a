"""Uses several brains as one: if one fails, the next one answers.

Rule: after the first part of a reply has arrived, no other brain takes over this reply, because the other brain would
repeat what was already said. If the brain fails after the first part, the failure is passed to the conversation, which
may ask again; a new request goes to the next healthy brain.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from duologue.ports.brain import Brain, Part, Request, Summarises
from duologue.ports.streams import reading
from duologue.ports.switches import Switch

from .first_part import first_part
from .services import Services


class FallbackBrain(Brain):
    """Several brains that are used as one: each request goes to the first healthy brain. Made by `Fallback`."""

    def __init__(self, services: Services[Brain], after_ms: int | None) -> None:
        self._services, self._after_ms = services, after_ms
        self.can_guess = all(getattr(brain, "can_guess", False) for brain in services.all)
        for brain in services.all:
            if isinstance(brain, Summarises):  # the first brain that can shorten text is used
                self.summarise = brain.summarise
                break

    @property
    def in_use(self) -> str:
        """The name of the brain that answered last."""
        return self._services.in_use

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        """Yield the parts of the reply, from the first brain that answers."""
        won = await first_part(self._services, set(), lambda brain: brain.reply(request), self._after_ms)
        async with reading(won.stream) as parts:
            for part in won.parts:
                yield part
            try:
                async for part in parts:
                    yield part
            except Exception as failure:
                self._services.note_failed(won.index, failure)
                raise

    def follow_switches(self, notify: Callable[[Switch], None]) -> Callable[[], None]:
        """Call `notify` after each switch. Returns a function that unsubscribes."""
        return self._services.follow(notify)
