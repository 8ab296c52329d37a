"""A session that follows a script: slow, failing, expiring.

Rule: it remembers what it was given, so that a test can look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import Context


@dataclass
class ScriptedSession:
    """`failures` are raised one after the other before it opens; None in between is a success."""

    open_ms: int = 0
    renew_ms: int = 0
    failures: list[BaseException | None] = field(default_factory=list)
    renew_failures: list[BaseException | None] = field(default_factory=list)
    active: bool = True
    contexts: list[Context | None] = field(default_factory=list)
    opens: int = 0
    renewals: int = 0
    closes: int = 0
    tell: Callable[[Wobbled | Healed | Closed], None] = lambda event: None  # noqa: ARG005

    async def open(self, context: Context | None, tell: Callable[[Wobbled | Healed | Closed], None]) -> None:
        self.opens += 1
        await _take(self.open_ms, self.failures)
        self.contexts.append(context)
        self.tell = tell

    async def renew(self, context: Context | None, tell: Callable[[Wobbled | Healed | Closed], None]) -> None:
        self.renewals += 1
        await _take(self.renew_ms, self.renew_failures)
        self.contexts.append(context)
        self.tell = tell

    async def close(self) -> None:
        self.closes += 1


async def _take(ms: int, failures: list[BaseException | None]) -> None:
    if ms:
        await asyncio.sleep(ms / 1000)
    failure = failures.pop(0) if failures else None
    if failure is not None:
        raise failure
