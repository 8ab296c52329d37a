"""Webhooks: tells another server when a conversation starts, ends or changes. Each message is signed, and is sent again
if it doesn't arrive.

If the server has a store, a message is stored in the same transaction as the state that it reports. It stays in the
store until it was sent, even if the server crashes. Rule: sending never delays a conversation. The messages about one
conversation are sent in order. A receiver may get a message twice, and recognises that by the message's id.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from duologue.observe import signals as sg
from duologue.observe.diagnostics import correlation_id
from duologue.ports.store import Fenced, Held, OutboxMessage, Store, StoreFailed
from duologue.runtime.conversation import Conversation

from .settings import WebhookSettings

LOG = logging.getLogger("duologue.server")
TOPIC = "webhook"
POST_S_MAX = 5.0
RETRY_S = (1.0, 5.0, 30.0, 120.0, 600.0)  # the last one is repeated
TRIES_MAX = 20  # then the message is dropped and the log says so
LEFT_MAX = 1_000  # conversations whose unsent messages are looked for at the start
QUEUE_MAX = 1_000  # messages of one call without a store; more are dropped
TTL_MS = 10_000
SIGNATURE, EVENT_ID = "Duologue-Signature", "Duologue-Event-Id"

Post = Callable[[str, bytes, dict[str, str]], Awaitable[int]]


def sign(secret: str, at_s: int, body: bytes) -> str:
    """The signature of a message: its time, and an HMAC-SHA256. The signed text consists of the time, a dot and the
    body."""
    code = hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at_s},v1={code}"


def is_signed(secret: str, header: str, body: bytes, now_s: int, age_s_max: int = 300) -> bool:
    """Is `header` a valid signature of this body that was made within the last `age_s_max` seconds? This is for
    receivers of webhooks."""
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    if not header.isascii() or not parts.get("t", "").isdecimal() or abs(now_s - int(parts["t"])) > age_s_max:
        return False
    return hmac.compare_digest(sign(secret, int(parts["t"]), body), header)


async def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    """Send a request, and return the status of the response. Redirects aren't followed."""

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *given: Any, **named: Any) -> None:  # noqa: ARG002
            return None

    def send() -> int:
        request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=POST_S_MAX) as response:
                return int(response.status)
        except urllib.error.HTTPError as refusal:
            return refusal.code

    return await asyncio.to_thread(send)


