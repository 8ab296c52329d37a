"""The HTTP routes: health, metrics, journals, replays and diagrams."""

from __future__ import annotations

import asyncio
import re
import socket

import pytest

from duologue.draw import names
from duologue.replay.journal import read_journal, replay
from duologue.server.slow_answers import EACH_MAX, SLOW_MAX
from tests.server.running_server import RunningServer, serve, talk

TOKEN = "sesam-oeffne-dich"
OPERATORS = "open-for-operators"

SAMPLE = re.compile(
    r'^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"(?:,[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*")*\})?'
    r" [-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|Inf|NaN)$"
)


def test_the_metrics_are_in_prometheus_format() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin('al"ice\\')
        await client.send("type", text="hello")
        await client.expect("caption", role="assistant", final=True)
        answer = await running.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        families: dict[str, str] = {}
        for line in answer.body.decode().splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name not in families, f"{name} comes twice"
                families[name] = kind
            elif line.startswith("# HELP "):
                assert len(line.split(" ", 3)) == 4
            else:
                assert SAMPLE.match(line), line
                name = line.split("{")[0].split(" ")[0]
                base = re.sub(r"_(bucket|sum|count)$", "", name)
                assert name in families or families.get(base) == "histogram", line
        assert answer.body.endswith(b"\n")
        assert b"duologue_sockets 1\n" in answer.body
        assert b"duologue_turns_total 1\n" in answer.body
        assert b"alice" not in answer.body

    serve(script)


def test_a_diagram_is_drawn_once_and_delays_no_conversation() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        drawing = [asyncio.ensure_future(running.get("/debug/diagram/phone.svg")) for _ in range(3)]
        rounds = 0
        while not all(one.done() for one in drawing):
            rounds += 1
            await client.send("ping", t=rounds)
            await client.expect("pong", t=rounds)
        assert rounds > 1
        answers = [one.result() for one in drawing]
        assert {answer.status for answer in answers} == {200}
        assert answers[0].headers["content-type"] == "image/svg+xml"
        assert answers[0].body.startswith(b"<svg")

    serve(script, messages_per_s_max=1_000_000)


def test_every_diagram_of_the_protocol_is_served() -> None:
    assert {"machine", "link", "user", "voice", "reply", "jobs", "lifecycle", "conversation"} <= set(names())


# -- Replaying a journal


def a_journal() -> bytes:
    found: list[bytes] = []

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        await client.send("type", text="hello")
        await client.expect("caption", role="assistant", final=True)
        answer = await running.get(f"/conversations/{began['conversation']}/journal", X_Conversation_Key=began["key"])
        found.append(answer.body)

    serve(script)
    return found[0]


def test_a_journal_that_is_broken_binary_or_too_long_is_refused_in_one_line() -> None:
    good = a_journal()
    lines = good.splitlines(keepends=True)

    async def script(running: RunningServer) -> None:
        assert (await running.get("/debug/replay", data=good)).status == 200
        assert (await running.get("/debug/replay", data=good[:-30])).status in (200, 422)
        wrong = {
            "nothing": b"",
            "binary": bytes(range(256)) * 10,
            "words": b"SECRETWORD\n",
            "another event": b"".join([*lines[:3], lines[3].replace(b'"at":', b'"SECRETWORD":'), *lines[4:]]),
            "another digest": b"".join([*lines[:3], lines[3].replace(b'"digest":"', b'"digest":"0'), *lines[4:]]),
            "lines in another order": b"".join([lines[0], *reversed(lines[1:])]),
            "deep": b"[" * 90_000 + b"\n",
            "deep in a line": lines[0] + b'{"event":' * 9_000 + b"\n",
            "huge numbers": lines[0] + lines[1].replace(b'"at":', b'"at":' + b"9" * 5_000),
            "another kind": lines[0] + b'{"digest":"x","event":5}\n',
            "no object": lines[0] + b"5\n",
            "no settings": b'{"format":"duologue-journal"}\n',
            "nul": b"\0" * 1_000,
        }
        for name, data in wrong.items():
            answer = await running.get("/debug/replay", data=data)
            assert answer.status == 422, (name, answer)
            assert b"Traceback" not in answer.body
        over = await running.get("/debug/replay", data=b"x" * 200_000)
        assert over.status == 413
        assert (await running.get("/healthz")).status == 200

    serve(script, replay_bytes_max=150_000)


def test_a_slow_replay_delays_no_conversation() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        for turn in range(15):
            await client.send("type", text="hello")
            await client.expect("caption", after=turn, role="assistant", final=True)
        answer = await running.get(f"/conversations/{began['conversation']}/journal", X_Conversation_Key=began["key"])
        working = [asyncio.ensure_future(running.get("/debug/replay", data=answer.body)) for _ in range(4)]
        rounds = 0
        while not all(one.done() for one in working):
            rounds += 1
            await client.send("ping", t=rounds)
            await client.expect("pong", t=rounds)
            await asyncio.sleep(0.001)  # the clock runs slowly while threads work
        assert {one.result().status for one in working} == {200}
        assert rounds > 1

    serve(script, messages_per_s_max=1_000_000)


