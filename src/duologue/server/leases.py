"""Leases in the store, by which a node (a server process) holds conversations, saves them and passes them on.

One node holds a conversation at a time. When a client reconnects to another node, that node claims the client's
conversation. If a node dies, another one takes over its conversations when their leases expire. Rule: a node that loses
a lease immediately stops speaking in that conversation and logs the loss.
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
ELSEWHERE_MAX = 10_000  # conversations known to have left this node: a task of theirs may still run here
ORPHANS_MAX = 5  # conversations without an owner that are taken over at a time
CLIENT_PART = "room"  # the stored part about the client; a new name would make stored conversations unreadable
PARTS = ("machine", "words", CLIENT_PART, "dialogue")


def hash_key(key: str) -> str:
    """The hash of a conversation's key. The store contains this hash instead of the key."""
    return hashlib.sha256(key.encode()).hexdigest()


def without_id(problem: DuologueError, conversation: str) -> str:
    """The problem's message for the log. The conversation's id is replaced by its hash, because a reader of the log
    must not learn ids."""
    return str(problem).replace(conversation, correlation_id(conversation))


class Leases:
    """The leases of this node, and the checkpoint writer of each conversation that this node holds."""

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
        self._unclaimed: dict[str, ServedConversation] = {}  # could not be claimed when they started
        self._elsewhere: OrderedDict[str, None] = OrderedDict()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._skipped: dict[str, None] = {}  # damaged, or of another agent: not taken over
        self.agent = ""  # the identity of this node's agent: the store may hold conversations of other agents
        self._heartbeat: asyncio.Task[None] | None = None
        self._is_failing = False
        self.is_leaving = False  # the node is stopping: it takes over nothing more

    # -- The node

    async def open(self, adopt: Callable[[StoredConversation, Lease], Awaitable[None]]) -> None:
        """Open the store, register this node, and renew its leases from now on. `adopt` is called to restore a
        conversation that has no owner."""
        await self.store.open()
        await self.store.enlist(self._node(), self._ttl_ms)
        self._heartbeat = asyncio.get_running_loop().create_task(self._renew_forever(adopt), name="leases")

    async def close(self) -> None:
        """Stop renewing, unregister the node and close the store."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.wait([self._heartbeat])
        with self._logging_failures("unregistering this node"):
            await self.store.leave(self._node())
        await self.store.close()

    def crash(self) -> None:
        """A tool for tests: stop as a killed process would. Nothing is renewed, released or saved any more."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        self._writers.clear()
        self._served.clear()

    @property
    def held(self) -> tuple[str, ...]:
        """The ids of the conversations that this node holds."""
        return tuple(self._writers)

    def _node(self) -> ServerNode:
        return ServerNode(self.name, self._instance, self._address, len(self._writers))

    async def _renew_forever(self, adopt: Callable[[StoredConversation, Lease], Awaitable[None]]) -> None:
        """Again and again, renew our leases and take over conversations without an owner. A failure doesn't end this
        loop: otherwise the node would lose all its conversations."""
        while True:
            await asyncio.sleep(self._ttl_ms / 3000)
            with self._logging_failures("renewing leases"):
                await self._renew()
            with self._logging_failures("taking over conversations"):
                for served in tuple(self._unclaimed.values()):
                    await self.claim(served)
                if not self.is_leaving:
                    for orphan in await self.store.orphans(ORPHANS_MAX + len(self._skipped)):
                        await self._take_over(orphan, adopt)

    async def _renew(self) -> None:
        held = {writer.lease: writer for writer in self._writers.values()}
        for lease in await self.store.renew(list(held), self._ttl_ms):
            self._lose(held[lease])
        try:
            await self.store.enlist(self._node(), self._ttl_ms)
        except NameTaken as problem:  # another node uses our name. Leases have epochs, so no conversation is shared
            LOG.error("%s", problem)

    def lock(self, conversation: str) -> asyncio.Lock:
        """The lock to hold while claiming and restoring this conversation, because a reconnecting client and the
        heartbeat may try that at the same time."""
        lock = self._locks.get(conversation) or asyncio.Lock()
        self._locks[conversation] = lock
        return lock

    async def _take_over(
        self, conversation: str, adopt: Callable[[StoredConversation, Lease], Awaitable[None]]
    ) -> None:
        """Claim and restore a conversation whose lease has expired. A damaged conversation is logged once and skipped
        from then on. A conversation that this node still holds stays here until another node claims it."""
        async with self.lock(conversation):
            if conversation in self._skipped or conversation in self._writers:
                return
            try:
                if self._is_of_another(await self.store.read(conversation)):
                    self._skipped[conversation] = None
                    return
                lease, stored = await self.store.claim(conversation, self.name, self._ttl_ms)
                LOG.info("%s: taken over after its lease expired", correlation_id(conversation))
                await adopt(stored, lease)
            except (Held, Fenced):
                return  # another node was faster
            except Damaged as problem:
                self._skipped[conversation] = None
                LOG.error("%s: can't be resumed: %s", correlation_id(conversation), without_id(problem, conversation))

    @contextmanager
    def _logging_failures(self, what: str) -> Iterator[None]:
        """Log exceptions instead of raising them. A store that fails repeatedly is logged only once, and once more when
        it works again."""
        try:
            yield
        except DuologueError as problem:
            if not self._is_failing:
                LOG.error("the store failed while %s: %s", what, problem)
            self._is_failing = True
        except Exception as failure:  # noqa: BLE001 - it may be an agent's own code
            LOG.error("failed while %s: %s", what, type(failure).__name__)
        else:
            if self._is_failing:
                LOG.info("the store works again")
            self._is_failing = False

    # -- Conversations

    async def claim(self, served: ServedConversation) -> None:
        """Claim a new conversation. If the store fails, the client is notified, and each heartbeat tries to claim the
        conversation again."""
        try:
            lease, stored = await self.store.claim(served.id, self.name, self._ttl_ms, key_hash=served.key_hash)
        except (StoreFailed, Held) as problem:
            if served.id not in self._unclaimed:
                LOG.error("%s: is not saved: %s", correlation_id(served.id), without_id(problem, served.id))
                self._unclaimed[served.id] = served
                served.note_unsaved(True)
            return
        dialogue = self._dialogues.get(served.id)
        self.hold(served, lease, stored)
        if self._unclaimed.pop(served.id, None) is not None:
            self._dialogues[served.id] = dialogue
            served.note_unsaved(False)

    async def reclaim(self, conversation: str, key: str) -> tuple[Lease, StoredConversation] | None:
        """Claim a conversation for a client that reconnected to this node. Returns None if the conversation doesn't
        exist, has ended or belongs to another agent, or if the key is wrong."""
        stored = await self.store.read(conversation)
        if stored is None or stored.is_over or self._is_of_another(stored):
            return None
        try:
            return await self.store.claim(conversation, self.name, self._ttl_ms, key_hash=hash_key(key), force=True)
        except Held:
            return None

    def _is_of_another(self, stored: StoredConversation | None) -> bool:
        """Does this conversation belong to another agent? If so, only a server with that agent takes it over."""
        served = stored.parts.get(CLIENT_PART) if stored is not None else None
        return isinstance(served, dict) and served.get("agent", self.agent) != self.agent

    def hold(self, served: ServedConversation, lease: Lease, stored: StoredConversation) -> None:
        """From now on, save this conversation under this lease. If this node holds the same conversation as another
        object, that object is stopped."""
        id_ = served.id
        earlier = self._served.get(id_)
        if earlier is not None and earlier is not served:
            earlier.lose()
        writer = CheckpointWriter(
            self.store,
            lease,
            stored.revision,
            lambda: self._lose(writer),
            lambda problem: self._report_save_problem(writer, problem),
        )
        self._elsewhere.pop(id_, None)
        self._served[id_], self._writers[id_] = served, writer
        self._dialogues[id_] = stored.parts.get("dialogue")
        if served.conversation.agent.private:
            self._private.add(id_)
        writer.add_part(CLIENT_PART, lambda: None if id_ in self._private else served.dump() | {"agent": self.agent})
        writer.add_part("dialogue", lambda: None if id_ in self._private else self._dialogues.get(id_))
        served.save_to(writer)

    async def release(self, served: ServedConversation, is_over: bool) -> None:
        """Save everything, including that the conversation has ended if `is_over`. Then release the lease, so that any
        other node can claim a conversation that hasn't ended."""
        self._unclaimed.pop(served.id, None)
        if self._served.get(served.id) is not served:
            return  # its lease was lost, and the conversation may be here again as another object
        writer = self._writers[served.id]
        await writer.close(PARTS, is_over)
        if self._writers.get(served.id) is writer:
            self._forget(served.id)

    def _forget(self, conversation: str) -> None:
        """Remove everything about this conversation from this node. Its tasks may still run, but `once` refuses their
        actions."""
        self._served.pop(conversation, None)
        self._writers.pop(conversation, None)
        self._dialogues.pop(conversation, None)
        self._private.discard(conversation)
        self._unclaimed.pop(conversation, None)
        self._elsewhere[conversation] = None
        while len(self._elsewhere) > ELSEWHERE_MAX:
            self._elsewhere.popitem(last=False)

    def _lose(self, writer: CheckpointWriter) -> None:
        conversation = writer.lease.conversation
        if self._writers.get(conversation) is not writer:
            return  # a writer of an earlier lease
        served = self._served[conversation]
        self._forget(conversation)
        LOG.warning(
            "%s: another node has taken over this conversation: silent from now on", correlation_id(conversation)
        )
        served.lose()

    def _report_save_problem(self, writer: CheckpointWriter, problem: StoreFailed | None) -> None:
        conversation = writer.lease.conversation
        served = self._served.get(conversation) if self._writers.get(conversation) is writer else None
        if problem is not None:
            LOG.error("%s: can't be saved: %s", correlation_id(conversation), without_id(problem, conversation))
        if served is not None:
            served.note_unsaved(problem is not None)

    # -- The memory of a brain (`ports.brain.Remembers`)

    async def load(self, conversation: str) -> dict[str, Any] | None:
        """The stored state of the conversation's dialogue; None if nothing is stored."""
        return self._dialogues.get(conversation)

    async def save(self, conversation: str, data: dict[str, Any], reasons: tuple[str, ...]) -> None:
        """Save the state of the dialogue in the background. If `reasons` contains `before_action`, wait until the state
        is saved."""
        writer = self._writers.get(conversation)
        if conversation in self._unclaimed:
            self._dialogues[conversation] = data  # saved when the conversation can be claimed
        if writer is None:
            return
        self._dialogues[conversation] = data
        writer.mark("dialogue")
        if "before_action" in reasons:
            await writer.wait_until_saved()

    async def once(
        self, conversation: str, key: str, name: str, work: Callable[[], Coroutine[Any, Any, Any]], repeatable: bool
    ) -> Any:
        """Perform an action at most once, even if two nodes try, and return its output. Only a `repeatable` action is
        performed again if its outcome is unknown. Raises Fenced if another node has taken over the conversation."""
        writer = self._writers.get(conversation)
        if conversation in self._elsewhere:
            raise Fenced("another node has taken over this conversation")
        if writer is None or conversation in self._private:
            return await work()
        return await writer.once(f"act:{key}", name, work, repeatable)
