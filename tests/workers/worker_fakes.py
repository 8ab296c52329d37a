"""A job that only notes what its worker tells it."""

from __future__ import annotations

import asyncio

WAIT_S_MAX = 30


class NotedJob:
    """What a worker told its job, and the answers that it gets."""

    def __init__(self, call: int = 1, answer: str = "") -> None:
        self.call = call
        self.answer = answer
        self.told: list[tuple[str, float | None]] = []
        self.partials: list[str] = []
        self.asked: list[str] = []
        self.detached = False
        self._news = asyncio.Event()

    def progress(self, text: str, fraction: float | None = None) -> None:
        self.told.append((text, fraction))
        self._news.set()

    def partial(self, text: str) -> None:
        self.partials.append(text)

    async def ask(self, question: str) -> str:
        self.asked.append(question)
        return self.answer

    def detach(self) -> None:
        self.detached = True

    async def hears(self, text: str) -> None:
        """Wait until this progress has come."""
        async with asyncio.timeout(WAIT_S_MAX):
            while text not in [said for said, _ in self.told]:
                self._news.clear()
                await self._news.wait()
