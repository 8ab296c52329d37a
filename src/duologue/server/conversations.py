"""All conversations of a server: who may begin one, who comes back to which, and how it ends when the server stops.

Rule: a conversation belongs to its seat and its key, and nothing of it reaches anybody else, but for operators who
may watch.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from duologue.lines.browser import Position
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.prometheus import Tally
from duologue.ports.brain import Remembers
from duologue.ports.store import Damaged, Fenced, Lease, StoredConversation, StoreFailed, StoreWrite
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint import NotRestorable
from duologue.runtime.conversation import Conversation

from . import server_messages
from .client_outbox import ClientOutbox
from .close_codes import SEAT_TAKEN, STOPPING, CloseCode
from .leases import Leases, without_id
from .restore import read_earlier
from .screen import Screen
from .served_conversation import RestoredConversation, ServedConversation
from .settings import ServerSettings
from .switchboard import Switchboard

PAST_MAX = 20
STOPPED = "the server is stopping"
_ID = re.compile("[0-9a-f]{32}")  # as a served makes it
LOG = logging.getLogger("duologue.server")


class Conversations:
    """The conversations that are going on."""

    def __init__(self, make_agent: Callable[[], Agent], settings: ServerSettings, leases: Leases | None = None) -> None:
        self._make_agent = make_agent
        self.leases = leases
        self._agent = make_agent()  # one that can't work is told of before anybody calls
        if leases is not None:
            leases.agent = identity_of(self._agent)
        self._settings = settings
        self.served: dict[str, ServedConversation] = {}
        self.past: OrderedDict[str, ServedConversation] = OrderedDict()  # the newest that are over, for their journals
        self.clients: set[ClientOutbox] = set()
        self.calls: set[Conversation] = set()  # on other lines, such as a telephone's: they can't move elsewhere
        self.tally = Tally()
        self.switchboard = Switchboard()
        self.is_draining = False
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    def load(self) -> None:
        """Load models now rather than in the first conversation."""
        for part in (self._agent.ears, self._agent.voice, self._agent.thinker):
            load = getattr(part, "load", None)
            if callable(load):
                load()

    def describe(self) -> dict[str, Any]:
        """The agent, for a client that has just come in."""
        agent = self._agent
        return {"name": agent.name, "hears": agent.ears is not None, "speaks": agent.voice is not None}

    # -- Coming in

    @property
    def is_full(self) -> bool:
        return len(self.served) >= self._settings.limits.conversations_max

    def find(self, hello: dict[str, Any]) -> tuple[ServedConversation | None, CloseCode | None]:
        """The conversation that this client is in, or why it may not come in."""
        served = self.served.get(hello.get("conversation", ""))
        if served is not None and served.is_key(hello.get("key", "")):
            return served, None
        mine = next((served for served in self.served.values() if served.seat == hello["seat"]), None)
        if mine is not None and mine.client is not None and not hello.get("take_over", False):
            return None, SEAT_TAKEN
        return mine, None

    def has_seat(self, seat: str) -> bool:
        """Is this seat in a conversation? (C-CON-002)"""
        return any(served.seat == seat for served in self.served.values())

    def left_over(self, hello: dict[str, Any]) -> list[server_messages.ServerMessage]:
        """What nobody was there to hear when the conversation of this client ended."""
        served = self.past.get(hello.get("conversation", ""))
        return served.screen.pending.lost() if served is not None and served.is_key(hello.get("key", "")) else []

    def enter(self, served: ServedConversation, client: ClientOutbox, hello: dict[str, Any], language: str) -> None:
        position = hello.get("played")
        LOG.info("%s: a client has come back", correlation_id(served.id))
        served.enter(
            client,
            language=language,
            rate_hz=rate_of(hello),
            position=Position(**position) if position and hello.get("conversation") == served.id else None,
            resumed=True,
            key=hello.get("key", ""),
        )

    def begin(self, client: ClientOutbox, hello: dict[str, Any], language: str) -> ServedConversation:
        """A new conversation for this client."""
        served = ServedConversation(
            self._make_agent(),
            hello["seat"],
            language=language,
            rate_hz=rate_of(hello),
            text_chars_max=self._settings.limits.text_chars_max,
            journals=self._settings.journals,
            over=self._remove,
            leases=self.leases,
        )
        self._add(served)
        LOG.info("%s: begins, %d are going on", correlation_id(served.id), len(self.served))
        served.enter(client, language=language, rate_hz=rate_of(hello), position=None, resumed=False)
        served.start()
        return served

    def _add(self, served: ServedConversation) -> None:
        self.served[served.id] = served
        self._is_empty.clear()
        self.watch(served.conversation)
        if self.leases is not None and isinstance(served.conversation.agent.thinker, Remembers):
            served.conversation.agent.thinker.remember(self.leases)

    # -- Conversations of another process

    async def bring_back(self, hello: dict[str, Any]) -> ServedConversation | None:
        """The conversation that this client was in elsewhere, or here before a restart. None if nobody can go on with
        it; StoreFailed if that isn't known right now."""
        wanted = hello.get("conversation", "")
        if self.leases is None or not _ID.fullmatch(wanted):
            return None
        try:
            async with self.leases.turn(wanted):
                if (served := self.served.get(wanted)) is not None:  # taken over meanwhile
                    return served if served.is_key(hello.get("key", "")) else None
                found = await self.leases.reclaim(wanted, hello.get("key", ""))
                served = await self._restore(*found, hello) if found is not None else None
                if served is not None:
                    served.start()
                return served
        except Damaged as problem:
            LOG.error("%s: can't be brought back: %s", correlation_id(wanted), without_id(problem, wanted))
            return None
        except (Fenced, StoreFailed) as problem:
            LOG.error("%s: can't be brought back: %s", correlation_id(wanted), without_id(problem, wanted))
            raise StoreFailed("it can't be fetched right now") from None

    async def adopt(self, kept: StoredConversation, lease: Lease) -> None:
        """One that nobody holds: it waits here for its client, and comes to its end if none comes."""
        if kept.conversation not in self.served and (served := await self._restore(lease, kept, None)) is not None:
            served.start()

    async def _restore(
        self, lease: Lease, kept: StoredConversation, hello: dict[str, Any] | None
    ) -> ServedConversation | None:
        assert self.leases is not None
        agent = self._make_agent()
        try:
            earlier = await read_earlier(self.leases.store, kept, agent.settings, hello)
            served = self._served_again(agent, earlier, kept.parts["room"], hello)
        except NotRestorable as problem:
            LOG.warning("%s: can't go on: %s", correlation_id(kept.conversation), problem)
            await self.leases.store.write(lease, kept.revision, StoreWrite({}, is_over=True))
            return None
        self.leases.hold(served, lease, kept)
        self._add(served)
        LOG.info("%s: goes on here, %d are going on", correlation_id(served.id), len(self.served))
        return served

    def _served_again(
        self, agent: Agent, earlier: RestoredConversation, told: Any, hello: dict[str, Any] | None
    ) -> ServedConversation:
        return ServedConversation(
            agent,
            hello["seat"] if hello is not None else told["seat"],
            language=told["language"],
            rate_hz=rate_of(hello or {}),
            text_chars_max=self._settings.limits.text_chars_max,
            over=self._remove,
            leases=self.leases,
            earlier=earlier,
        )

    def watch(self, conversation: Conversation) -> None:
        """Count this one too, and list it for operators, whichever line it is on."""
        self.tally.watch(conversation)
        served = self.served.get(conversation.id)
        if served is None:
            self._note_call(conversation)
        if self._settings.watchable:
            self.switchboard.add(served.screen if served is not None else Screen(conversation, datetime.now(UTC)))

    def _note_call(self, conversation: Conversation) -> None:
        def note(entered: sg.StateEntered) -> None:
            if entered.state != "idle":
                self.calls.add(conversation)

        conversation.on(sg.StateEntered, note)
        conversation.on(sg.Ended, lambda _: self.calls.discard(conversation))

    def _remove(self, served: ServedConversation) -> None:
        if self.served.get(served.id) is served:  # else it is here again already
            del self.served[served.id]
        self.switchboard.remove(served.screen)
        self.past[served.id] = served
        while len(self.past) > PAST_MAX:
            self.past.popitem(last=False)
        how = "goes on elsewhere" if served.is_elsewhere else "is over"
        LOG.info("%s: %s, %d are going on", correlation_id(served.id), how, len(self.served))
        if not self.served:
            self._is_empty.set()

    def gauges(self) -> str:
        """What a server counts beside its conversations."""
        return (
            "# HELP duologue_sockets Sockets that are open.\n"
            "# TYPE duologue_sockets gauge\n"
            f"duologue_sockets {len(self.clients)}\n"
            "# HELP duologue_draining Is the server about to stop?\n"
            "# TYPE duologue_draining gauge\n"
            f"duologue_draining {int(self.is_draining)}\n"
        )

    # -- Stopping

    async def drain(self) -> None:
        """No new conversation; those that go on may end by themselves for a while, then they are ended."""
        self.is_draining = True
        limit_s = self._settings.limits.drain_s_max
        going = len(self.served) + len(self.calls)
        LOG.info("stopping: %d conversations may take %.0f s to end", going, limit_s)
        await asyncio.gather(self._leave_served(limit_s), self._let_calls_end(limit_s))
        for client in tuple(self.clients):
            client.leave(STOPPING)

    async def _leave_served(self, limit_s: float) -> None:
        if self.leases is not None:
            self.leases.is_leaving = True
            await self._hand_over(limit_s)
        else:
            await self._let_end(limit_s)

    async def _let_calls_end(self, limit_s: float) -> None:
        """Each may go on until it is over by itself; then it is hung up."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while self.calls and loop.time() < until:
            await asyncio.sleep(0.05)
        await asyncio.gather(*(call.end(STOPPED) for call in tuple(self.calls)), return_exceptions=True)

    async def _let_end(self, limit_s: float) -> None:
        for served in self.served.values():
            served.tell(server_messages.notification("warning", "stopping", "The server is about to stop."))
        await self._end([served for served in self.served.values() if served.client is None])
        try:
            await asyncio.wait_for(self._is_empty.wait(), limit_s)
        except TimeoutError:
            await self._end(self.served.values())

    async def _hand_over(self, limit_s: float) -> None:
        """Each goes when nobody is in the middle of a sentence, or when there is no more time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while self.served:
            is_late = loop.time() >= until
            going = [served for served in self.served.values() if is_late or served.is_resting or served.client is None]
            await asyncio.gather(*(served.hand_over() for served in going), return_exceptions=True)
            if self.served:
                await asyncio.sleep(0.05)

    async def _end(self, served: Iterable[ServedConversation]) -> None:
        ending = [served.end(STOPPED) for served in served]
        await asyncio.gather(*ending, return_exceptions=True)


def identity_of(agent: Agent) -> str:
    """The same for every server that runs this agent, and another for any other."""
    tools = sorted(worker.tool.name for worker in agent.workers)
    parts = (agent.name, agent.instructions, type(agent.brain).__qualname__, *tools)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def rate_of(hello: dict[str, Any]) -> int:
    rate: int = hello.get("audio", {}).get("rate_hz", 16_000)
    return rate
