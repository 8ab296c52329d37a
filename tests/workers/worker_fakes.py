"""A job that records what its worker reports."""

from __future__ import annotations

import asyncio

from tests.limits import WAIT_S


class NotedJob:
    """Records the reports of a worker, and answers its questions with `answer`."""

    def __init__(self, call: int = 1, answer: str = "") -> None:
        self.call = call
        self.answer = answer
        self.reports: list[tuple[str, float | None]] = []
        self.partials: list[str] = []
        self.asked: list[str] = []
        self.detached = False
        self.hung_up = False
        self._reported = asyncio.Event()

    def progress(self, text: str, fraction: float | None = None) -> None:
        self.reports.append((text, fraction))
        self._reported.set()

    def partial(self, text: str) -> None:
        self.partials.append(text)

    async def ask(self, question: str) -> str:
        self.asked.append(question)
        return self.answer

    def detach(self) -> None:
        self.detached = True

    context: None = None

    def hang_up(self) -> None:
        self.hung_up = True

    async def hears(self, text: str) -> None:
        """Wait until this progress was reported."""
        async with asyncio.timeout(WAIT_S):
            while text not in [said for said, _ in self.reports]:
                self._reported.clear()
                await self._reported.wait()
