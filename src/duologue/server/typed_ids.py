"""Remembers the ids of typed messages, as long as the client may send the same message again. No clock is used here:
the time is an argument.

A client repeats a message until it gets a confirmation. So an id that wasn't confirmed is never forgotten. The
confirmation itself may be lost when the socket breaks. Then the client notices, reconnects and repeats the message
within `KEEP_MS`, so a confirmed id is remembered for that long. Rule: an id is forgotten only if the client can't send
it again.
"""

from __future__ import annotations

from collections.abc import Iterable

KEEP_MS = 600_000  # a dead socket is noticed within 40 s, and a client that is away for minutes has no conversation


class TypedIds:
    """The ids of the typed messages of one conversation."""

    def __init__(self, earlier: Iterable[str] = (), now_ms: int = 0) -> None:
        # By id: when it was confirmed. Those of an earlier process are confirmed, because they are saved.
        self._confirmed_ms: dict[str, int | None] = dict.fromkeys(earlier, now_ms)

    def __contains__(self, id_: str) -> bool:
        return id_ in self._confirmed_ms

    def __len__(self) -> int:
        return len(self._confirmed_ms)

    def add(self, id_: str, now_ms: int) -> None:
        """Record that a message with this id was accepted."""
        self._confirmed_ms.setdefault(id_, None)
        old = [one for one, at_ms in self._confirmed_ms.items() if at_ms is not None and now_ms - at_ms > KEEP_MS]
        for one in old:
            del self._confirmed_ms[one]

    def confirm(self, id_: str, now_ms: int) -> None:
        """Record that a confirmation of this id is being sent to the client."""
        if id_ in self._confirmed_ms:
            self._confirmed_ms[id_] = now_ms

    def dump(self) -> list[str]:
        """All ids, the oldest first."""
        return list(self._confirmed_ms)
