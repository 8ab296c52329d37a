"""Webhooks: signed, in order, repeated until they are accepted, and never lost with a store."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from duologue import Agent, Request, ToolCall
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.loopback_server import serving
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.settings import InvalidServer, WebhookSettings
from duologue.server.webhook_sender import EVENT_ID, SIGNATURE, TRIES_MAX, WebhookSender, is_signed, sign
from tests.limits import WAIT_S
from tests.server.moving_nodes import Node, Page, hello_of, store_here

SECRET = "a secret for the tests"
SETTINGS = WebhookSettings("https://hooks.example.com/calls", SECRET)


class Receiver:
    """Accepts messages, after refusing the first `refused` of them."""

    def __init__(self, refused: int = 0) -> None:
        self.refused = refused
        self.tries = 0
        self.got: list[dict[str, Any]] = []
        self.ids: list[str] = []

    async def __call__(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        assert url == SETTINGS.url
        assert is_signed(SECRET, headers[SIGNATURE], body, now_s=1_000)
        self.tries += 1
        if self.refused:
            self.refused -= 1
            return 503
        self.ids.append(headers[EVENT_ID])
        self.got.append(json.loads(body))
        return 200

    @property
    def events(self) -> list[str]:
        return [one["event"] for one in self.got if one["event"] != "state"]


def agent() -> Agent:
    return Agent(lambda request: "Fine.")


async def a_call(node: Node, receiver: Receiver, store: Any) -> WebhookSender:
    sender = WebhookSender(SETTINGS, store, "webhooks", receiver, clock=lambda: 1_000.0)
    node.conversations.webhooks = sender
    await node.open()
    served = await node.begin(Page())
    served.do(ClientMessage("type", {"text": "how are you"}))
    await asyncio.sleep(1)
    await served.end("enough")
    return sender


def test_what_happens_in_a_call_is_told_in_order_and_only_once() -> None:
    async def run() -> None:
        store, receiver = store_here(), Receiver()
        node = Node("a", store, agent)
        await a_call(node, receiver, store)
        await asyncio.sleep(5)
        assert receiver.events == ["start", "turn", "turn", "end", "usage"]
        assert receiver.got[-2]["data"]["reason"] == "enough"
        assert len(set(receiver.ids)) == len(receiver.ids)
        (conversation,) = {one["conversation"] for one in receiver.got}
        assert await store.outbox(conversation) == []
        await node.leases.close()

    run_simulated(run())


def test_a_refused_message_is_sent_again_until_it_is_accepted() -> None:
    async def run() -> None:
        store, receiver = store_here(), Receiver(refused=3)
        node = Node("a", store, agent)
        await a_call(node, receiver, store)
        await asyncio.sleep(60)
        assert receiver.events == ["start", "turn", "turn", "end", "usage"]
        assert receiver.tries == len(receiver.got) + 3
        await node.leases.close()

    run_simulated(run())


def test_what_was_not_sent_before_a_crash_is_sent_by_the_next_process() -> None:
    async def run() -> None:
        store, dead = store_here(), Receiver(refused=10_000)
        node = Node("a", store, agent)
        sender = await a_call(node, dead, store)
        await asyncio.sleep(1)
        await sender.close()
        assert dead.got == []
        receiver = Receiver()
        again = WebhookSender(SETTINGS, store, "webhooks", receiver, clock=lambda: 1_000.0)
        await again.open()
        await asyncio.sleep(5)
        assert receiver.events == ["start", "turn", "turn", "end", "usage"]
        await node.leases.close()

    run_simulated(run())


def test_a_message_that_is_never_accepted_is_given_up_and_counted() -> None:
    async def run() -> None:
        receiver = Receiver(refused=10_000)
        sender = WebhookSender(SETTINGS, None, "", receiver, clock=lambda: 1_000.0)
        await sender.deliver("x", {"id": "1"})
        assert (receiver.tries, sender.dropped) == (TRIES_MAX, 1)

    run_simulated(run())


def test_a_signature_is_bound_to_the_body_the_time_and_the_secret() -> None:
    header = sign(SECRET, 1_000, b"body")
    assert is_signed(SECRET, header, b"body", now_s=1_200)
    assert not is_signed(SECRET, header, b"other", now_s=1_200)
    for odd in ("t=²,v1=0", "t=1000,v1=é", "t=,v1=", "", "t=1000"):
        assert not is_signed(SECRET, odd, b"body", now_s=1_000)
    assert not is_signed("another secret here", header, b"body", now_s=1_200)
    assert not is_signed(SECRET, header, b"body", now_s=2_000)
    assert not is_signed(SECRET, "nonsense", b"body", now_s=1_000)


@pytest.mark.parametrize(
    ("url", "secret", "problem"),
    [("http://example.com", SECRET, "https"), ("https://example.com", "short", "at least 16")],
)
def test_webhooks_without_encryption_or_secret_are_refused(url: str, secret: str, problem: str) -> None:
    with pytest.raises(InvalidServer, match=problem):
        WebhookSettings(url, secret)


# -- Over real sockets, to a server of one's own


class ReceivingServer:
    """A receiver as a user writes it: it checks each signature, and is down for the first request."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.tried: list[str] = []
        self.got: dict[str, dict[str, Any]] = {}  # by id, because a message may come twice

    async def take(self, request: HttpRequest) -> Response:
        body = await request.body()
        self.tried.append(request.headers[EVENT_ID])
        if len(self.tried) == 1:
            return self._answer(503)
        if not is_signed(SECRET, request.headers[SIGNATURE], body, int(time.time())):
            return self._answer(403)
        told = json.loads(body)
        assert told["id"] == request.headers[EVENT_ID]
        self.got.setdefault(told["id"], told)
        return self._answer(200)

    def _answer(self, status: int) -> Response:
        self.statuses.append(status)
        return Response(status_code=status)

    def of(self, event: str) -> list[dict[str, Any]]:
        return [one["data"] for one in self.got.values() if one["event"] == event]

    async def until(self, event: str) -> None:
        async with asyncio.timeout(WAIT_S):
            while not self.of(event):
                await asyncio.sleep(0.05)


