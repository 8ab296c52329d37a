"""Nodes that share a store, on the simulated clock and without sockets: a page is a guest that notes what it is told.

Rule: a node that dies says goodbye to nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from duologue.runtime.agent import Agent
from duologue.server.close_codes import CloseCode
from duologue.server.conversations import Conversations
from duologue.server.leases import Leases
from duologue.server.served_conversation import ServedConversation
from duologue.server.settings import ServerSettings
from duologue.store.memory import MemoryStore

TTL_MS = 3_000


def store_here() -> MemoryStore:
    loop = asyncio.get_running_loop()
    return MemoryStore(lambda: round(loop.time() * 1000))


class Page:
    """A client that plays nothing by itself: tests say how much was heard."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.sounds: dict[int, int] = {}
        self.goodbye: CloseCode | None = None

    @property
    def is_leaving(self) -> bool:
        return self.goodbye is not None

    def tell(self, told: dict[str, Any]) -> None:
        self.told.append(told)

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        self.told.append({"type": f"play.{action}", "payload": {"voice": voice, "ms": ms}})

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        self.sounds[voice] = self.sounds.get(voice, 0) + len(pcm) // 48

    def drop_sound(self, voice: int) -> None: ...

    def leave(self, goodbye: CloseCode) -> None:
        self.goodbye = goodbye

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one["payload"] for one in self.told if one["type"] == f"duologue.{kind}"]


class Node:
    """One server, as far as conversations go."""

    def __init__(self, name: str, store: Any, make: Callable[[], Agent]) -> None:
        self.custody = Leases(store, name, ttl_ms=TTL_MS)
        self.hall = Conversations(make, ServerSettings(), self.custody)

    async def open(self) -> None:
        await self.custody.open(self.hall.adopt)

    async def begin(self, page: Page, seat: str = "seat") -> ServedConversation:
        room = self.hall.begin(page, {"seat": seat}, "en")  # type: ignore[arg-type]
        await asyncio.sleep(0.2)
        return room

    async def come_back(self, page: Page, hello: dict[str, Any]) -> ServedConversation | None:
        """As a socket does it."""
        room, _ = self.hall.find(hello)
        room = room or await self.hall.bring_back(hello)
        if room is not None:
            self.hall.enter(room, page, hello, "en")  # type: ignore[arg-type]
        return room

    def die(self) -> None:
        """kill -9."""
        if self.custody._beating is not None:
            self.custody._beating.cancel()
        for room in self.hall.rooms.values():
            room.conversation.crash()
        self.custody._writers.clear()
        self.custody._rooms.clear()


def hello_of(page: Page, **more: Any) -> dict[str, Any]:
    known = page.of("conversation")[-1]
    return {"seat": "seat", "conversation": known["conversation"], "key": known["key"], **more}
