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
