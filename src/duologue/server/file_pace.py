"""Limits how many of the panel's files a server sends per second, so that clients which ask for many files don't delay
conversations.

The first files are sent at once, and further ones at a steady pace. Rule: addresses take turns, so an address that asks
for many files delays mainly itself.
"""

from __future__ import annotations

import asyncio

from duologue.fairness.fair_places import FairPlaces
from duologue.fairness.fair_queue import Shares

TOGETHER_MAX = 16  # files that are sent at once
PAUSE_S = 0.016  # for this time, a file takes up its place: at most 1,000 files a second, and 560 to one address
EACH_WAITING_MAX = 400  # files of one address


class FilePace:
    """The pace of one server process."""

    def __init__(self) -> None:
        self._places = FairPlaces(Shares(TOGETHER_MAX, TOGETHER_MAX, EACH_WAITING_MAX))

    async def wait(self, address: str) -> None:
        """Wait until one more file may be sent to this address. Raises QueueFull if too many of its requests wait."""
        await self._places.take(address)
        asyncio.get_running_loop().call_later(PAUSE_S, self._places.give_back, address)
