"""One connection to a Realtime server: events as JSON, each with an id.

This module knows JSON, but not what an event means. Rule: if an event arrives twice, the second one is ignored. An
event that is unknown or unreadable is only counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duologue.brains.model_wire import ModelWire, WireTasks

from .server_events import Happened, UnknownEvent, UnreadableEvent, read
from .settings import RealtimeSettings

if TYPE_CHECKING:
    from .client_events import ClientEvent

IDS_MAX = 256  # how many ids of server events are remembered, to detect repeated events


class Connection:
    """The connection of one session. `take` is called once for every server event that is known and readable. `lost` is
    called once if the connection is lost. `healthy` is called with False when the server is late to answer a ping, and
    with True when the answer arrives."""

    def __init__(
        self,
        wire: ModelWire,
        settings: RealtimeSettings,
        counts: Counter[str],
        take: Callable[[Happened], None],
        lost: Callable[[BaseException], None],
        healthy: Callable[[bool], None],
    ) -> None:
        self._counts = counts
        self._take = take
        self._number = 0
        self._ids: dict[str, None] = {}
        self._tasks = WireTasks(
            wire,
            counts,
            self._note,
            lost,
            healthy,
            name="realtime",
            ping_ms=settings.ping_ms,
            pong_ms_max=settings.pong_ms_max,
        )

    @property
    def is_over(self) -> bool:
        return self._tasks.is_over

    @property
    def received(self) -> int:
        """How many messages have arrived."""
        return self._tasks.received

    def send(self, event: ClientEvent) -> str:
        """Queue this event after all earlier ones and return its id. The event is dropped if the connection is over. An
        audio event is also dropped if too many events are waiting."""
        self._number += 1
        name = f"duologue_{self._number}"
        text = json.dumps({"event_id": name, **event}, separators=(",", ":"))
        self._tasks.send(text, is_audio=event["type"] == "input_audio_buffer.append")
        return name

    async def close(self) -> None:
        """Close the connection, after a short wait for queued events to be sent."""
        await self._tasks.close()

    def lose(self, failure: BaseException) -> None:
        """Treat the connection as lost. The loss is reported only one time."""
        self._tasks.lose(failure)

    def _note(self, text: str | bytes) -> None:
        try:
            event: Any = json.loads(text)
        except (ValueError, RecursionError):
            event = None
        if self._is_repeated(event):
            self._counts["repeated"] += 1
            return
        happened = read(event)
        if isinstance(happened, UnknownEvent | UnreadableEvent):
            self._counts["unknown" if isinstance(happened, UnknownEvent) else "unreadable"] += 1
            return
        self._take(happened)

    def _is_repeated(self, event: object) -> bool:
        name = event.get("event_id") if isinstance(event, dict) else None
        if not isinstance(name, str) or not name:
            return False
        if name in self._ids:
            return True
        self._ids[name] = None
        if len(self._ids) > IDS_MAX:
            del self._ids[next(iter(self._ids))]
        return False
