"""All conversations of a server: starting one, reconnecting to one, and ending or moving them when the server stops.

Rule: a client can enter a conversation only with the conversation's key. A seat (the id of a browser) is only a name
and isn't enough. Operators can watch a conversation, but not enter it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from duologue.lines.playback.inputs import Position
from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.observe.hearing_fact import Microphone
from duologue.observe.prometheus import Tally
from duologue.ports.brain import Remembers
from duologue.ports.context import CallInfo, Context
from duologue.ports.store import StoredConversation, StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, AgentSource
from duologue.runtime.checkpoint import CONTEXT_PART
from duologue.runtime.conversation import Conversation, StartRefused

from . import server_messages
from .caller_budget import Refused
from .client_outbox import ClientOutbox
from .close_codes import SEAT_TAKEN, STOPPING, CloseCode
from .lease_calls import CLIENT_PART
from .leases import Leases
from .limit_metrics import LIMITS, limit_metrics
from .restore import read_earlier, read_info
from .restored_conversation import RestoredConversation
from .screen import Screen
from .served_conversation import ServedConversation, new_id
from .settings import ServerSettings
from .shared_limits import SharedLimits
from .siblings import ALONE, Siblings
from .sound_traffic import SoundTraffic
from .start_control import StartControl
from .switchboard import Switchboard
from .webhook_sender import WebhookSender

PAST_MAX = 20
SUGGESTIONS_MAX = 4
STOPPED = "the server is stopping"
_ID = re.compile("[0-9a-f]{32}")  # the form of ServedConversation.id
LOG = logging.getLogger("duologue.server")


class Conversations:
    """The conversations of one server process. `served` maps ids to the conversations whose clients use Duologue's own
    protocol on a socket."""

    def __init__(
        self,
        make_agent: AgentOrMaker,
        settings: ServerSettings,
        leases: Leases | None = None,
        siblings: Siblings = ALONE,
    ) -> None:
        self.source = AgentSource(make_agent)
        self.leases = leases
        self.siblings = siblings
        self._agent = self.source.first
        if leases is not None:
            leases.calls.agent = identity_of(self._agent)
        self._settings = settings
        self.served: dict[str, ServedConversation] = {}
        self.past: OrderedDict[str, ServedConversation] = (
            OrderedDict()
        )  # the newest conversations that have ended, for their journals
        self.clients: set[ClientOutbox] = set()
        self.calls: set[Conversation] = set()  # on other lines, such as the phone: they can't move to another node
        self.tally = Tally()
        self.refused: Counter[str] = Counter()  # by limit: how much it has refused
        self.traffic = SoundTraffic()
        self.shared_limits = SharedLimits(settings.limits, siblings.tell_limit)
        self.starts = StartControl(settings.limits, self.shared_limits, siblings.ask_for_room)
        self.switchboard = Switchboard(siblings)
        self.observers: list[Callable[[Conversation], object]] = []  # called with every new conversation
        self.stoppers: list[Callable[[float], Awaitable[None]]] = []  # called with `drain_s_max` when the server stops
        self.webhooks: WebhookSender | None = None
        if settings.webhook is not None:
            store = leases.store if leases is not None else None
            self.webhooks = WebhookSender(settings.webhook, store, leases.name if leases is not None else "")
        self.is_draining = False
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    def load(self) -> None:
        """Load the models now, so that the first conversation doesn't have to wait for them."""
        for part in (self._agent.ears, self._agent.voice, self._agent.thinker):
            load = getattr(part, "load", None)
            if callable(load):
                load()

    @property
    def agent_name(self) -> str:
        return self._agent.name

    def describe_agent(self) -> dict[str, Any]:
        """What a newly connected client is told about the agent."""
        agent = self._agent
        return {
            "name": agent.name,
            "hears": agent.ears is not None,
            "speaks": agent.voice is not None,
            "suggestions": list(agent.suggested[:SUGGESTIONS_MAX]),
        }

    # -- Clients connect

    def find(self, hello: dict[str, Any]) -> tuple[ServedConversation | None, CloseCode | None]:
        """Find the running conversation whose id and key are in this hello. Returns the conversation and None; if there
        is no such conversation, None and None. If another client is connected and the hello says `take_over` false, the
        client must be refused: then the result is None and the close code."""
        served = self.served.get(hello.get("conversation", ""))
        if served is None or not _is_of(served, hello):
            return None, None
        if served.client is not None and hello.get("take_over") is False:
            return None, SEAT_TAKEN
        return served, None

    def has_seat(self, hello: dict[str, Any]) -> bool:
        """Does this client have a conversation already? Always False for a client whose ticket names no user: otherwise
        such a client could find out which seats (ids of browsers) exist."""
        user, seat = hello.get("user", ""), hello["seat"]
        return bool(user) and any(served.user == user and served.seat == seat for served in self.served.values())

    def missed_messages(self, hello: dict[str, Any]) -> list[server_messages.ServerMessage]:
        """Remove and return the messages about unanswered turns that this client has missed, because its conversation
        ended while no client was connected. An empty list if it has missed nothing."""
        served = self.past.get(hello.get("conversation", ""))
        return served.screen.missed.lost() if served is not None and _is_of(served, hello) else []

    def enter(self, served: ServedConversation, client: ClientOutbox, hello: dict[str, Any], language: str) -> None:
        """Reconnect a client to its conversation, which is still running."""
        served.seat = hello["seat"]
        LOG.info("%s: a client has reconnected", correlation_id(served.id))
        served.enter(
            client,
            language=language,
            rate_hz=rate_of(hello),
            position=position_in(hello) if hello.get("conversation") == served.id else None,
            resumed=True,
            key=hello["key"],
            user=hello.get("user", ""),
            receipts=hello.get("receipts", ()),
        )

    def why_no_start(self, address: str) -> Refused | None:
        """Decide whether a client at this address can start a conversation now. Returns why it can't; None if it can.
        If the server is full, an older conversation in which the user has said nothing is ended to make room."""
        refused = self.starts.why_not(address)
        if refused is not None:
            self.note_refused(refused.limit)
        return refused

    def note_refused(self, limit: str) -> None:
        """Count one refusal by this limit, for the metrics."""
        assert limit in LIMITS, f"{limit} isn't in LIMITS, so the metrics wouldn't have it"
        self.refused[limit] += 1

    async def begin(
        self,
        client: ClientOutbox,
        hello: dict[str, Any],
        language: str,
        microphone: Microphone = Microphone.ON,
        info: CallInfo | None = None,
        address: str = "",
    ) -> ServedConversation:
        """Start a new conversation for this client. `microphone` is the state of the client's microphone. `info` has
        facts about the conversation from the client's request. The conversation counts towards the limits of
        `address`."""
        id_ = new_id()
        context: Context[Any] = Context(
            replace(info or CallInfo(), conversation=id_, line="browser", language=language)
        )
        agent = await self.source.make(context)
        if self.source.is_awaited and (self.has_seat(hello) or self.is_draining):
            raise StartRefused("the client has another conversation, or the server is stopping")
        served = ServedConversation(
            agent,
            hello["seat"],
            context=context,
            language=language,
            rate_hz=rate_of(hello),
            limits=self._settings.limits,
            journals=self._settings.journals,
            on_end=self._remove,
            user=hello.get("user", ""),
            leases=self.leases,
            address=address,
            note_refused=self.note_refused,
            webrtc=self._settings.webrtc,
        )
        self._add(served)
        LOG.info("%s: started; conversations here: %d", correlation_id(served.id), len(self.served))
        served.conversation.notify_microphone(microphone)
        served.enter(client, language=language, rate_hz=rate_of(hello), position=None, resumed=False)
        served.start()
        return served

    def _add(self, served: ServedConversation) -> None:
        self.served[served.id] = served
        self._is_empty.clear()
        self.starts.count(served)
        self.siblings.note_begun(served.id, served.seat)
        self.watch(served.conversation)
        if self.leases is not None and isinstance(served.conversation.agent.thinker, Remembers):
            served.conversation.agent.thinker.remember(self.leases)

    # -- Conversations of another process

    async def restore(self, hello: dict[str, Any]) -> ServedConversation | None:
        """Restore the conversation that this client had on another node (server process), or on this node before a
        restart. Returns None if it can't be resumed. Raises StoreFailed if the store can't be read right now."""
        wanted = hello.get("conversation", "")
        if self.leases is None or not _ID.fullmatch(wanted):
            return None
        served = self.served.get(wanted)
        if served is not None and not served.is_elsewhere:
            if _is_of(served, hello):
                return served
            if not await self.leases.is_outdated(served):  # if it is, the client has a newer key than this node knows
                return None
        if self.is_draining:
            raise StoreFailed("this server is stopping")
        return await self.leases.ask(wanted, hello)

    async def rebuild(self, stored: StoredConversation, hello: dict[str, Any] | None) -> ServedConversation:
        """Make a conversation from its stored data, without starting it. Raises NotRestorable."""
        assert self.leases is not None
        context: Context[Any] = Context(read_info(stored.parts.get(CONTEXT_PART)))
        agent = await self.source.make(context)
        earlier = await read_earlier(self.leases.store, stored, agent.settings, hello)
        return self._make_restored(agent, earlier, stored.parts[CLIENT_PART], hello, context)

    def take_in(self, served: ServedConversation) -> None:
        """Add and resume a conversation that another process started. If its client hasn't reconnected yet, the
        conversation waits for the client. It ends if the client doesn't come back in time."""
        self._add(served)
        LOG.info("%s: resumed on this node; conversations here: %d", correlation_id(served.id), len(self.served))

    def _make_restored(
        self,
        agent: Agent,
        earlier: RestoredConversation,
        stored: Any,
        hello: dict[str, Any] | None,
        context: Context[Any],
    ) -> ServedConversation:
        return ServedConversation(
            agent,
            hello["seat"] if hello is not None else "",
            language=stored["language"],
            rate_hz=rate_of(hello or {}),
            limits=self._settings.limits,
            journals=self._settings.journals,
            on_end=self._remove,
            leases=self.leases,
            earlier=earlier,
            context=context,
            note_refused=self.note_refused,
            webrtc=self._settings.webrtc,
        )

    def watch(self, conversation: Conversation) -> None:
        """Observe this conversation: count it in the metrics, report it to webhooks, and list it for operators if the
        settings allow watching. Used for conversations on every line, including the phone."""
        self.tally.watch(conversation)
        self.starts.watch(conversation)
        if self.webhooks is not None:
            self.webhooks.watch(conversation)
        served = self.served.get(conversation.id)
        if served is None:
            self._note_call(conversation)
        for observe in self.observers:
            observe(conversation)
        if served is None and not self._settings.watchable:
            return
        screen = served.screen if served is not None else Screen(conversation, datetime.now(UTC))
        screen.prices = self._settings.prices
        screen.tells_watched = self._settings.tells_watched
        if self._settings.dev:
            conversation.engine.failure_watchers.append(screen.show_traceback)
        if self._settings.watchable:
            self.switchboard.add(screen)

    def _note_call(self, conversation: Conversation) -> None:
        def note(entered: sg.StateEntered) -> None:
            if entered.state != "idle":
                self.calls.add(conversation)

        conversation.on(sg.StateEntered, note)
        conversation.on(sg.Ended, lambda _: self.calls.discard(conversation))

    def _remove(self, served: ServedConversation, has_moved: bool) -> None:
        if self.served.get(served.id) is served:  # not if it has been restored here meanwhile
            del self.served[served.id]
            self.starts.uncount(served)
            (self.siblings.note_forgotten if has_moved else self.siblings.note_ended)(served.id)
        self.switchboard.remove(served.screen)
        self.past[served.id] = served
        while len(self.past) > PAST_MAX:
            oldest, _ = self.past.popitem(last=False)
            if oldest not in self.served:
                self.siblings.note_forgotten(oldest)
        how = "continues on another node" if has_moved else "has ended"
        LOG.info("%s: %s; conversations here: %d", correlation_id(served.id), how, len(self.served))
        if not self.served:
            self._is_empty.set()

    def gauges(self) -> str:
        """The metrics about the server itself, such as open sockets and refusals, in Prometheus format."""
        return (
            "# HELP duologue_sockets Open client sockets.\n"
            "# TYPE duologue_sockets gauge\n"
            f"duologue_sockets {len(self.clients)}\n"
            "# HELP duologue_draining 1 while the server is stopping.\n"
            "# TYPE duologue_draining gauge\n"
            f"duologue_draining {int(self.is_draining)}\n"
        ) + (
            limit_metrics(self.refused, sum(not served.has_spoken for served in self.served.values()))
            + self.traffic.metrics()
        )

    # -- Stopping

    async def drain(self) -> None:
        """Stop the server. No new conversation can start. Running conversations have `drain_s_max` seconds to end or to
        move to another node. Then all clients are disconnected."""
        self.is_draining = True
        limit_s = self._settings.limits.drain_s_max
        going = len(self.served) + len(self.calls)
        LOG.info("stopping: %d conversations have %.0f s to end", going, limit_s)
        stopping = [asyncio.ensure_future(stop(limit_s)) for stop in self.stoppers]
        await asyncio.gather(self._stop_served(limit_s), self._stop_calls(limit_s))
        for task in stopping:
            task.cancel()
        for client in tuple(self.clients):
            client.disconnect(STOPPING)

    def crash(self) -> None:
        """A tool for tests: stop as a killed process would. Clients are not disconnected, and nothing is saved."""
        for served in self.served.values():
            served.conversation.crash()
        if self.leases is not None:
            self.leases.crash()

    async def _stop_served(self, limit_s: float) -> None:
        if self.leases is not None:
            self.leases.leave()
            await self._hand_over(limit_s)
        else:
            await self._wait_then_end(limit_s)

    async def _stop_calls(self, limit_s: float) -> None:
        """Wait up to `limit_s` seconds until the conversations on other lines, such as phone calls, have ended. Then
        hang up those that are left."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while self.calls and loop.time() < until:
            await asyncio.sleep(0.05)
        await asyncio.gather(*(call.end(STOPPED) for call in tuple(self.calls)), return_exceptions=True)

    async def _wait_then_end(self, limit_s: float) -> None:
        for served in self.served.values():
            served.tell("stopping")
        await self._end([served for served in self.served.values() if served.client is None])
        try:
            await asyncio.wait_for(self._is_empty.wait(), limit_s)
        except TimeoutError:
            await self._end(self.served.values())

    async def _hand_over(self, limit_s: float) -> None:
        """Hand each conversation over to another node (server process), as soon as it is between turns or has no
        connected client. After `limit_s` seconds, hand over all that are left."""
        loop = asyncio.get_running_loop()
        until = loop.time() + limit_s
        while self.served:
            is_late = loop.time() >= until
            going = [served for served in self.served.values() if is_late or served.is_resting or served.client is None]
            await asyncio.gather(*(served.hand_over() for served in going), return_exceptions=True)
            if self.served:
                await asyncio.sleep(0.05)

    async def _end(self, ending: Iterable[ServedConversation]) -> None:
        await asyncio.gather(*[served.end(STOPPED) for served in ending], return_exceptions=True)


def _is_of(served: ServedConversation, hello: dict[str, Any]) -> bool:
    """Does this hello message contain a valid key of this conversation?"""
    return served.is_key(hello.get("key", ""), hello.get("user", ""))


def identity_of(agent: Agent) -> str:
    """A hash of the agent's name, instructions, class of brain and tool names. So all servers that run the same agent
    compute the same hash."""
    tools = sorted(worker.tool.name for worker in agent.workers)
    parts = (agent.name, agent.instructions, type(agent.brain).__qualname__, *tools)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def position_in(hello: dict[str, Any]) -> Position | None:
    """How much the client had played when it sent this hello message; None if the hello doesn't say."""
    played = hello.get("played")
    return Position(played["voice"], played["ms"], played["chunk"]) if played else None


def rate_of(hello: dict[str, Any]) -> int:
    """The sample rate of the client's microphone, from its hello message; 16 kHz if the hello doesn't say."""
    rate: int = hello.get("audio", {}).get("rate_hz", 16_000)
    return rate
