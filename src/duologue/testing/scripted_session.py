"""A session that follows a script: it can be slow, fail or expire.

Rule: the session counts how often its methods are called and records each context, so that a test can check this.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import SessionContext, SessionLife


@dataclass
class ScriptedSession:
    """A scripted session. Each call of `open` takes the next item from `failures`. If the item is an exception, `open`
    raises it. If the item is None, or if no items are left, `open` succeeds. `renew` does the same with
    `renew_failures`."""

    open_ms: int = 0
    renew_ms: int = 0
    failures: list[BaseException | None] = field(default_factory=list)
    renew_failures: list[BaseException | None] = field(default_factory=list)
    active: bool = True
    contexts: list[SessionContext | None] = field(default_factory=list)
    opens: int = 0
    renewals: int = 0
    closes: int = 0
    life: SessionLife = field(default_factory=SessionLife)
    followers: list[Callable[[SessionLife], None]] = field(default_factory=list)
    tell: Callable[[Wobbled | Healed | Closed], None] = lambda event: None  # noqa: ARG005

    async def open(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        self.opens += 1
        await _wait_and_fail(self.open_ms, self.failures)
        self.contexts.append(context)
        self.tell = notify

    async def renew(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        self.renewals += 1
        await _wait_and_fail(self.renew_ms, self.renew_failures)
        self.contexts.append(context)
        self.tell = notify

    async def close(self) -> None:
        self.closes += 1

    def follow_life(self, notify: Callable[[SessionLife], None]) -> Callable[[], None]:
        self.followers.append(notify)
        notify(self.life)
        return lambda: self.followers.remove(notify)

    def report_life(self, active: bool = True, left_ms: int | None = None) -> None:
        """Report whether the session is active, and in how many milliseconds it expires."""
        self.life = SessionLife(active, left_ms)
        for notify in tuple(self.followers):
            notify(self.life)


async def _wait_and_fail(ms: int, failures: list[BaseException | None]) -> None:
    if ms:
        await asyncio.sleep(ms / 1000)
    failure = failures.pop(0) if failures else None
    if failure is not None:
        raise failure
