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
_ID = re.compile("[0-9a-f]{32}")  # as a room makes it
LOG = logging.getLogger("duologue.server")


class Conversations:
    """The conversations that are going on."""

    def __init__(
        self, make_agent: Callable[[], Agent], settings: ServerSettings, custody: Leases | None = None
    ) -> None:
        self._make_agent = make_agent
        self.custody = custody
        self._agent = make_agent()  # one that can't work is told of before anybody calls
        if custody is not None:
            custody.agent = identity_of(self._agent)
        self._settings = settings
        self.rooms: dict[str, ServedConversation] = {}
        self.past: OrderedDict[str, ServedConversation] = OrderedDict()  # the newest that are over, for their journals
        self.guests: set[ClientOutbox] = set()
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
        return len(self.rooms) >= self._settings.limits.conversations_max

    def find(self, hello: dict[str, Any]) -> tuple[ServedConversation | None, CloseCode | None]:
        """The conversation that this client is in, or why it may not come in."""
        room = self.rooms.get(hello.get("conversation", ""))
        if room is not None and room.is_key(hello.get("key", "")):
            return room, None
        mine = next((room for room in self.rooms.values() if room.seat == hello["seat"]), None)
        if mine is not None and mine.guest is not None and not hello.get("take_over", False):
            return None, SEAT_TAKEN
        return mine, None

    def has_seat(self, seat: str) -> bool:
        """Is this seat in a conversation? (C-CON-002)"""
        return any(room.seat == seat for room in self.rooms.values())

    def left_over(self, hello: dict[str, Any]) -> list[server_messages.ServerMessage]:
        """What nobody was there to hear when the conversation of this client ended."""
        room = self.past.get(hello.get("conversation", ""))
        return room.screen.pending.lost() if room is not None and room.is_key(hello.get("key", "")) else []

    def enter(self, room: ServedConversation, guest: ClientOutbox, hello: dict[str, Any], language: str) -> None:
        position = hello.get("played")
        LOG.info("%s: a client has come back", correlation_id(room.id))
        room.enter(
            guest,
            language=language,
            rate_hz=rate_of(hello),
            position=Position(**position) if position and hello.get("conversation") == room.id else None,
            resumed=True,
            key=hello.get("key", ""),
        )

    def begin(self, guest: ClientOutbox, hello: dict[str, Any], language: str) -> ServedConversation:
        """A new conversation for this client."""
        room = ServedConversation(
            self._make_agent(),
            hello["seat"],
            language=language,
            rate_hz=rate_of(hello),
            text_chars_max=self._settings.limits.text_chars_max,
            journals=self._settings.journals,
            over=self._remove,
            custody=self.custody,
        )
        self._add(room)
        LOG.info("%s: begins, %d are going on", correlation_id(room.id), len(self.rooms))
        room.enter(guest, language=language, rate_hz=rate_of(hello), position=None, resumed=False)
        room.start()
        return room

    def _add(self, room: ServedConversation) -> None:
        self.rooms[room.id] = room
        self._is_empty.clear()
        self.watch(room.conversation)
        if self.custody is not None and isinstance(room.conversation.agent.thinker, Remembers):
            room.conversation.agent.thinker.remember(self.custody)

    # -- Conversations of another process

    async def bring_back(self, hello: dict[str, Any]) -> ServedConversation | None:
        """The conversation that this client was in elsewhere, or here before a restart. None if nobody can go on with
        it; StoreFailed if that isn't known right now."""
        wanted = hello.get("conversation", "")
        if self.custody is None or not _ID.fullmatch(wanted):
            return None
        try:
            async with self.custody.turn(wanted):
                if (room := self.rooms.get(wanted)) is not None:  # taken over meanwhile
                    return room if room.is_key(hello.get("key", "")) else None
                found = await self.custody.reclaim(wanted, hello.get("key", ""))
                room = await self._restore(*found, hello) if found is not None else None
                if room is not None:
                    room.start()
                return room
        except Damaged as problem:
            LOG.error("%s: can't be brought back: %s", correlation_id(wanted), without_id(problem, wanted))
            return None
        except (Fenced, StoreFailed) as problem:
            LOG.error("%s: can't be brought back: %s", correlation_id(wanted), without_id(problem, wanted))
            raise StoreFailed("it can't be fetched right now") from None

    async def adopt(self, kept: StoredConversation, lease: Lease) -> None:
        """One that nobody holds: it waits here for its client, and comes to its end if none comes."""
        if kept.conversation not in self.rooms and (room := await self._restore(lease, kept, None)) is not None:
            room.start()

    async def _restore(
        self, lease: Lease, kept: StoredConversation, hello: dict[str, Any] | None
    ) -> ServedConversation | None:
        assert self.custody is not None
        agent = self._make_agent()
        try:
            earlier = await read_earlier(self.custody.store, kept, agent.settings, hello)
            room = self._room_again(agent, earlier, kept.parts["room"], hello)
        except NotRestorable as problem:
            LOG.warning("%s: can't go on: %s", correlation_id(kept.conversation), problem)
            await self.custody.store.write(lease, kept.revision, StoreWrite({}, is_over=True))
            return None
        self.custody.hold(room, lease, kept)
        self._add(room)
        LOG.info("%s: goes on here, %d are going on", correlation_id(room.id), len(self.rooms))
        return room

    def _room_again(
        self, agent: Agent, earlier: RestoredConversation, told: Any, hello: dict[str, Any] | None
    ) -> ServedConversation:
        return ServedConversation(
            agent,
            hello["seat"] if hello is not None else told["seat"],
            language=told["language"],
            rate_hz=rate_of(hello or {}),
            text_chars_max=self._settings.limits.text_chars_max,
            over=self._remove,
            custody=self.custody,
            earlier=earlier,
        )

    def watch(self, conversation: Conversation) -> None:
        """Count this one too, and list it for operators, whichever line it is on."""
        self.tally.watch(conversation)
        room = self.rooms.get(conversation.id)
        if room is None:
            self._note_call(conversation)
        if self._settings.watchable:
            self.switchboard.add(room.screen if room is not None else Screen(conversation, datetime.now(UTC)))

    def _note_call(self, conversation: Conversation) -> None:
        def note(entered: sg.StateEntered) -> None:
            if entered.state != "idle":
                self.calls.add(conversation)

        conversation.on(sg.StateEntered, note)
        conversation.on(sg.Ended, lambda _: self.calls.discard(conversation))

    def _remove(self, room: ServedConversation) -> None:
        if self.rooms.get(room.id) is room:  # else it is here again already
            del self.rooms[room.id]
        self.switchboard.remove(room.screen)
        self.past[room.id] = room
        while len(self.past) > PAST_MAX:
            self.past.popitem(last=False)
        how = "goes on elsewhere" if room.is_elsewhere else "is over"
        LOG.info("%s: %s, %d are going on", correlation_id(room.id), how, len(self.rooms))
        if not self.rooms:
            self._is_empty.set()

    def gauges(self) -> str:
        """What a server counts beside its conversations."""
        return (
            "# HELP duologue_sockets Sockets that are open.\n"
            "# TYPE duologue_sockets gauge\n"
            f"duologue_sockets {len(self.guests)}\n"
            "# HELP duologue_draining Is the server about to stop?\n"
            "# TYPE duologue_draining gauge\n"
            f"duologue_draining {int(self.is_draining)}\n"
        )

    # -- Stopping

    async def drain(self) -> None:
        """No new conversation; those that go on may end by themselves for a while, then they are ended."""
        self.is_draining = True
        limit_s = self._settings.limits.drain_s_max
        going = len(self.rooms) + len(self.calls)
        LOG.info("stopping: %d conversations may take %.0f s to end", going, limit_s)
        await asyncio.gather(self._leave_rooms(limit_s), self._let_calls_end(limit_s))
        for guest in tuple(self.guests):
            guest.leave(STOPPING)

    async def _leave_rooms(self, limit_s: float) -> None:
        if self.custody is not None:
            self.custody.is_leaving = True
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
        for room in self.rooms.values():
            room.tell(server_messages.notification("warning", "stopping", "The server is about to stop."))
        await self._end([room for room in self.rooms.values() if room.guest is None])
        try:
            await asyncio.wait_for(self._is_empty.wait(), limit_s)
        except TimeoutError:
            await self._end(self.rooms.values())

    async def _hand_over(self, limit_s: float) -> None:
        """Each goes when nobody is in the middle of a sentence, or when there is no more time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while self.rooms:
            is_late = loop.time() >= until
            going = [room for room in self.rooms.values() if is_late or room.is_resting or room.guest is None]
            await asyncio.gather(*(room.hand_over() for room in going), return_exceptions=True)
            if self.rooms:
                await asyncio.sleep(0.05)

    async def _end(self, rooms: Iterable[ServedConversation]) -> None:
        ending = [room.end(STOPPED) for room in rooms]
        await asyncio.gather(*ending, return_exceptions=True)


def identity_of(agent: Agent) -> str:
    """The same for every server that runs this agent, and another for any other."""
    tools = sorted(worker.tool.name for worker in agent.workers)
    parts = (agent.name, agent.instructions, type(agent.brain).__qualname__, *tools)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def rate_of(hello: dict[str, Any]) -> int:
    rate: int = hello.get("audio", {}).get("rate_hz", 16_000)
    return rate
