"""Leases in the store. With a lease, a node (a server process) owns a conversation, saves it, and can pass it on to
another node.

At any time, at most one node owns a conversation. When a client reconnects to another node, that node claims the
client's conversation. If a node dies, other nodes take over its conversations when their leases expire. The ownership
machine (`ownership`) decides what to do. Rule: the class `Leases` turns events into inputs of that machine and does
what the machine returns; it decides nothing.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from duologue.core.errors import DuologueError
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import Fenced, Lease, NameTaken, ServerNode, Store, StoreFailed
from duologue.runtime.checkpoint_writer import CheckpointWriter

from .close_codes import MOVED, STOPPING
from .known_conversation import KnownConversation
from .lease_calls import CLIENT_PART, LeaseCalls, Restorer, log_problem, now_ms
from .ownership import inputs as on
from .ownership import intents as do
from .ownership.machine import step
from .ownership.places import RUNNING, SERVED, SKIPPED, WRITING, Acting, Place

if TYPE_CHECKING:
    from .served_conversation import ServedConversation

LOG = logging.getLogger("duologue.server")
TTL_MS = 10_000
KNOWN_MAX = 10_000  # beyond this, conversations that left this node are forgotten: tasks of theirs may still run here
RENEWING, TAKING_OVER = "renewing leases", "taking over conversations"
ORPHANS_MAX = 5  # conversations without an owner that are taken over at a time


class Leases:
    """The leases of this node, and what the node knows about each stored conversation."""

    def __init__(self, store: Store, name: str, address: str = "", ttl_ms: int = TTL_MS) -> None:
        self.store = store
        self.name = name
        self.calls = LeaseCalls(store, name, ttl_ms)
        self._address = address
        self._instance = uuid.uuid4().hex
        self._ttl_ms = ttl_ms
        self._known: OrderedDict[str, KnownConversation] = OrderedDict()
        self._to_renew: list[Lease] = []
        self._loops: dict[str, asyncio.Task[None]] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._is_failing = False  # the log says so
        self._performers: dict[type, Callable[[KnownConversation, Any], None]] = {}

    # -- The node

    async def open(self, conversations: Restorer) -> None:
        """Open the store and register this node. From now on, renew the node's leases, and take over conversations that
        have no owner. `conversations` is the object that rebuilds them from their stored data."""
        self._performers = self._table(conversations)
        await self.store.open()
        await self.store.enlist(self._node(), self._ttl_ms)
        loop = asyncio.get_running_loop()
        for name, work in ((RENEWING, self._renew), (TAKING_OVER, self._take_over)):
            self._loops[name] = loop.create_task(self._repeat(name, work), name=name)

    def leave(self) -> None:
        """Take over no more conversations, because the node is stopping."""
        self._stop(TAKING_OVER)
        for known in tuple(self._known.values()):
            self._post(known, on.NodeLeft())

    async def close(self) -> None:
        """Stop renewing leases, unregister the node and close the store."""
        stopping = [*self._work, *(task for name in tuple(self._loops) if (task := self._stop(name)))]
        if stopping:
            await asyncio.wait(stopping)
        with self._logging_failures("unregistering this node"):
            await self.store.leave(self._node())
        await self.store.close()

    def crash(self) -> None:
        """For tests: stop as if the process had been killed. Nothing is renewed, released or saved any more."""
        for task in (*self._loops.values(), *self._work):
            task.cancel()
        self._known.clear()

    def _stop(self, name: str) -> asyncio.Task[None] | None:
        task = self._loops.pop(name, None)
        if task is not None:
            task.cancel()
        return task

    @property
    def held(self) -> tuple[str, ...]:
        """The ids of the conversations that this node saves under a lease."""
        return tuple(known.id for known in self._known.values() if known.ownership.place in WRITING)

    @property
    def known(self) -> int:
        """How many conversations this node knows of, including those that run on other nodes."""
        return len(self._known)

    def _node(self) -> ServerNode:
        return ServerNode(self.name, self._instance, self._address, len(self.held))

    async def _repeat(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Repeat this work forever, three times in the lifetime of a lease. A failure doesn't end the loop: otherwise
        the node would lose all its conversations. Work that takes too long is cancelled, so that the next attempt
        starts on time."""
        while True:
            await asyncio.sleep(self._ttl_ms / 3000)
            with self._logging_failures(name):
                async with asyncio.timeout(self._ttl_ms / 3000):
                    await work()

    async def _renew(self) -> None:
        now = now_ms()
        self._to_renew = []
        for known in tuple(self._known.values()):
            self._post(known, on.Heartbeat(now))
        renewing = self._to_renew
        lost = set(await self.store.renew(renewing, self._ttl_ms))
        for lease in renewing:
            if (held := self._known.get(lease.conversation)) is not None:
                renewed = on.LeaseRenewed(lease.epoch, now + self._ttl_ms)
                self._post(held, on.LeaseLost(lease.epoch) if lease in lost else renewed)
        try:
            await self.store.enlist(self._node(), self._ttl_ms)
        except NameTaken as problem:  # another node uses our name. Leases have epochs, so no conversation is shared
            LOG.error("%s", problem)

    async def _take_over(self) -> None:
        """Take over conversations that have no owner. The store's list of them also contains conversations that this
        node skips (damaged ones, and those of other agents). So this asks for as many more conversations as it will
        skip."""
        skipped = [known for known in self._known.values() if known.ownership.place in SKIPPED]
        orphans = await self.store.orphans(ORPHANS_MAX + len(skipped))
        for known in skipped:
            if known.id not in orphans and not known.ownership.has_run:
                self._known.pop(known.id, None)
        for conversation in orphans:
            self._post(self._know(conversation), on.OrphanListed())

    @contextmanager
    def _logging_failures(self, what: str) -> Iterator[None]:
        """Log exceptions instead of raising them. If the store fails several times in a row, only the first failure is
        logged. When the store works again, that is logged, too."""
        try:
            yield
        except (DuologueError, TimeoutError) as problem:
            if not self._is_failing:
                LOG.error("the store failed while %s: %s", what, str(problem) or "it took too long")
            self._is_failing = True
        except Exception as failure:  # noqa: BLE001 - it may be an agent's own code
            LOG.error("failed while %s: %s", what, type(failure).__name__)
        else:
            if self._is_failing:
                LOG.info("the store works again")
            self._is_failing = False

    # -- Inputs

    def begin(self, served: ServedConversation) -> None:
        """Claim a new conversation that starts on this node. If the store fails, the client is told, and each heartbeat
        tries again."""
        known = self._know(served.id)
        known.served = served
        self._post(known, on.ConversationStarted())

    async def wait_until_claimed(self, served: ServedConversation) -> None:
        """Wait until this conversation's first claim was granted or has failed."""
        known = self._known.get(served.id)
        if known is not None:
            await known.finish()

    async def ask(self, conversation: str, hello: dict[str, Any]) -> ServedConversation | None:
        """Get the conversation that a client asks for, from the store if it doesn't run here. Returns None if it
        doesn't exist, has ended, can't be read or belongs to another agent, or if the client's key is wrong. Raises
        StoreFailed if the client should ask again later."""
        known, key = self._know(conversation), hello.get("key", "")
        if known.waiting and known.hello is not None and known.hello.get("key", "") != key:
            raise StoreFailed("another client asks for this conversation right now")
        answer: asyncio.Future[do.Answer] = asyncio.get_running_loop().create_future()
        known.waiting.append(answer)
        known.hello = hello
        self._post(known, on.ClientAsked())
        verdict = await answer
        if verdict is do.Answer.LATER:
            raise StoreFailed("the conversation can't be restored right now")
        if verdict not in (do.Answer.HERE, do.Answer.MOVED):
            return None
        if known.here.is_key(key, hello.get("user", "")):
            return known.here
        if verdict is do.Answer.MOVED:  # it may have moved before, and its client may have a newer key
            raise StoreFailed("the conversation is moving to another node")
        return None

    async def hand_over(self, served: ServedConversation) -> None:
        """Save everything and release the lease, so that another node can continue the conversation. Does nothing while
        the conversation is still being claimed; call it again later."""
        await self._post_and_finish(served, on.HandOverRequested())

    async def end(self, served: ServedConversation) -> None:
        """Save that the conversation has ended, and release its lease."""
        await self._post_and_finish(served, on.ConversationEnded())

    async def _post_and_finish(self, served: ServedConversation, given: on.OwnershipInput) -> None:
        known = self._known.get(served.id)
        if known is not None and known.served is served:  # otherwise it has returned as another object
            self._post(known, given)
            if known.ownership.place in (Place.ENDING, Place.HANDING_OVER, Place.ELSEWHERE):
                await known.finish()

    def is_away(self, served: ServedConversation) -> bool:
        """Has this conversation left this node, or is it about to leave?"""
        known = self._known.get(served.id)
        stays = (*RUNNING, Place.ENDING, Place.CLEARING, Place.OVER)
        return known is None or known.served is not served or known.ownership.place not in stays

    async def is_outdated(self, served: ServedConversation) -> bool:
        """Has another node taken over this conversation, even if this node hasn't noticed yet? Asks the store, because
        without asking, a node notices only when it next renews its leases. Raises StoreFailed if the store fails."""
        known = self._known.get(served.id)
        if known is None or known.served is not served or known.ownership.place not in (Place.KEPT, Place.LAPSED):
            return self.is_away(served)
        lease = known.lease
        try:
            async with asyncio.timeout(self._ttl_ms / 1000):
                lost = await self.store.renew([lease], self._ttl_ms)
        except TimeoutError:
            raise StoreFailed("the store took too long") from None
        if lease in lost:
            self._post(known, on.LeaseLost(lease.epoch))
        return lease in lost

    def is_unsaved(self, served: ServedConversation) -> bool:
        """Was the client told that its conversation isn't saved?"""
        known = self._known.get(served.id)
        return known is not None and known.served is served and known.ownership.is_unsaved

    def _know(self, conversation: str) -> KnownConversation:
        return self._known.setdefault(conversation, KnownConversation(conversation))

    def _post(self, known: KnownConversation, given: on.OwnershipInput) -> None:
        known.ownership, intents = step(known.ownership, given)
        for intent in intents:
            self._performers[type(intent)](known, intent)
        if known.ownership.is_forgettable and self._known.get(known.id) is known:
            del self._known[known.id]
        elif len(self._known) > KNOWN_MAX:
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        for known in self._known.values():
            if known.ownership.place in (Place.ELSEWHERE, Place.OVER, *SKIPPED):
                del self._known[known.id]
                return

    # -- Intents

    def _table(self, conversations: Restorer) -> dict[type, Callable[[KnownConversation, Any], None]]:
        calls, begin = self.calls, self._begin
        return {
            do.ClaimNew: lambda known, _: begin(known, calls.claim_new(known)),
            do.ClaimOrphan: lambda known, _: begin(known, calls.claim_orphan(known)),
            do.ClaimForClient: lambda known, _: begin(known, calls.claim_for_client(known)),
            do.RestoreConversation: lambda known, _: begin(known, calls.restore(known, conversations)),
            do.SaveAndRelease: lambda known, what: begin(known, calls.save_and_release(known, what.is_over)),
            do.RenewLease: lambda known, _: self._to_renew.append(known.lease),
            do.ReleaseLease: lambda known, _: begin(known, calls.release(known, known.lease)),
            do.MarkOver: lambda known, _: begin(known, calls.mark_over(known, known.lease, known.stored.revision)),
            do.SaveFromNowOn: lambda known, _: self._save_from_now_on(known),
            do.RunRestored: lambda known, _: self._run_restored(known, conversations),
            do.Freeze: lambda known, _: known.here.conversation.freeze(),
            do.Abandon: self._abandon,
            do.AnswerClient: lambda known, what: known.answer(what.answer),
            do.TellUnsaved: lambda known, _: self._tell_unsaved(known),
            do.TellSaved: lambda known, _: known.here.tell_saved(),
            do.ReportDamage: lambda known, _: log_problem(known, "can't be resumed"),
            do.ReportLapse: lambda known, _: LOG.warning(
                "%s: its lease ended before it could be renewed; another node may take it over",
                correlation_id(known.id),
            ),
        }

    def _begin(self, known: KnownConversation, call: Coroutine[Any, Any, on.OwnershipInput | None]) -> None:
        """Make this call to the store in its own task, and pass the outcome to the ownership machine."""

        async def run() -> None:
            outcome = await call
            if outcome is not None:
                self._post(known, outcome)

        self._note_work(known, asyncio.get_running_loop().create_task(run(), name="lease"))

    def _note_work(self, known: KnownConversation, task: asyncio.Task[None]) -> None:
        for tasks in (known.work, self._work):
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    def _save_from_now_on(self, known: KnownConversation) -> None:
        """Save this conversation under its newest lease, now and whenever it changes."""
        served, lease = known.here, known.lease
        writer = CheckpointWriter(
            self.store,
            lease,
            known.stored.revision,
            lambda: self._post(known, on.LeaseLost(lease.epoch)),
            lambda problem: self._note_saving(known, lease.epoch, problem),
        )
        known.writer = writer
        writer.add_part(CLIENT_PART, lambda: None if known.is_private else served.dump() | {"agent": self.calls.agent})
        writer.add_part("dialogue", lambda: None if known.is_private else known.dialogue)
        served.save_to(writer)
        if known.dialogue is not None:
            writer.mark("dialogue")

    def _run_restored(self, known: KnownConversation, conversations: Restorer) -> None:
        known.served, known.restored = known.restored, None
        known.dialogue = known.stored.parts.get("dialogue")
        self._save_from_now_on(known)
        conversations.take_in(known.here)
        known.here.start()

    def _note_saving(self, known: KnownConversation, epoch: int, problem: StoreFailed | None) -> None:
        if problem is not None:
            known.problem = problem
            log_problem(known, "can't be saved")
        self._post(known, on.WritingFailed(epoch) if problem is not None else on.WritingWorked(epoch))

    def _abandon(self, known: KnownConversation, intent: do.Abandon) -> None:
        if intent.is_lost:
            about = correlation_id(known.id)
            LOG.warning("%s: another node has taken over this conversation: silent from now on", about)
        self._note_work(known, known.here.abandon(MOVED if intent.is_lost else STOPPING))

    def _tell_unsaved(self, known: KnownConversation) -> None:
        if known.ownership.place not in WRITING:  # otherwise the failed write is in the log
            log_problem(known, "is not saved")
        known.here.tell_unsaved()

    # -- The memory of a brain (`ports.brain.Remembers`)

    async def load(self, conversation: str) -> dict[str, Any] | None:
        """The stored state of the conversation's dialogue; None if nothing is stored, or if the conversation doesn't
        run on this node."""
        known = self._known.get(conversation)
        return known.dialogue if known is not None and known.ownership.place in SERVED else None

    async def save(self, conversation: str, data: dict[str, Any], reasons: tuple[str, ...]) -> None:
        """Save the state of the dialogue in the background. If `reasons` contains `before_action`, wait until it is
        saved. Without a lease, it is saved as soon as a lease is granted."""
        known = self._known.get(conversation)
        if known is None or known.ownership.place not in SERVED:
            return
        known.dialogue = data  # without a lease, it is saved when the conversation can be claimed
        if known.ownership.place in WRITING and known.writer is not None:
            known.writer.mark("dialogue")
            if "before_action" in reasons:
                await known.writer.wait_until_saved()

    async def once(
        self, conversation: str, key: str, name: str, work: Callable[[], Coroutine[Any, Any, Any]], repeatable: bool
    ) -> Any:
        """Perform an action at most one time, even if two nodes try, and return its output. If it is unknown whether an
        earlier attempt succeeded, only a `repeatable` action is performed again. Raises Fenced if another node has
        taken over the conversation. A conversation that isn't saved (such as a phone call) has no record of its
        actions: every attempt is performed."""
        known = self._known.get(conversation)
        if known is None:
            return await work()
        if known.ownership.acting is Acting.REFUSED:
            raise Fenced("another node has taken over this conversation")
        if known.ownership.acting is Acting.UNSAVED or known.is_private or known.writer is None:
            return await work()
        return await known.writer.once(f"act:{key}", name, work, repeatable)
