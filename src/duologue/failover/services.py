"""The services of one fallback: the order in which to try them, and the functions to call when another service is used
(a switch).

Rule: all conversations that use the fallback share what is known about the health of its services, because a service
that fails usually fails for all of them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import classify
from duologue.ports.switches import Switch

from .health import HealthRule, ServiceHealth, failed, order, worked

LOG = logging.getLogger("duologue.failover")
S = TypeVar("S")


class Services(Generic[S]):
    """Services of one kind, the preferred one first."""

    def __init__(self, part: str, services: Sequence[S], rule: HealthRule, names: Sequence[str] | None) -> None:
        self.all = tuple(services)
        self._part, self._rule = part, rule
        self._health = [ServiceHealth() for _ in self.all]
        self._names = tuple(names) if names is not None else _names_of(self.all)
        if len(self._names) != len(self.all):
            raise ValueError(
                f"`names` has {len(self._names)} entries for {len(self.all)} services: pass one name for each service"
            )
        self._used = 0  # the service that was used last
        self._why = ""  # why the next switch is made
        self._notified: list[Callable[[Switch], None]] = []

    @property
    def in_use(self) -> str:
        """The name of the service that was used last."""
        return self._names[self._used]

    def order(self) -> tuple[int, ...]:
        """The indices of the services, in the order in which to try them now."""
        return order(self._rule, self._health, _now())

    def note_worked(self, index: int, latency_ms: int | None = None) -> None:
        """Record that this service works. If another service was used last, report the switch."""
        self._health[index] = worked(self._health[index], latency_ms)
        if index != self._used:
            self._switch(index)

    def note_failed(self, index: int, failure: BaseException) -> None:
        """Record that this service has failed."""
        error = ErrorClass.NETWORK_TIMEOUT if isinstance(failure, TimeoutError) else classify(failure)
        self._health[index] = failed(self._rule, self._health[index], error, _now())
        if index == self._used:
            self._why = error.value

    def follow(self, notify: Callable[[Switch], None]) -> Callable[[], None]:
        """Call `notify` after each switch. Returns a function that unsubscribes."""
        self._notified.append(notify)
        return lambda: self._notified.remove(notify) if notify in self._notified else None

    def _switch(self, index: int) -> None:
        why = self._why or ("healthy" if index < self._used else "slow")
        switch = Switch(self._part, self._names[self._used], self._names[index], why)
        self._used, self._why = index, ""
        LOG.warning("%s: %s instead of %s (%s)", switch.part, switch.target, switch.source, switch.why)
        for notify in tuple(self._notified):
            notify(switch)


def _now() -> int:
    return round(asyncio.get_running_loop().time() * 1000)


def _names_of(services: Sequence[object]) -> tuple[str, ...]:
    """A name for each service: the name of its class, with a number if several services have this class."""
    kinds = [type(service).__name__ for service in services]
    return tuple(
        kind if kinds.count(kind) == 1 else f"{kind} {kinds[: number + 1].count(kind)}"
        for number, kind in enumerate(kinds)
    )
