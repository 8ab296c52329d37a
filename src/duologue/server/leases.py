"""Conversations that outlive their server: claimed in the store, kept as they change, handed on.

One node holds a conversation at a time. A client that comes back has its conversation moved to where it came; one whose
node died is taken over when its lease runs out. Rule: whoever is overtaken is silent at once, and says so in the log.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import (
    Damaged,
    Fenced,
    Held,
    Lease,
    NameTaken,
    ServerNode,
    Store,
    StoredConversation,
    StoreFailed,
)
from duologue.runtime.checkpoint_writer import CheckpointWriter

if TYPE_CHECKING:
    from .served_conversation import ServedConversation

LOG = logging.getLogger("duologue.server")
TTL_MS = 10_000
ELSEWHERE_MAX = 10_000  # conversations that are known to have gone, in case something of them still runs here
ORPHANS_MAX = 5  # taken over at a time
PARTS = ("machine", "words", "room", "dialogue")


def hash_of(key: str) -> str:
    """What the store knows of a key."""
    return hashlib.sha256(key.encode()).hexdigest()


def without_id(problem: DuologueError, conversation: str) -> str:
    """What a log may say of it: whoever knows an id is a step closer to the conversation."""
    return str(problem).replace(conversation, correlation_id(conversation))


class Leases:
    """What this node holds. `adopt` restores a conversation that nobody holds."""

    def __init__(self, store: Store, name: str, address: str = "", ttl_ms: int = TTL_MS) -> None:
        self.store = store
        self.name = name
        self._address = address
        self._instance = uuid.uuid4().hex
        self._ttl_ms = ttl_ms
        self._served: dict[str, ServedConversation] = {}
        self._writers: dict[str, CheckpointWriter] = {}
        self._dialogues: dict[str, dict[str, Any] | None] = {}
        self._private: set[str] = set()
        self._unkept: dict[str, ServedConversation] = {}  # could not be claimed when they began
        self._elsewhere: OrderedDict[str, None] = OrderedDict()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._damaged: dict[str, None] = {}  # we can't go on with these
        self.agent = ""  # whose conversations these are: a store may hold those of others
        self._beating: asyncio.Task[None] | None = None
        self._is_failing = False
        self.is_leaving = False  # nothing more is taken over

    # -- The node

    async def open(self, adopt: Callable[[StoredConversation, Lease], Awaitable[None]]) -> None:
        await self.store.open()
        await self.store.enlist(self._node(), self._ttl_ms)
        self._beating = asyncio.get_running_loop().create_task(self._beat(adopt), name="leases")

    async def close(self) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        with self._grumbling("leaving"):
            await self.store.leave(self._node())
        await self.store.close()

    def _node(self) -> ServerNode:
        return ServerNode(self.name, self._instance, self._address, len(self._writers))

    async def _beat(self, adopt: Callable[[StoredConversation, Lease], Awaitable[None]]) -> None:
        """Renew what we hold, and take over what nobody does. Whatever fails, it goes on: without it, every
        conversation of this node would be lost."""
        while True:
            await asyncio.sleep(self._ttl_ms / 3000)
            with self._grumbling("renewing"):
                await self._renew()
            with self._grumbling("taking over"):
                for served in tuple(self._unkept.values()):
                    await self.take(served)
                if not self.is_leaving:
                    for orphan in await self.store.orphans(ORPHANS_MAX + len(self._damaged)):
                        await self._take_over(orphan, adopt)

    async def _renew(self) -> None:
        held = {writer.lease: writer for writer in self._writers.values()}
        for lease in await self.store.renew(list(held), self._ttl_ms):
            self._lose(held[lease])
        try:
            await self.store.enlist(self._node(), self._ttl_ms)
        except NameTaken as problem:  # it took ours for gone; conversations are claimed by epoch, so nothing is shared
            LOG.error("%s", problem)

    def turn(self, conversation: str) -> asyncio.Lock:
        """Whoever claims and restores a conversation here does so alone: a client that comes back, and the beat."""
        lock = self._turns.get(conversation) or asyncio.Lock()
        self._turns[conversation] = lock
        return lock

    async def _take_over(
        self, conversation: str, adopt: Callable[[StoredConversation, Lease], Awaitable[None]]
    ) -> None:
        """One that is damaged keeps nobody from the others, and is told of once. Our own, whose lease could not be
        renewed in time, are ours until somebody else claims them."""
        async with self.turn(conversation):
            if conversation in self._damaged or conversation in self._writers:
                return
            try:
                if self._is_of_another(await self.store.read(conversation)):
                    self._damaged[conversation] = None
                    return
                lease, kept = await self.store.claim(conversation, self.name, self._ttl_ms)
                LOG.info("%s: nobody holds it, taken over", correlation_id(conversation))
                await adopt(kept, lease)
            except (Held, Fenced):
                return  # somebody else was faster
            except Damaged as problem:
                self._damaged[conversation] = None
                LOG.error("%s: can't go on: %s", correlation_id(conversation), without_id(problem, conversation))

    @contextmanager
    def _grumbling(self, what: str) -> Iterator[None]:
        """A store that fails is told of once, and again when it works. Whatever else happens is told, too: a node
        that no longer renews would lose every conversation."""
        try:
            yield
        except DuologueError as problem:
            if not self._is_failing:
                LOG.error("the store fails at %s: %s", what, problem)
            self._is_failing = True
        except Exception as failure:  # noqa: BLE001 - it may be an agent's own code
            LOG.error("%s: %s", what, type(failure).__name__)
        else:
            if self._is_failing:
                LOG.info("the store works again")
            self._is_failing = False

    # -- Conversations

    async def take(self, served: ServedConversation) -> None:
        """Keep a new conversation. Where the store fails, its client is told, and it is kept as soon as that works."""
        try:
            lease, kept = await self.store.claim(served.id, self.name, self._ttl_ms, key_hash=served.key_hash)
        except (StoreFailed, Held) as problem:
            if served.id not in self._unkept:
                LOG.error("%s: is not kept: %s", correlation_id(served.id), without_id(problem, served.id))
                self._unkept[served.id] = served
                served.note_unsaved(True)
            return
        dialogue = self._dialogues.get(served.id)
        self.hold(served, lease, kept)
        if self._unkept.pop(served.id, None) is not None:
            self._dialogues[served.id] = dialogue
            served.note_unsaved(False)

    async def reclaim(self, conversation: str, key: str) -> tuple[Lease, StoredConversation] | None:
        """A client has come back to us. None if there is no such conversation, or the key is not its own."""
        kept = await self.store.read(conversation)
        if kept is None or kept.is_over or self._is_of_another(kept):
            return None
        try:
            return await self.store.claim(conversation, self.name, self._ttl_ms, key_hash=hash_of(key), force=True)
        except Held:
            return None

    def _is_of_another(self, kept: StoredConversation | None) -> bool:
        """Does it belong to an agent that is not ours? Then it is left to a server that has it."""
        served = kept.parts.get("room") if kept is not None else None
        return isinstance(served, dict) and served.get("agent", self.agent) != self.agent

    def hold(self, served: ServedConversation, lease: Lease, kept: StoredConversation) -> None:
        """This conversation is ours from here on."""
        id_ = served.id
        earlier = self._served.get(id_)
        if earlier is not None and earlier is not served:
            earlier.lose()
        writer = CheckpointWriter(
            self.store,
            lease,
            kept.revision,
            lambda: self._lose(writer),
            lambda problem: self._tell_trouble(writer, problem),
        )
        self._elsewhere.pop(id_, None)
        self._served[id_], self._writers[id_] = served, writer
        self._dialogues[id_] = kept.parts.get("dialogue")
        if served.conversation.agent.private:
            self._private.add(id_)
        writer.add_part("room", lambda: None if id_ in self._private else served.dump() | {"agent": self.agent})
        writer.add_part("dialogue", lambda: None if id_ in self._private else self._dialogues.get(id_))
        served.keep(writer)

    async def let_go(self, served: ServedConversation, is_over: bool) -> None:
        """Write the rest. One that is over is over; any other may be claimed by anybody at once."""
        self._unkept.pop(served.id, None)
        if self._served.get(served.id) is not served:
            return  # it was lost, and may be here again as another object
        writer = self._writers[served.id]
        await writer.close(PARTS, is_over)
        if self._writers.get(served.id) is writer:
            self._forget(served.id)

    def _forget(self, conversation: str) -> None:
        """What still runs of it may do nothing more that can't be repeated."""
        self._served.pop(conversation, None)
        self._writers.pop(conversation, None)
        self._dialogues.pop(conversation, None)
        self._private.discard(conversation)
        self._unkept.pop(conversation, None)
        self._elsewhere[conversation] = None
        while len(self._elsewhere) > ELSEWHERE_MAX:
            self._elsewhere.popitem(last=False)

    def _lose(self, writer: CheckpointWriter) -> None:
        conversation = writer.lease.conversation
        if self._writers.get(conversation) is not writer:
            return  # of an earlier time that it was here
        served = self._served[conversation]
        self._forget(conversation)
        LOG.warning("%s: another node has this conversation: silent from now on", correlation_id(conversation))
        served.lose()

    def _tell_trouble(self, writer: CheckpointWriter, problem: StoreFailed | None) -> None:
        conversation = writer.lease.conversation
        served = self._served.get(conversation) if self._writers.get(conversation) is writer else None
        if problem is not None:
            LOG.error("%s: can't be saved: %s", correlation_id(conversation), without_id(problem, conversation))
        if served is not None:
            served.note_unsaved(problem is not None)

    # -- What a brain remembers

    async def load(self, conversation: str) -> dict[str, Any] | None:
        return self._dialogues.get(conversation)

    async def save(self, conversation: str, data: dict[str, Any], reasons: tuple[str, ...]) -> None:
        """An action waits until this is safe; everything else goes on."""
        writer = self._writers.get(conversation)
        if conversation in self._unkept:
            self._dialogues[conversation] = data  # for when it can be kept
        if writer is None:
            return
        self._dialogues[conversation] = data
        writer.mark("dialogue")
        if "before_action" in reasons:
            await writer.wait_until_saved()

    async def once(
        self, conversation: str, key: str, name: str, work: Callable[[], Coroutine[Any, Any, Any]], repeatable: bool
    ) -> Any:
        writer = self._writers.get(conversation)
        if conversation in self._elsewhere:
            raise Fenced("another node has this conversation")
        if writer is None or conversation in self._private:
            return await work()
        return await writer.once(f"act:{key}", name, work, repeatable)
