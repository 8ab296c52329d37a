"""Uses several ears (services for VAD and STT) as one: if one service fails, the next one listens.

When ears fail, the next ears get the audio of the open utterance again, so its words aren't lost. When the preferred
ears are healthy again, they are used again, but only after the end of a turn, while no utterance is open. Rule: an
utterance keeps its number, and its onset is reported once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Ears, Heard, Incoming, NeedsLoading
from duologue.ports.failure import BrokenContract
from duologue.ports.streams import reading
from duologue.ports.switches import Switch

from .audio_feed import AudioFeed
from .numbered_reports import NumberedReports
from .services import Services


class FallbackEars(Ears):
    """Several ears that are used as one: the audio goes to the first healthy ears. Made by `Fallback`."""

    def __init__(self, services: Services[Ears]) -> None:
        self._services = services

    @property
    def in_use(self) -> str:
        """The name of the ears that heard something last."""
        return self._services.in_use

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of all ears, to be written to a journal."""
        return {"fallback": [getattr(ears, "settings", type(ears).__name__) for ears in self._services.all]}

    @property
    def languages(self) -> frozenset[str] | None:
        """The languages that the preferred ears (the first in the list) understand; None if those ears don't say."""
        return getattr(self._services.all[0], "languages", None)

    @property
    def is_ready(self) -> bool:
        """Are all ears ready? Ears that need no preparation are always ready."""
        return all(ears.is_ready for ears in self._services.all if isinstance(ears, NeedsLoading))

    async def prepare(self) -> None:
        """Make all ears ready."""
        await asyncio.gather(*(ears.prepare() for ears in self._services.all if isinstance(ears, NeedsLoading)))

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        """Yield the reports of the first healthy ears. If these ears fail, go on with the reports of the next ears."""
        feed, reports = AudioFeed(audio), NumberedReports()
        pumping = asyncio.ensure_future(feed.pump())
        tried = set[int]()
        try:
            while True:
                index = next(index for index in self._services.order() if index not in tried)
                feed.on_commit = lambda used=index: self._may_return(used, feed, reports)  # type: ignore[misc]
                reports.begin()
                try:
                    async with reading(self._services.all[index].listen(feed.open())) as stream:
                        async for heard in stream:
                            tried.clear()
                            self._services.note_worked(index)
                            for report in reports.take(heard):
                                yield report
                            feed.is_needed = reports.is_open
                    if feed.has_ended:
                        return
                    if not feed.is_cut:
                        raise BrokenContract(ErrorClass.NETWORK_TIMEOUT, "the ears stopped listening")
                except Exception as failure:
                    self._services.note_failed(index, failure)
                    tried.add(index)
                    if len(tried) == len(self._services.all) or feed.has_ended:
                        raise
        finally:
            pumping.cancel()
            await asyncio.wait([pumping])

    def follow_switches(self, notify: Callable[[Switch], None]) -> Callable[[], None]:
        """Call `notify` after each switch. Returns a function that unsubscribes."""
        return self._services.follow(notify)

    def _may_return(self, index: int, feed: AudioFeed, reports: NumberedReports) -> None:
        """After the end of a turn, stop using these ears if preferred ears are healthy again and no utterance is
        open."""
        if self._services.order()[0] < index and not reports.is_open:
            feed.cut()
