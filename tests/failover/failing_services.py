"""Services for failover tests: they work, fail or hang as told, on the simulated clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from duologue.core.leaves import ErrorClass
from duologue.ports import Part, Request, ServiceError, Sound, Word

DOWN = ServiceError(ErrorClass.SERVER_ERROR, "down")
CHAR_MS = 50


class Brain:
    """Says its parts. It fails before the part with the number `fails_at`, after waiting `wait_ms` for the first."""

    def __init__(self, *parts: Part, fails_at: int | None = None, wait_ms: int = 0) -> None:
        self.parts, self.fails_at, self.wait_ms = parts, fails_at, wait_ms
        self.failure: Exception = DOWN
        self.requests: list[Request] = []
        self.closed = 0

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        self.requests.append(request)
        try:
            await asyncio.sleep(self.wait_ms / 1000)
            for number, part in enumerate(self.parts):
                if number == self.fails_at:
                    raise self.failure
                yield part
            if self.fails_at is not None and self.fails_at >= len(self.parts):
                raise self.failure
        finally:
            self.closed += 1


class Voice:
    """Speaks CHAR_MS for a character, in pieces of 120 ms. It fails after `fails_after_ms` of sound."""

    def __init__(self, fails_after_ms: int | None = None, has_times: bool = True, wait_ms: int = 0) -> None:
        self.fails_after_ms, self.has_times, self.wait_ms = fails_after_ms, has_times, wait_ms
        self.texts: list[str] = []
        self.closed = 0

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        self.texts.append(text)
        words, at = list[Word](), 0
        for word in text.split():
            words.append(Word(word, at * CHAR_MS, (at + len(word)) * CHAR_MS))
            at += len(word) + 1
        total_ms, made_ms = len(text) * CHAR_MS, 0
        try:
            await asyncio.sleep(self.wait_ms / 1000)
            while made_ms < total_ms:
                if self.fails_after_ms is not None and made_ms >= self.fails_after_ms:
                    raise DOWN
                ms = min(120, total_ms - made_ms)
                ended = [one for one in words if made_ms < one.end_ms <= made_ms + ms] if self.has_times else []
                shifted = tuple(Word(one.text, one.start_ms - made_ms, one.end_ms - made_ms) for one in ended)
                yield Sound(ms, bytes(48 * ms), 24_000, shifted)
                made_ms += ms
        finally:
            self.closed += 1
