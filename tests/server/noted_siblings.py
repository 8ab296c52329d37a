"""Siblings that only note what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duologue.server.siblings import NoSiblings


class NotedSiblings(NoSiblings):
    """What one process tells the others."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.shared: list[Sequence[dict[str, Any]]] = []

    def note_begun(self, conversation: str, seat: str) -> None:
        self.told.append(("begun", seat))

    def note_ended(self, conversation: str) -> None:
        self.told.append(("ended", conversation))

    def note_forgotten(self, conversation: str) -> None:
        self.told.append(("forgotten", conversation))

    def want_calls(self, is_wanted: bool) -> None:
        self.told.append(("calls", "wanted" if is_wanted else "not wanted"))

    def share_calls(self, calls: Sequence[dict[str, Any]]) -> None:
        self.shared.append(calls)


class SiblingsWith(NotedSiblings):
    """Another process has the conversation with this id. It can't be given a request, because its client is gone: a
    request that is given away is answered by the other process."""

    def __init__(self, conversation: str) -> None:
        super().__init__()
        self.given: list[tuple[str, bytes]] = []
        self._conversation = conversation

    async def find(self, seat: str, conversation: str) -> int | None:
        return 1 if conversation == self._conversation else None

    def give_request(self, scope: dict[str, Any], process: int, body: bytes = b"") -> bool:
        self.given.append((scope["path"], body))
        return False
