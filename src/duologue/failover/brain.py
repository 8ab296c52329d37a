"""Uses several brains as one: if one fails, the next one answers.

If a brain fails within its answer, a brain that can go on takes over after the last whole sentence: its request says
what was said so far. Rule: nothing is said twice. So no other brain takes over in the middle of a sentence, or after
anything else than text, such as a tool call. Then the failure is passed to the conversation, which may ask again; a new
request goes to the next healthy brain.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

from duologue.ports.brain import Brain, GoesOn, Part, Request, Summarises
from duologue.ports.streams import reading
from duologue.ports.switches import Switch

from .first_part import Won, first_part
from .sentence_seam import SentenceSeam
from .services import Services


class FallbackBrain(Brain):
    """Several brains that are used as one: each request goes to the first healthy brain. Made by `Fallback`."""

    def __init__(self, services: Services[Brain], after_ms: int | None) -> None:
        self._services, self._after_ms = services, after_ms
        self.can_guess = all(getattr(brain, "can_guess", False) for brain in services.all)
        self._goes_on = tuple(isinstance(brain, GoesOn) and brain.can_go_on for brain in services.all)
        self.can_go_on = any(self._goes_on)
        for brain in services.all:
            if isinstance(brain, Summarises):  # the first brain that can shorten text is used
                self.summarise = brain.summarise
                break

    @property
    def in_use(self) -> str:
        """The name of the brain that answered last."""
        return self._services.in_use

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        """Yield the parts of the reply, from the first brain that answers. If it fails after a whole sentence, another
        brain goes on."""
        seam = SentenceSeam(request.context.language if request.context is not None else "en")
        seam_is_used = any(self._goes_on)
        tried = set[int]()
        if request.said:  # a fallback of fallbacks
            tried |= self._unable()
        won = await self._ask(request, tried)
        while True:
            async with reading(won.stream) as parts:
                try:
                    for part in won.parts:
                        for ready in seam.take(part, _now()) if seam_is_used else (part,):
                            yield ready
                    async for part in parts:
                        for ready in seam.take(part, _now()) if seam_is_used else (part,):
                            yield ready
                    for ready in seam.rest():
                        yield ready
                    return
                except Exception as failure:
                    self._services.note_failed(won.index, failure)
                    tried |= {won.index, *self._unable()}
                    if not seam.is_open or len(tried) == len(self._services.all):
                        raise
            seam.go_on()
            said = f"{request.said} {seam.said}".strip()
            won = await self._ask(replace(request, said=said), tried)

    async def _ask(self, request: Request, tried: set[int]) -> Won[Part]:
        return await first_part(self._services, tried, lambda brain: brain.reply(request), self._after_ms)

    def _unable(self) -> set[int]:
        """The brains that can't go on with an answer that another brain has begun."""
        return {index for index, can in enumerate(self._goes_on) if not can}

    def follow_switches(self, notify: Callable[[Switch], None]) -> Callable[[], None]:
        """Call `notify` after each switch. Returns a function that unsubscribes."""
        return self._services.follow(notify)


def _now() -> int:
    return round(asyncio.get_running_loop().time() * 1000)
