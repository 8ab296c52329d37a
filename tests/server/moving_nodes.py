"""Nodes that share a store, on the simulated clock and without sockets. A page is a client that records its messages.

Rule: a node that dies disconnects no client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duologue.runtime.agent import Agent
from duologue.server.client_messages import ClientMessage
from duologue.server.close_codes import CloseCode
from duologue.server.conversations import Conversations
from duologue.server.leases import Leases
from duologue.server.served_conversation import ServedConversation
from duologue.server.settings import ServerSettings, WebhookSettings
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain, ScriptedVoice

TTL_MS = 3_000


def store_here() -> MemoryStore:
    loop = asyncio.get_running_loop()
    return MemoryStore(lambda: round(loop.time() * 1000))


class Page:
    """A client that plays nothing by itself: tests report how much was heard."""

    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.sounds: dict[int, int] = {}
        self.close_code: CloseCode | None = None

    @property
    def is_closing(self) -> bool:
        return self.close_code is not None

    def send_message(self, outgoing: dict[str, Any]) -> None:
        self.told.append(outgoing)

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        self.told.append({"type": f"play.{action}", "payload": {"voice": voice, "ms": ms}})

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        self.sounds[voice] = self.sounds.get(voice, 0) + len(pcm) // 48

    def drop_sound(self, voice: int) -> None: ...

    def send_cue(self, cue: int, pcm: bytes) -> None: ...

    def stop_cue(self) -> None: ...

    def send_ambient(self, pcm: bytes) -> None: ...

    def disconnect(self, close_code: CloseCode) -> None:
        self.close_code = close_code

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one["payload"] for one in self.told if one["type"] == f"duologue.{kind}"]


class Node:
    """One server's conversations and leases."""

    def __init__(
        self,
        name: str,
        store: Any,
        make: Callable[[], Agent],
        journals: Path | None = None,
        webhook: WebhookSettings | None = None,
    ) -> None:
        self.leases = Leases(store, name, ttl_ms=TTL_MS)
        self.conversations = Conversations(make, ServerSettings(journals=journals, webhook=webhook), self.leases)

    async def open(self) -> None:
        await self.leases.open(self.conversations)

    async def begin(self, page: Page, seat: str = "seat") -> ServedConversation:
        served = await self.conversations.begin(page, {"seat": seat}, "en")  # type: ignore[arg-type]
        await asyncio.sleep(0.2)
        return served

    async def reconnect(self, page: Page, hello: dict[str, Any]) -> ServedConversation | None:
        """Reconnect as a socket does."""
        served, _ = self.conversations.find(hello)
        served = served or await self.conversations.restore(hello)
        if served is not None:
            self.conversations.enter(served, page, hello, "en")  # type: ignore[arg-type]
        return served

    def die(self) -> None:
        """As after kill -9."""
        self.conversations.crash()


def hello_of(page: Page, **more: Any) -> dict[str, Any]:
    known = page.of("conversation")[-1]
    return {"seat": "seat", "conversation": known["conversation"], "key": known["key"], **more}


ANSWER = "Here is an answer that takes a while to say."


BRAINS: list[ScriptedBrain] = []


def make() -> Agent:
    brain = ScriptedBrain(lambda request: ANSWER)
    BRAINS.append(brain)
    return Agent(brain, voice=ScriptedVoice())


def asked() -> int:
    """How often any brain was asked."""
    return sum(len(brain.requests) for brain in BRAINS)


async def mid_sentence(store: MemoryStore) -> tuple[Node, Page, int]:
    """A node that dies while its answer is being heard; and which voice that was."""
    a, page = Node("a", store, make), Page()
    await a.open()
    served = await a.begin(page)
    served.do(ClientMessage("type", {"text": "what is it?", "id": "1"}))
    await asyncio.sleep(0.5)
    voice = max(page.sounds)
    served.line.note_played(voice, 300)
    await asyncio.sleep(0.2)
    a.die()
    return a, page, voice


async def taken_over(store: MemoryStore) -> Node:
    """Another node that has taken over by itself, because the lease ran out."""
    b = Node("b", store, make)
    await b.open()
    await asyncio.sleep(2 * TTL_MS / 1000)
    assert len(b.conversations.served) == 1
    return b
