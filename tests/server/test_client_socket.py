"""Which clients are admitted, and how misbehaving ones are disconnected."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import socket
import struct
from collections import Counter

import pytest
from websockets.asyncio.client import connect

from duologue import Agent
from duologue.core.leaves import Link
from duologue.server.client_messages import ClientMessage
from duologue.server.served_conversation import ServedConversation
from tests.limits import WAIT_S
from tests.server.running_server import Client, RunningServer, agent_that_says, serve, talk

# -- Origins


def test_a_page_of_another_origin_is_disconnected_before_hello() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect(origin="https://evil.example")
        await client.hello("alice")
        assert (await client.gone())[0] == 4403
        assert [told["type"] for told in client.messages] == ["duologue.error"]
        own = await running.connect(origin=f"http://127.0.0.1:{running.port}")
        await own.hello("alice")
        await own.expect("ready")

    serve(script)


# -- What the agent learns from the request


def test_the_context_has_only_the_query_and_the_headers_that_the_operator_allows() -> None:
    def make() -> Agent:
        return Agent(lambda request, context: f"{dict(context.info.query)} {dict(context.info.headers)}")

    async def script(running: RunningServer) -> None:
        headers = {"X-Tenant": "blue", "X-Secret": "hidden", "Cookie": "session=1"}
        client = await running.connect(path="/ws?shop=7&debug=1", additional_headers=headers)
        await client.begin("alice")
        assert await talk(client, "what do you know?") == "{'shop': '7'} {'X-Tenant': 'blue'}"
        other = await running.connect()
        await other.begin("bob")
        assert await talk(other, "what do you know?") == "{} {}"

    serve(script, make, secrets={"context_query": ("shop",), "context_headers": ("X-Tenant",)})


def test_the_context_has_the_line_and_the_language_that_the_client_has_asked_for() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice", language="de-AT")
        assert await talk(client, "what do you know?") == "browser, de"

    serve(script, lambda: Agent(lambda request, context: f"{context.line}, {context.info.language}"))


# -- Hello


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize("token", [None, "", "wrong", "sesam-oeffne-dic", "sesam-oeffne-dichh", "ä"])
def test_a_client_without_the_token_is_refused_and_learns_nothing_about_it(token: str | None) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice", **({} if token is None else {"token": token}))
        code, reason = await client.gone()
        assert code == 4401
        assert "sesam" not in reason + str(client.messages)
        assert not client.told("ready")

    serve(script, token="sesam-oeffne-dich")


def test_a_client_with_the_token_is_admitted() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice", token="sesam-oeffne-dich")

    serve(script, token="sesam-oeffne-dich")


def test_a_client_without_a_hello_is_disconnected_in_time() -> None:
    async def script(running: RunningServer) -> None:
        silent, chatting = await running.connect(), await running.connect()
        await chatting.send("ping", t=1)
        assert (await silent.gone())[0] == 4408
        assert (await chatting.gone())[0] == 4408
        assert not running.conversations.clients

    serve(script, hello_s_max=0.3)


def test_a_client_of_another_version_is_asked_to_reload() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.send("hello", version=2, seat="alice", something="new")
        code, reason = await client.gone()
        assert code == 4426
        assert "reload" in reason

    serve(script)


def test_commands_before_hello_are_refused() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.raw_send(bytes(640))
        await client.send("start")
        await client.send("type", text="hello")
        await client.expect("error", after=2, code="bad_message", message="hello must come first")
        assert not running.conversations.served
        await client.begin("alice")
        await client.hello("bob")
        await client.expect("error", code="bad_message", message="hello was sent already")

    serve(script)


# -- Messages in a conversation, which are handled without a task


def test_messages_of_a_conversation_are_handled_in_order_however_they_arrive() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        for number in range(30):
            await client.send("ping", t=number)
        await client.socket.send(['{"type": "ping", ', '"payload": {"t": 30}}'])  # fragments, which uvicorn joins
        await client.send("ping", t=31)
        await client.expect("pong", t=31)
        assert [told["t"] for told in client.told("pong")] == list(range(32))

    serve(script)


def test_a_message_whose_handling_fails_closes_only_its_socket(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(served: ServedConversation, incoming: ClientMessage) -> None:
        raise ZeroDivisionError

    async def script(running: RunningServer) -> None:
        client, other = await running.connect(), await running.connect()
        await client.begin("alice")
        await other.begin("bob")
        with monkeypatch.context() as broken:
            broken.setattr(ServedConversation, "do", fail)
            await client.send("suspend")
            await client.gone()
        await other.send("ping", t=1)
        await other.expect("pong", t=1)
        assert "a socket failed: ZeroDivisionError" in caplog.text

    serve(script)


# -- Messages without a conversation


def test_what_a_client_reports_about_itself_is_no_error_without_a_conversation() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice")
        await client.send("microphone", state="off")
        await client.send("attention", here=True)
        await client.send("debug", on=True)
        await client.send("interrupt")
        await client.expect("error", code="refused", message="interrupt: no conversation is running")
        assert len(client.told("error")) == 1

    serve(script)


def test_a_command_that_crosses_with_the_end_is_no_error_unless_words_are_lost() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await client.send("end")
        await client.expect("ended")
        for command in ("end", "interrupt", "suspend", "release"):
            await client.send(command)
        await client.send("microphone", state="off")
        await client.send("type", text="one more thing", id="t9")
        await client.expect("error", code="refused", message="type: no conversation is running", id="t9")
        assert len(client.told("error")) == 1

    serve(script)


# -- Invalid messages


def test_many_invalid_messages_close_the_socket_and_a_few_do_not() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        for nonsense in ("{", "[]", '{"type":"nope"}', bytes(641), b"", bytes(6_402)):
            await client.raw_send(nonsense)
        await client.expect("error", after=4, code="bad_message")
        await client.send("ping", t=1)
        await client.expect("pong")
        for _ in range(20):
            await client.raw_send("{")
        assert (await client.gone())[0] in (4400, 4426)

    serve(script)


def test_a_frame_of_audio_may_be_as_long_as_its_rate_allows() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice", audio={"rate_hz": 8_000})
        await client.raw_send(bytes(3_200))
        await client.raw_send(bytes(3_202))
        await client.expect("error", code="bad_message")
        assert len(client.told("error")) == 1

    serve(script)


def test_a_message_that_is_too_large_closes_the_socket_and_the_conversation_waits() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        await client.raw_send("x" * 10_000_000)
        assert (await client.gone())[0] == 1009
        again = await running.connect()
        await again.hello("alice", conversation=began["conversation"], key=began["key"])
        assert (await again.expect("conversation"))["resumed"] is True

    serve(script)


def test_a_text_frame_that_is_not_utf_8_closes_only_its_socket() -> None:
    async def script(running: RunningServer) -> None:
        other, client = await running.connect(), await running.connect()
        await other.begin("bob")
        await client.begin("alice")
        await client.socket.send(b"\xff\xfe{", text=True)
        assert (await client.gone())[0] == 1007
        await other.send("ping", t=1)
        await other.expect("pong")

    serve(script)


def test_a_message_that_takes_a_second_to_parse_is_not_parsed() -> None:
    """The server would serve no other client during this second."""

    async def script(running: RunningServer) -> None:
        other, client = await running.connect(), await running.connect()
        await other.begin("bob")
        await client.begin("alice")
        await client.raw_send('{"type":"ping","payload":{"t":1},"more":[' + "[]," * 340_000 + "[]]}")
        assert (await client.gone())[0] == 4429
        assert not client.told("pong")
        await other.send("ping", t=1)
        await other.expect("pong")

    serve(script)


@pytest.mark.parametrize("what", ["ping", "audio", "nonsense", "played"])
def test_a_flood_closes_the_socket_that_it_came_from(what: str) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect(plays=False)
        await client.begin("alice")
        flood = {
            "ping": json.dumps({"type": "ping", "payload": {"t": 1}}),
            "audio": bytes(64),
            "nonsense": "{",
            "played": json.dumps({"type": "played", "payload": {"voice": 1, "ms": 1}}),
        }[what]
        for _ in range(3_000):
            await client.raw_send(flood)
            if client.closed:
                break
        assert (await client.gone())[0] in (4429, 4400)

    serve(script, bad_messages_max=10_000)


def test_too_many_sockets_of_one_address_are_refused_and_the_others_stay() -> None:
    async def script(running: RunningServer) -> None:
        clients = [await running.connect() for _ in range(4)]
        assert (await clients[3].gone())[0] == 4429
        await clients[0].hello("alice")
        await clients[0].expect("ready")
        await clients[1].close()
        await running.until(lambda: len(running.conversations.clients) == 2)
        another = await running.connect()
        await another.hello("bob")
        await another.expect("ready")

    serve(script, sockets_per_address_max=3)


# -- Clients that do not read, or vanish


async def deaf(running: RunningServer, seat: str) -> Client:
    """A client that begins a conversation and then never reads again."""
    client = await running.connect(plays=False)
    await client.begin(seat)
    client.socket.transport.pause_reading()  # type: ignore[attr-defined]
    return client


def test_a_client_that_never_reads_is_disconnected_and_delays_no_other() -> None:
    async def script(running: RunningServer) -> None:
        bad, good = await deaf(running, "mallory"), await running.connect()
        await good.begin("alice")
        served = next(served for served in running.conversations.served.values() if served.seat == "mallory")
        assert served.client is not None

        async def flood() -> None:
            while served.client is not None:
                for _ in range(50):
                    served.send_message({"type": "duologue.x", "payload": {"text": "x" * 20_000}})
                await asyncio.sleep(0.001)

        flooding = asyncio.ensure_future(flood())
        for turn in range(5):
            await good.send("type", text=f"turn {turn}")
            await good.expect("caption", after=turn, role="assistant", final=True)
        await asyncio.wait_for(flooding, WAIT_S)
        assert served.conversation.machine_state.link in (Link.HEALING, Link.BACKING_OFF)
        bad.vanish()

    serve(script, unread_bytes_max=1 << 20)


def test_a_client_that_never_reads_leaves_no_task_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    from duologue.server import client_socket as under_test

    monkeypatch.setattr(under_test, "CLOSE_S_MAX", 0.2)

    async def script(running: RunningServer) -> None:
        bad = await deaf(running, "mallory")
        served = next(iter(running.conversations.served.values()))
        while served.client is not None:
            served.send_message({"type": "duologue.x", "payload": {"text": "x" * 100_000}})
            await asyncio.sleep(0)
        await running.until(lambda: not running.conversations.clients)
        await running.until(lambda: not [task for task in asyncio.all_tasks() if task.get_name().startswith("client")])
        bad.vanish()

    serve(script, unread_bytes_max=1 << 20)


def test_a_tcp_reset_is_a_lost_connection_and_not_an_error() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        raw = client.socket.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.vanish()
        served = next(iter(running.conversations.served.values()))
        await running.until(lambda: served.client is None)
        assert served.conversation.machine_state.link is Link.HEALING
        again = await running.connect()
        await again.hello("alice", conversation=began["conversation"], key=began["key"])
        await again.expect("conversation", resumed=True)
        await running.until(lambda: served.conversation.machine_state.link is Link.UP)

    serve(script)


def test_a_silent_socket_does_not_stay_registered() -> None:
    async def script(running: RunningServer) -> None:
        silent = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(20)]
        client = await running.connect()
        await client.begin("alice")
        assert len(running.conversations.clients) == 1
        for one in silent:
            one.close()

    serve(script)


def test_a_half_open_socket_is_replaced_when_the_client_reconnects() -> None:
    """The server has not noticed that the first is dead: the seat seems taken, and the key is what counts."""

    async def script(running: RunningServer) -> None:
        first = await deaf(running, "alice")
        began = first.told("conversation")[0]
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        await second.expect("conversation", resumed=True)
        await second.send("type", text="here again")
        await second.expect("caption", role="assistant", final=True)
        first.vanish()

    serve(script)


# -- Resources


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_two_hundred_clients_leave_no_task_file_or_memory_behind() -> None:
    async def visit(running: RunningServer, at: int) -> None:
        client = await running.connect()
        match at % 4:
            case 0:
                await client.close()
            case 1:
                await client.hello(f"seat {at}")
                client.vanish()
            case 2:
                await client.begin(f"seat {at}")
                await client.send("end")
                await client.expect("ended")
                await client.close()
            case 3:
                await client.raw_send("{")
                await client.close()
        running.clients.remove(client)

    async def script(running: RunningServer) -> None:
        async def round_of(visits: range) -> tuple[int, Counter[str], int]:
            for start in range(visits.start, visits.stop, 10):
                await asyncio.gather(*(visit(running, at) for at in range(start, start + 10)))
            await running.until(lambda: not running.conversations.clients and not running.conversations.served)
            mine = asyncio.current_task()
            await running.until(
                lambda: not [t for t in asyncio.all_tasks() if t is not mine and t.get_name().startswith(("gu", "ro"))]
            )
            gc.collect()
            kinds = Counter(type(thing).__name__ for thing in gc.get_objects())
            return open_files(), kinds, len(asyncio.all_tasks())

        files, before, tasks = await round_of(range(80))  # by then as many past conversations are kept as may be
        files_after, after, tasks_after = await round_of(range(80, 280))
        assert tasks_after <= tasks
        assert files_after <= files + 2
        for kind in ("Room", "Guest", "Socket", "Conversation", "Engine", "BrowserLine", "Teller", "_Feed", "Task"):
            assert after[kind] <= before[kind] + 1, kind
        assert len(running.conversations.past) == 20

    serve(script, agent_that_says())


def test_a_websocket_to_another_path_is_refused() -> None:
    async def script(running: RunningServer) -> None:
        for path in ("/", "/wss", "/ws/", "/ws/../ws"):
            with pytest.raises(Exception, match=r"40\d|50\d"):
                await connect(f"ws://127.0.0.1:{running.port}{path}")

    serve(script)
