"""Operators watch calls on any line: what they see, what they may not do, and that the call isn't affected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duologue.lab.sim.dial import NotAnswered, announce, dial
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.scripted_carrier import ScriptedCarrier
from duologue.lines.phone.carriers import CARRIERS, TWILIO, Carrier
from duologue.observe.diagnostics import correlation_id
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.client_messages import ClientMessage
from duologue.server.client_outbox import ClientOutbox
from duologue.server.phone.routes import PhoneSettings, phone_routes
from duologue.server.switchboard import LIST_S_MIN, Operator, Switchboard
from duologue.testing import Delay, scripted_tool
from tests.limits import TEST_S
from tests.server.noted_siblings import NotedSiblings
from tests.server.operators import listed, operator, watch
from tests.server.phone.phone_calls import make_agent, until
from tests.server.running_server import Client, RunningServer, agent_that_says, running_server, serve, talk

TOKEN = "the-callers-own-token"
OPERATORS = "the-operators-own-token"


@asynccontextmanager
async def exchange(make: Callable[[], Agent] = make_agent, **limits: Any) -> AsyncIterator[tuple[RunningServer, str]]:
    """A server with a panel and a telephone, and where a carrier reaches it."""
    async with asyncio.timeout(TEST_S), running_server(make, **limits) as made:
        url = f"http://127.0.0.1:{made.port}"
        settings = PhoneSettings(url, allow_unsigned=True)
        made.server.add_routes(
            phone_routes(make, settings, made.conversations.watch, lambda: not made.conversations.is_draining)
        )
        yield made, url


async def press(caller: ScriptedCarrier, keys: str) -> None:
    for key in keys:
        caller.press(key)


# -- A phone call


@pytest.mark.req("V-09", "C-INT-003", "L-22")
@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
def test_a_telephone_call_is_seen_like_any_other(carrier: Carrier) -> None:
    async def run() -> None:
        async with exchange() as (made, url):
            watcher = await operator(made, language="de")
            assert watcher.told("ready")[0]["watchable"] is True
            assert watcher.told("calls") == [{"calls": []}]
            async with dial(url, carrier) as caller:
                told = await watch(watcher)
                assert {name: told[name] for name in ("line", "private", "resumed")} == {
                    "line": "phone", "private": False, "resumed": True,
                }  # fmt: skip
                assert "key" not in told
                await watcher.send("debug", on=True)
                await watcher.expect("debug")
                await watcher.until(lambda: "Hello." in said(watcher), "the greeting")
                await watcher.expect("state", state="listening")
                await press(caller, "4711#")
                await watcher.until(lambda: "Thank you very much." in said(watcher), "the answer")
                caller.hang_up()
                ended = await watcher.expect("ended")
            assert ended == {"reason": "hung up", "canRestart": False}
            assert await listed(watcher, 0) == []
            assert "4711" in [told["text"] for told in watcher.told("caption", role="user", final=True)]
            assert "Ich höre zu" in [told["localizedLabel"] for told in watcher.told("state")]
            assert watcher.told("turn", event="turn-completed", role="assistant")
            assert watcher.told("metrics")
            assert "TextTyped" in [told["event"] for told in watcher.told("moment")]
            assert watcher.frames == [], "the sound stays in the call"
            assert not watcher.told("error")

    run_jumping(run())


@pytest.mark.req("L-22")
@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
def test_a_stopping_server_lets_a_call_end_and_refuses_new_calls(carrier: Carrier) -> None:
    async def run() -> None:
        async with exchange(drain_s_max=60) as (made, url):
            async with dial(url, carrier) as caller:
                await until(lambda: made.conversations.calls)
                stopping = asyncio.ensure_future(made.conversations.drain())
                await until(lambda: made.conversations.is_draining)
                with pytest.raises(NotAnswered):
                    await announce(url, carrier, "CA0002")
                assert not stopping.done()
                caller.hang_up()
                await stopping
            assert not made.conversations.calls

    run_jumping(run())


def test_a_stopping_server_hangs_up_a_call_that_takes_too_long() -> None:
    async def run() -> None:
        async with exchange(drain_s_max=0.2) as (made, url):
            async with dial(url, CARRIERS["twilio"]) as caller:
                await until(lambda: made.conversations.calls)
                await made.conversations.drain()
                await until(lambda: caller.is_over)
            assert not made.conversations.calls

    run_jumping(run())


def said(client: Client) -> str:
    """What a watcher has read of the agent, before it came and since."""
    before = [item["text"] for told in client.told("history") for item in told["items"] if item["role"] == "assistant"]
    return " ".join([*before, client.heard])


@pytest.mark.req("V-09", "C-CON-001")
def test_a_watcher_cannot_act_on_the_call_and_leaves_no_trace_in_it() -> None:
    async def run() -> None:
        async with exchange() as (made, url), dial(url, TWILIO) as caller:
            watcher = await operator(made)
            await watch(watcher)
            commands = (
                "start",
                "end",
                "press",
                "release",
                "send",
                "interrupt",
                "suspend",
                "resume",
                "retry",
                "dismiss",
            )
            for kind in commands:
                await watcher.send(kind)
            await watcher.send("type", text="I am not here")
            await watcher.send("answer", call=1, text="nor here")
            await watcher.send("played", voice=1, ms=20)  # of a sound that ended: nothing to complain about
            await watcher.raw_send(bytes(1_024))
            await watcher.expect("error", after=len(commands) + 1, code="refused")
            await press(caller, "1#")
            await watcher.until(lambda: "Thank you very much." in said(watcher), "the answer")
            watcher.vanish()
            await watcher.gone()
            heard_ms = caller.played_ms
            await press(caller, "2#")
            await until(lambda: caller.played_ms > heard_ms)
            again = await operator(made)
            await watch(again)
            told = (await again.expect("history"))["items"]
            assert [item["text"] for item in told if item["role"] == "user"] == ["1", "2"]
            assert len(again.told("error")) == 0

    run_jumping(run())


def test_a_watcher_switches_calls_and_returns_to_its_own_conversation() -> None:
    async def run() -> None:
        async with exchange() as (made, url), dial(url, TWILIO, call="CA1"), dial(url, TWILIO, call="CA2"):
            watcher = await operator(made)
            calls = await listed(watcher, 2)
            assert [call["line"] for call in calls] == ["phone", "phone"]
            assert len({call["id"] for call in calls}) == 2
            for call in calls:
                await watcher.send("watch", id=call["id"])
                await watcher.expect("conversation", conversation=call["id"])
            await watcher.send("watch", id="0123456789ab")
            assert (await watcher.expect("error"))["code"] == "no_call"
            await watcher.send("watch", id=None)
            await watcher.send("calls", on=False)
            await watcher.send("start")
            await watcher.until(lambda: any("key" in told for told in watcher.told("conversation")), "its own")
            await watcher.expect("state", state="listening")
            lists = len(watcher.told("calls"))
            await watcher.send("watch", id=calls[0]["id"])
            assert (await watcher.expect("error", after=1))["message"] == "watch: end your own conversation first"
            await watcher.send("type", text="hello")
            await watcher.until(lambda: "Thank you very much." in watcher.heard, "an answer")
            assert len(watcher.told("calls")) == lists, "nobody asked for more"

    run_jumping(run())


# -- Any line


@pytest.mark.req("C-CON-002", "C-SEC-001")
def test_a_call_is_listed_by_its_hash_without_its_key_or_id() -> None:
    async def script(running: RunningServer) -> None:
        client, watcher = await running.connect(), await operator(running)
        began = await client.begin("alice")
        await client.send("calls")
        (own,) = (await client.expect("calls"))["calls"]
        assert own["own"] is True
        (call,) = await listed(watcher, 1)
        assert call == {
            "id": correlation_id(began["conversation"]), "line": "browser", "agent": "", "phase": call["phase"],
            "since": began["since"], "private": False, "own": False,
        }  # fmt: skip
        await watch(watcher)
        await client.send("type", text="hello")
        await watcher.expect("caption", role="assistant", final=True, text="You said hello.")
        everything = "".join(frame for frame in watcher.raw if isinstance(frame, str))
        assert began["conversation"] not in everything
        assert began["key"] not in everything
        assert "alice" not in everything
        assert watcher.frames == []
        await client.send("end")
        assert (await watcher.expect("ended"))["canRestart"] is False
        await watcher.send("debug", on=True)  # what was can still be looked at
        assert (await watcher.expect("debug"))["moments"]

    serve(script)


def test_a_new_watcher_sees_running_work_and_open_questions() -> None:
    worker = scripted_tool("look_up", Delay(60_000), "eight")
    make = agent_that_says([[ToolCall("look_up", {})], "It is eight."], tools=[worker])

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await client.send("type", text="look it up")
        await client.expect("work", event="started")
        watcher = await operator(running)
        await watch(watcher)
        assert (await watcher.expect("work", event="started"))["tool"] == "look_up"
        assert (await watcher.expect("history"))["items"][0]["text"] == "look it up"

    serve(script, make)


def test_a_watcher_that_does_not_read_is_disconnected_and_the_call_continues() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")

        async def never(event: dict[str, Any]) -> None:
            await asyncio.get_running_loop().create_future()

        outbox = ClientOutbox(never, 2_000, lambda: watcher.leave())
        watcher = Operator(running.conversations.switchboard, outbox, may_watch=True)
        watcher.do(ClientMessage("watch", {"id": correlation_id(began["conversation"])}), "en", is_busy=False)
        assert watcher.is_watching
        await client.send("type", text="hello")
        await client.expect("caption", role="assistant", final=True)
        assert outbox.is_closing
        assert not watcher.is_watching
        await client.send("type", text="still here")
        await client.expect("caption", role="assistant", final=True, text="You said still here.")

    serve(script)


# -- Who may watch


def test_a_server_that_is_not_watchable_lists_nothing_and_shows_nothing() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        other = await running.connect()
        await other.hello("bob")
        assert (await other.expect("ready"))["watchable"] is False
        await other.send("calls")
        await other.send("watch", id=correlation_id(began["conversation"]))
        await other.expect("error", after=1, code="refused")
        assert not other.told("calls")
        assert not other.told("conversation")

    serve(script, watchable=False)


def test_a_caller_with_a_token_may_not_watch_and_an_operator_may() -> None:
    async def script(running: RunningServer) -> None:
        caller, operator = await running.connect(), await running.connect()
        await caller.begin("alice", token=TOKEN)
        assert caller.told("ready")[0]["watchable"] is False
        await caller.send("calls")
        assert "may not watch" in (await caller.expect("error", code="refused"))["message"]
        await operator.hello("desk", token=OPERATORS)
        assert (await operator.expect("ready"))["watchable"] is True
        await operator.send("calls")
        assert len((await operator.expect("calls"))["calls"]) == 1

    serve(script, token=TOKEN, secrets={"operator_token": OPERATORS})


def test_the_inside_of_a_conversation_is_shown_to_operators_and_not_to_its_caller() -> None:
    """The debug view has what the model knows: its summary, and the files that it uses."""

    async def script(running: RunningServer) -> None:
        caller, operator = await running.connect(), await running.connect()
        await caller.begin("alice", token=TOKEN)
        await caller.send("debug", on=True)
        assert "for operators" in (await caller.expect("error", code="refused"))["message"]
        await talk(caller, "hello")
        assert not caller.told("debug")
        assert not caller.told("context")
        await caller.send("debug", on=False)
        await operator.begin("desk", token=OPERATORS)
        await operator.send("debug", on=True)
        await operator.expect("debug")
        await operator.expect("context")
        assert len(caller.told("error")) == 1

    serve(script, token=TOKEN, secrets={"operator_token": OPERATORS})


def test_on_a_server_for_this_machine_the_debug_view_is_open_even_if_calls_may_not_be_watched() -> None:
    async def script(running: RunningServer) -> None:
        client, proxied = await running.connect(), await running.connect(additional_headers={"Via": "1.1 proxy"})
        await client.begin("alice")
        await client.send("debug", on=True)
        await client.expect("debug")
        await proxied.begin("bob")
        await proxied.send("debug", on=True)
        await proxied.expect("error", code="refused")

    serve(script, watchable=False)


def test_where_callers_need_a_token_nobody_watches_without_the_operators_token() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice", token=TOKEN)
        assert (await client.expect("ready"))["watchable"] is False
        await client.send("calls")
        await client.expect("error", code="refused")

    serve(script, token=TOKEN)


@pytest.mark.parametrize("is_told", [True, False])
def test_a_caller_is_told_while_an_operator_watches_if_the_settings_say_so(is_told: bool) -> None:
    async def script(running: RunningServer) -> None:
        caller, operator = await running.connect(), await running.connect()
        await caller.begin("alice")
        await operator.hello("desk")
        await operator.send("calls")
        (call,) = (await operator.expect("calls"))["calls"]
        await operator.send("watch", id=call["id"])
        await operator.expect("conversation")
        await operator.send("watch", id=None)
        await operator.send("ping", t=1)
        await operator.expect("pong")
        await caller.send("ping", t=1)
        await caller.expect("pong")
        assert [told["operators"] for told in caller.told("watched")] == ([1, 0] if is_told else [])
        assert operator.told("watched") == []

    serve(script, secrets={"tells_watched": is_told})


# -- Other processes of the same server

ELSEWHERE = {"id": "x", "since": "2026-01-01T00:00:00.000Z", "own": False, "phase": "listening"}


def test_the_list_has_the_calls_of_other_processes_oldest_first() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        watcher = await operator(running)
        switchboard = running.conversations.switchboard
        switchboard.note_elsewhere(1, [ELSEWHERE])
        calls = await listed(watcher, 2)
        assert calls[0] == ELSEWHERE
        assert switchboard.process_of("x") == 1
        assert switchboard.process_of(calls[1]["id"]) is None
        switchboard.note_elsewhere(1, [])
        await listed(watcher, 1)

    serve(script)


def test_calls_are_shared_with_other_processes_while_they_are_wanted() -> None:
    async def run() -> None:
        siblings, client = NotedSiblings(), ClientOutbox(_unsent, 1_000_000)
        switchboard = Switchboard(siblings)
        switchboard.subscribe(client)
        switchboard.subscribe(client)
        assert switchboard.is_subscribed(client)
        switchboard.share(True)
        await asyncio.sleep(LIST_S_MIN * 2)
        assert siblings.shared == [[]]
        switchboard.note_elsewhere(1, [ELSEWHERE])
        await asyncio.sleep(LIST_S_MIN * 2)
        assert siblings.shared == [[]], "the calls of others aren't passed on"
        switchboard.unsubscribe(client)
        switchboard.unsubscribe(client)
        assert switchboard.process_of("x") == 1, "an operator may come soon"
        switchboard.share(False)
        assert switchboard.process_of("x") is None
        assert siblings.told == [("calls", "wanted"), ("calls", "not wanted")]

    run_simulated(run())


async def _unsent(_: dict[str, Any]) -> None: ...