class WebhookSender:
    """Sends the webhooks of one server."""

    def __init__(
        self,
        settings: WebhookSettings,
        store: Store | None = None,
        node: str = "",
        post: Post = post,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._store = store
        self._node = node
        self._post = post
        self._clock = clock
        self._running: dict[str, asyncio.Task[None]] = {}
        self._waiting: dict[str, deque[dict[str, Any]]] = {}  # of calls that aren't stored
        self._live: dict[str, Conversation] = {}
        self.dropped = 0

    # -- What happens in calls

    def watch(self, conversation: Conversation) -> None:
        """From now on, send messages about this conversation."""
        self._live[conversation.id] = conversation
        on, private = conversation.on, conversation.agent.private
        started: list[bool] = []

        def start(told: sg.StateEntered) -> None:
            if not started and told.state != "idle":
                started.append(True)
                event = "resume" if conversation.hooks.is_restored else "start"
                self._tell(conversation, event, told, line=conversation.call_context.line)

        def turn(told: sg.TurnCompleted | sg.TurnInterrupted) -> None:
            said = {} if private else {"text": told.turn.transcript}
            cut = isinstance(told, sg.TurnInterrupted)
            self._tell(conversation, "turn", told, role=told.turn.role, turn=told.turn.turn, interrupted=cut, **said)

        def state(told: sg.Transitioned) -> None:
            if told.view == "phase":
                self._tell(conversation, "state", told, source=told.source, target=told.target)

        def tool(told: sg.WorkEnded) -> None:
            outcome = told.outcome.value
            self._tell(conversation, "tool", told, tool=told.tool, outcome=outcome, duration_ms=told.duration_ms)

        def fault(told: sg.Failed) -> None:
            self._tell(conversation, "fault", told, part=told.part.value, error=told.error.value, fatal=told.fatal)

        def end(told: sg.Ended) -> None:
            if not told.has_moved:  # otherwise the other process tells of its end
                made, used = conversation.metrics, [row.to_json() for row in conversation.usage]
                self._tell(conversation, "end", told, reason="" if private else told.reason)
                self._tell(conversation, "usage", told, requests=made.requests, calls=made.calls, services=used)
            self._live.pop(conversation.id, None)

        on(sg.StateEntered, start)
        on(sg.TurnCompleted, turn)
        on(sg.TurnInterrupted, turn)
        on(sg.Transitioned, state)
        on(sg.WorkEnded, tool)
        on(sg.Failed, fault)
        on(sg.Ended, end)

    def _tell(self, conversation: Conversation, event: str, told: sg.Signal, **data: Any) -> None:
        engine = conversation.engine
        body = {
            "id": f"{conversation.id}-{engine.events}-{event}-{told.at}",
            "event": event,
            "conversation": conversation.id,
            "at": conversation.time_of(told.at).isoformat(),
            "data": data,
        }
        if engine.checkpoint_writer is not None and self._store is not None:
            engine.checkpoint_writer.send(OutboxMessage(TOPIC, body))
            engine.checkpoint_writer.mark()
        else:
            queue = self._waiting.setdefault(conversation.id, deque())
            if len(queue) >= QUEUE_MAX:
                self.dropped += 1
                return
            queue.append(body)
        self._begin(conversation.id)

    # -- Sending

    async def open(self) -> None:
        """Send the stored messages about ended conversations that earlier processes didn't send."""
        if self._store is not None:
            for one in await self._store.holdings(LEFT_MAX):
                if one.is_over and await self._store.outbox(one.conversation):
                    self._begin(one.conversation)

    async def close(self) -> None:
        """Stop sending. Stored messages that weren't sent yet are sent by the next process that uses the store."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _begin(self, conversation: str) -> None:
        if conversation not in self._running:
            task = asyncio.get_running_loop().create_task(self._send_all(conversation), name="webhooks")
            self._running[conversation] = task
            task.add_done_callback(lambda _: self._running.pop(conversation, None))

    async def _send_all(self, conversation: str) -> None:
        """Send the messages about one conversation in order, until no more are waiting."""
        while True:
            sent = await self._send_waiting(conversation) + await self._send_stored(conversation)
            if not sent and conversation not in self._live:
                return
            await asyncio.sleep(0.2 if sent else 1.0)

    async def _send_waiting(self, conversation: str) -> int:
        queue, count = self._waiting.get(conversation, deque()), 0
        while queue:
            await self.deliver(conversation, queue[0])
            queue.popleft()
            count += 1
        if conversation not in self._live:
            self._waiting.pop(conversation, None)
        return count

    async def _send_stored(self, conversation: str) -> int:
        if self._store is None:
            return 0
        try:
            found = [one for one in await self._store.outbox(conversation) if one.topic == TOPIC]
            for message in found:
                await self.deliver(conversation, message.body)
                await self._mark(conversation, self._store, message.id)
        except (Fenced, Held):
            return 0  # another node has it, and sends it
        except StoreFailed as problem:
            LOG.warning("%s: webhooks wait for the store: %s", correlation_id(conversation), problem)
            return 0
        return len(found)

    async def _mark(self, conversation: str, store: Store, number: int) -> None:
        live = self._live.get(conversation)
        writer = live.engine.checkpoint_writer if live is not None else None
        if writer is not None and not writer.is_fenced:
            await store.sent(writer.lease, [number])
            return
        lease, _ = await store.claim(conversation, self._node or "webhooks", TTL_MS)
        await store.sent(lease, [number])
        await store.release(lease)

    async def deliver(self, conversation: str, body: dict[str, Any]) -> None:
        """Try to send one message, until the receiver accepts it or TRIES_MAX tries have failed."""
        for number in range(TRIES_MAX):
            if await self._is_accepted(body):
                return
            await asyncio.sleep(RETRY_S[min(number, len(RETRY_S) - 1)])
        self.dropped += 1
        LOG.error("%s: a webhook was not accepted in %d tries", correlation_id(conversation), TRIES_MAX)

    async def _is_accepted(self, body: dict[str, Any]) -> bool:
        data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        headers = {SIGNATURE: sign(self._settings.secret, int(self._clock()), data), EVENT_ID: str(body.get("id", ""))}
        try:
            async with asyncio.timeout(POST_S_MAX * 2):
                status = await self._post(self._settings.url, data, headers)
        except Exception as failure:  # noqa: BLE001 - the receiver may fail in any way
            LOG.debug("a webhook failed: %s", type(failure).__name__)
            return False
        return 200 <= status < 300