def test_only_so_many_slow_requests_are_served_at_the_same_time_and_one_address_never_has_all_places() -> None:
    async def script(running: RunningServer) -> None:
        waiting = []
        for address in ("127.0.0.7", "127.0.0.8"):  # uploads that have begun and don't end
            assert (await running.get("/debug/replay", data=b"x")).status == 422, "there is room for another address"
            for _ in range(EACH_MAX):
                opened = await asyncio.open_connection("127.0.0.1", running.port, local_addr=(address, 0))
                head = b"POST /debug/replay HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 9\r\n\r\n"
                opened[1].write(head % running.port)
                waiting.append(opened)
            reader, out = await asyncio.open_connection("127.0.0.1", running.port, local_addr=(address, 0))
            out.write(b"GET /debug/diagram/user.svg HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % running.port)
            assert (await reader.readline()) == b"HTTP/1.1 429 Too Many Requests\r\n"
            out.close()
        assert len(waiting) == SLOW_MAX
        assert (await running.get("/debug/replay", data=b"x")).status == 503
        for _, out in waiting:
            out.close()
        while (await running.get("/debug/replay", data=b"x")).status != 422:
            pass

    serve(script)


def test_requests_with_wrong_keys_take_no_place_from_slow_requests() -> None:
    async def script(running: RunningServer) -> None:
        waiting = [await asyncio.open_connection("127.0.0.1", running.port) for _ in range(SLOW_MAX + 2)]
        for _, out in waiting:  # each refusal comes late
            head = b"GET /conversations/x/journal HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Conversation-Key: wrong\r\n\r\n"
            out.write(head % running.port)
            await out.drain()
        await asyncio.sleep(0.1)
        assert (await running.get("/debug/replay", data=b"x")).status == 422
        for _, out in waiting:
            out.close()

    serve(script, wrong_token_s_max=5.0)


# -- Authorization


@pytest.mark.req("C-SEC-003")
def test_metrics_and_debug_pages_are_for_operators() -> None:
    async def script(running: RunningServer) -> None:
        for path in ("/metrics", "/debug/diagram/user.svg"):
            for bearer in ("", "Bearer ", "Bearer wrong", "Bearer open-for-operator", "Basic open", "Bearer \xe4"):
                refused = await running.get(path, Authorization=bearer)
                assert refused.status == 401, (path, bearer)
                assert b"open-for" not in refused.body
            assert (await running.get(path, Authorization=f"Bearer {TOKEN}")).status == 403, "callers may not"
            assert (await running.get(path, Authorization=f"Bearer {OPERATORS}")).status == 200
        assert (await running.get("/debug/replay", data=b"x")).status == 401
        for open_to_all in ("/", "/healthz", "/readyz"):
            assert (await running.get(open_to_all)).status == 200

    serve(script, token=TOKEN, secrets={"operator_token": OPERATORS})


def test_a_server_with_a_token_and_no_operators_token_shows_its_metrics_to_nobody() -> None:
    async def script(running: RunningServer) -> None:
        assert (await running.get("/metrics", Authorization=f"Bearer {TOKEN}")).status == 403
        assert (await running.get("/metrics")).status == 401

    serve(script, token=TOKEN)


def test_a_journal_is_for_its_own_caller_and_for_operators() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice", token=TOKEN)
        path = f"/conversations/{began['conversation']}/journal"
        own = {"Authorization": f"Bearer {TOKEN}", "X-Conversation-Key": began["key"]}
        assert (await running.get(path, **own)).status == 200
        assert (await running.get(path, **{**own, "X-Conversation-Key": "wrong"})).status == 404
        assert (await running.get(path, **{**own, "Authorization": ""})).status == 404
        assert (await running.get(path, Authorization=f"Bearer {OPERATORS}")).status == 200

    serve(script, token=TOKEN, secrets={"operator_token": OPERATORS})


def test_requests_under_another_name_or_from_another_page_are_refused() -> None:
    async def script(running: RunningServer) -> None:
        for path in ("/", "/metrics", "/debug/diagram/user.svg", "/main.js", "/conversations/x/journal"):
            assert (await running.get(path, Host="evil.example")).status == 403, path
            assert (await running.get(path, Origin="https://evil.example")).status == 403, path
        assert (await running.get("/debug/replay", data=b"x", Origin="https://evil.example")).status == 403
        assert (await running.get("/healthz", Host="10.0.0.7")).status == 200, "probes use the address"
        assert (await running.get("/metrics")).status == 200

    serve(script)


def test_a_request_that_is_not_http_ends_only_its_own_connection() -> None:
    async def script(running: RunningServer) -> None:
        for garbage in (b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50):
            with socket.create_connection(("127.0.0.1", running.port)) as raw:
                raw.sendall(garbage)
        assert (await running.get("/healthz")).status == 200

    serve(script)


def test_a_journal_requires_its_key_and_replays() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        await talk(client, "nothing of this is in it")
        place = f"/conversations/{began['conversation']}/journal"
        for over in (False, True):
            if over:
                await client.send("end")
                await client.expect("ended")
            answer = await running.get(place, X_Conversation_Key=began["key"])
            assert answer.status == 200
            journal = read_journal(answer.body.decode().splitlines(keepends=True), complete=over)
            assert len(list(replay(journal))) == len(journal.entries) > 10
            assert b"nothing of this" not in answer.body
            shown = await running.get("/debug/replay", data=answer.body)
            assert shown.status == 200
        for key in ("", "wrong", began["key"][:-1], "ä"):
            assert (await running.get(place, X_Conversation_Key=key)).status == 404
        assert (await running.get("/conversations/nope/journal", X_Conversation_Key=began["key"])).status == 404

    serve(script)
