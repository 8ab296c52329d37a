"""Calls to the store about the lease of one conversation. The outcome of each call is an input of the ownership machine
(`ownership`).

Rule: a call never raises and never takes longer than CALL_S_MAX. A store that fails or hangs is reported to the machine
as an input, like any other outcome.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import Damaged, Fenced, Held, Lease, Store, StoredConversation, StoreFailed, StoreWrite
from duologue.runtime.checkpoint import CONTEXT_PART, NotRestorable

from .conversation_keys import stored_keys
from .known_conversation import KnownConversation
from .ownership import inputs as on

if TYPE_CHECKING:
    from .served_conversation import ServedConversation

LOG = logging.getLogger("duologue.server")
CALL_S_MAX = 15.0
CLIENT_PART = "room"  # the stored part about the client; a new name would make stored conversations unreadable
PARTS = ("machine", "words", CLIENT_PART, CONTEXT_PART, "dialogue")


def without_id(problem: DuologueError, conversation: str) -> str:
    """The problem's message, for the log. It contains a hash instead of the conversation's id, because readers of the
    log must not learn ids."""
    return str(problem).replace(conversation, correlation_id(conversation))


class Restorer(Protocol):
    """What is needed to restore stored conversations on this node."""

    async def rebuild(self, stored: StoredConversation, hello: dict[str, Any] | None) -> ServedConversation:
        """Make a conversation that can run on this node from the data in `stored`. `hello` is the hello message from
        the conversation's client; None if the client hasn't reconnected. Raises NotRestorable."""
        ...

    def take_in(self, served: ServedConversation) -> None:
        """Run a rebuilt conversation on this node."""
        ...


class LeaseCalls:
    """The calls of one node (server process) to the store."""

    def __init__(self, store: Store, node: str, ttl_ms: int) -> None:
        self.agent = ""  # the identity of this node's agent: the store may hold conversations of other agents
        self._store = store
        self._node = node
        self._ttl_ms = ttl_ms

    # -- Claiming

    async def claim_new(self, known: KnownConversation) -> on.OwnershipInput:
        return await self._outcome(known, self._claim(known, key_hash=known.here.key_hash))

    async def claim_orphan(self, known: KnownConversation) -> on.OwnershipInput:
        known.proven = None
        return await self._outcome(known, self._look_and_claim(known))

    async def claim_for_client(self, known: KnownConversation) -> on.OwnershipInput:
        known.proven = known.hello  # only used if the lease is granted
        return await self._outcome(known, self._look_and_claim(known, known.hello or {}, force=True))

    async def _look_and_claim(
        self, known: KnownConversation, hello: dict[str, Any] | None = None, **how: Any
    ) -> on.OwnershipInput:
        """Claim a stored conversation, unless it is over or belongs to another agent. If a client asks for it, the
        client's hello must also contain one of the conversation's keys. All this is checked before the claim, because a
        claim ends the lease of the present owner."""
        stored = await self._store.read(known.id)
        if stored is None or stored.is_over:
            return on.NothingStored()
        if self._is_of_another(stored):
            return on.StoredForAnother()
        if hello is not None and not _has_key(stored, hello):
            return on.LeaseRefused()
        return await self._claim(known, **how)

    def _is_of_another(self, stored: StoredConversation) -> bool:
        """Does this conversation belong to an agent other than this node's? Only a server that runs the same agent may
        take it over."""
        client = stored.parts.get(CLIENT_PART)
        return isinstance(client, dict) and client.get("agent", self.agent) != self.agent

    async def _claim(self, known: KnownConversation, **how: Any) -> on.OwnershipInput:
        until_ms = now_ms() + self._ttl_ms
        known.claimed = await self._store.claim(known.id, self._node, self._ttl_ms, **how)
        return on.LeaseGranted(known.lease.epoch, until_ms, known.stored.is_over)

    async def _outcome(
        self, known: KnownConversation, claiming: Coroutine[Any, Any, on.OwnershipInput]
    ) -> on.OwnershipInput:
        try:
            async with asyncio.timeout(CALL_S_MAX):
                return await claiming
        except Damaged as problem:
            known.problem = problem
            return on.StoredDamaged()
        except (Held, Fenced) as problem:
            known.problem = problem
            return on.LeaseRefused()
        except Exception as failure:  # noqa: BLE001 - whatever fails, the conversation waits for an outcome
            known.problem = failure if isinstance(failure, DuologueError) else _explain(failure)
            if known.waiting:
                log_problem(known, "can't be restored")
            return on.StoreUnreachable()

    # -- Restoring

    async def restore(self, known: KnownConversation, restorer: Restorer) -> on.OwnershipInput:
        if known.proven is None:
            LOG.info("%s: taken over after its lease expired", correlation_id(known.id))
        try:
            async with asyncio.timeout(CALL_S_MAX):
                known.restored = await restorer.rebuild(known.stored, known.proven)
        except NotRestorable as problem:
            LOG.warning("%s: can't be resumed: %s", correlation_id(known.id), problem)
            return on.ConversationUnusable()
        except Exception as failure:  # noqa: BLE001 - it may be an agent's own code
            known.problem = failure if isinstance(failure, DuologueError) else _explain(failure)
            log_problem(known, "can't be restored")
            return on.RestoreFailed()
        return on.ConversationRestored()

    # -- Giving back

    async def save_and_release(self, known: KnownConversation, is_over: bool) -> on.OwnershipInput:
        assert known.writer is not None
        try:
            async with asyncio.timeout(CALL_S_MAX):
                return on.SavingFinished(await known.writer.close(PARTS, is_over))
        except TimeoutError:
            return on.SavingFinished(is_saved=False)

    async def release(self, known: KnownConversation, lease: Lease) -> None:
        await self._attempt(known, "its lease can't be released", self._store.release(lease))

    async def mark_over(self, known: KnownConversation, lease: Lease, revision: int) -> None:
        """Mark the stored conversation as over, without changing its data."""
        await self._attempt(known, "can't be ended", self._end(lease, revision))

    async def _end(self, lease: Lease, revision: int) -> None:
        await self._store.write(lease, revision, StoreWrite({}, is_over=True))
        await self._store.release(lease)

    async def _attempt(self, known: KnownConversation, what: str, call: Coroutine[Any, Any, None]) -> None:
        """Make a call to the store whose outcome the ownership machine doesn't need. A failure is only logged, because
        the lease expires in any case."""
        try:
            async with asyncio.timeout(CALL_S_MAX):
                await call
        except Exception as failure:  # noqa: BLE001 - nothing waits for this call
            known.problem = failure if isinstance(failure, DuologueError) else _explain(failure)
            log_problem(known, what)


def _has_key(stored: StoredConversation, hello: dict[str, Any]) -> bool:
    keys = stored_keys(stored.parts.get(CLIENT_PART), stored.key_hash)
    return keys.opens(hello.get("key", ""), hello.get("user", ""))


def _explain(failure: Exception) -> StoreFailed:
    """An error that describes this failure without quoting its message, because the message may contain what a person
    said."""
    return StoreFailed("it took too long" if isinstance(failure, TimeoutError) else type(failure).__name__)


def log_problem(known: KnownConversation, what: str) -> None:
    """Log the newest problem of this conversation, if there is one. `what` says what failed."""
    if known.problem is not None:
        LOG.error("%s: %s: %s", correlation_id(known.id), what, without_id(known.problem, known.id))


def now_ms() -> int:
    """The time of this node's event loop, in milliseconds."""
    return round(asyncio.get_running_loop().time() * 1000)
