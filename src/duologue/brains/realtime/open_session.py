"""An open session: its connection and its exchange of requests and responses.

Rule: the loss of a session is reported once. A session that was closed on purpose reports nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duologue.brains.model_wire import ModelWire
from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Heard
from duologue.ports.failure import ServiceError

from . import client_events as ce
from .connection import Connection
from .exchange import Exchange
from .failures import classify_code, failure_of
from .mirror import Mirror
from .settings import RealtimeSettings
from .utterances import Utterances

if TYPE_CHECKING:
    from .client_events import ClientEvent


class RealtimeSession:
    """One session on one connection."""

    def __init__(
        self,
        wire: ModelWire,
        settings: RealtimeSettings,
        mirror: Mirror,
        utterances: Utterances,
        counts: Counter[str],
        hear: Callable[[Heard], None],
    ) -> None:
        self._task: dict[str, Any] = {}  # instructions and tools, as last sent
        self._lost: Callable[[RealtimeSession, ServiceError], None] = lambda live, failure: None  # noqa: ARG005
        self._healthy: Callable[[RealtimeSession, bool], None] = lambda live, healthy: None  # noqa: ARG005
        self._failure: ServiceError | None = None
        self.exchange = Exchange(settings, mirror, utterances, counts, self.send, hear, self._expire)
        self.connection = Connection(
            wire, settings, counts, self.exchange.take, self._note_lost, lambda well: self._healthy(self, well)
        )

    def watch(
        self, lost: Callable[[RealtimeSession, ServiceError], None], healthy: Callable[[RealtimeSession, bool], None]
    ) -> None:
        self._lost, self._healthy = lost, healthy

    async def begin(self, settings: dict[str, Any]) -> None:
        """Wait for the session to begin, apply the settings, then send the context of earlier sessions. Raises
        ServiceError if the server refuses the settings or the session is lost."""
        await self.exchange.began.wait()
        if self._failure is not None:
            raise self._failure
        self.send(ce.update_session(settings))
        await self.exchange.changed.wait()
        refused = self._failure or self.exchange.refused
        if refused is not None:
            raise refused
        self.exchange.send_all(self.exchange.mirror.restore())

    def changes(self, task: dict[str, Any]) -> dict[str, Any]:
        """Return the instructions and tools that must be sent, and treat them as sent. Usually these are only those
        that have changed since the last call; but if the server refused an update, these are all of them. Empty if
        nothing must be sent."""
        if self.exchange.lost_update:
            self.exchange.lost_update, self._task = False, {}
        new = {key: value for key, value in task.items() if key != "type" and self._task.get(key) != value}
        self._task = task
        return {"type": task["type"], **new} if new else {}

    def send(self, event: ClientEvent) -> str:
        return self.connection.send(event)

    async def close(self) -> None:
        self.watch(lambda live, failure: None, lambda live, healthy: None)  # noqa: ARG005
        await self.connection.close()
        self.exchange.fail_all(failure_of(ErrorClass.NETWORK_TIMEOUT))

    def _expire(self, failure: ServiceError) -> None:
        self._failure = failure
        self.connection.lose(failure)

    def _note_lost(self, failure: BaseException) -> None:
        reason = str(getattr(getattr(failure, "rcvd", None), "reason", "") or "")
        error = classify_code(reason) if reason else ErrorClass.NETWORK_TIMEOUT
        if self._failure is None:
            self._failure = failure_of(error, reason)
            self._failure.__cause__ = failure
        self.exchange.began.set()  # wakes a caller that waits for the session to begin
        self.exchange.changed.set()
        self._lost(self, self._failure)