def look() -> str:
    """Look."""
    return "found"


async def looks_or_fails(request: Request) -> AsyncIterator[Any]:
    if request.text == "please fail":
        raise ValueError
    yield "Found it." if request.outputs else ToolCall("look", {})


def test_all_eight_events_of_a_call_that_moves_reach_a_server_that_was_down_at_first() -> None:
    here = ReceivingServer()

    async def call(webhook: WebhookSettings) -> None:
        def node(name: str) -> Node:
            return Node(name, store, lambda: Agent(looks_or_fails, tools=[look]), webhook=webhook)

        store, page = store_here(), Page()
        first, second = node("a"), node("b")
        await first.open()
        served = await first.begin(page)
        served.do(ClientMessage("type", {"text": "look it up"}))
        await here.until("tool")
        served.do(ClientMessage("type", {"text": "please fail"}))
        await here.until("fault")
        await first.conversations.drain()
        await second.open()
        again = await second.reconnect(Page(), hello_of(page))
        assert again is not None
        await here.until("resume")
        await again.end("enough")
        await here.until("usage")
        for one in (first, second):
            assert one.conversations.webhooks is not None
            await one.conversations.webhooks.close()
            await one.leases.close()

    async def run() -> None:
        async with serving(lambda _: [Route("/calls", here.take, methods=["POST"])]) as url:
            await call(WebhookSettings(f"{url}/calls", SECRET))

    run_jumping(run())
    assert here.statuses[0] == 503
    assert set(here.statuses[1:]) == {200}
    assert here.tried[0] == here.tried[1], "what was refused comes first again"
    events = [one["event"] for one in here.got.values()]
    assert set(events) == {"start", "turn", "state", "tool", "fault", "resume", "end", "usage"}
    assert [events.count(one) for one in ("start", "tool", "fault", "resume", "end", "usage")] == [1] * 6
    assert events[0] == "start"
    assert events[-2:] == ["end", "usage"]
    assert events.index("tool") < events.index("fault") < events.index("resume")
    assert here.of("tool")[0]["tool"] == "look"
    assert here.of("fault")[0]["part"] == "brain"
    assert here.of("end")[0]["reason"] == "enough"
