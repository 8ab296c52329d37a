"""Everything beside the socket: pages, health, numbers, replays and drawings, and the headers on all of it."""

from __future__ import annotations

import asyncio
import re
import socket
from pathlib import Path

import pytest

from duologue.draw import names
from duologue.server.app import Server
from duologue.server.static_files import POLICY
from tests.server.served import House, serve

SECRET = "beside the folder of the page"  # as the file beside it says

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
SAMPLE = re.compile(
    r'^[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*"(?:,[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*")*\})?'
    r" [-+]?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|Inf|NaN)$"
)


async def ask(house: House, path: bytes, method: bytes = b"GET") -> bytes:
    """A request as it is: no library cleans the path."""
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(method + b" " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return answer


def test_every_answer_has_the_headers_that_keep_a_page_safe(monkeypatch: pytest.MonkeyPatch, web: Path) -> None:
    async def script(house: House) -> None:
        paths = {
            "/": 200, "/page.js": 200, "/healthz": 200, "/readyz": 200, "/metrics": 200, "/nope": 404,
            "/conversations/x/journal": 404, "/debug/replay": 404, "/debug/diagram/user.svg": 200,
            "/debug/diagram/nope.svg": 404, "/ws": 404, "/%00": 404,
        }  # fmt: skip
        for path, status in paths.items():
            answer = await house.get(path)
            assert answer.status == status, path
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
            assert "server" not in answer.headers
        (web / "index.html").unlink()
        broken = await house.get("/")
        assert broken.status == 500
        assert {name: broken.headers.get(name) for name in HEADERS} == HEADERS

    serve(script)


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/%2e%2e%2fsecret.txt", "/..%5csecret.txt",
        "/..\\secret.txt", "//secret.txt", "/./../secret.txt", "/x/../../secret.txt", "/%252e%252e/secret.txt",
        "/secret.txt%00.js", "/%00", "/page.js%00", "/..%c0%afsecret.txt", "/....//secret.txt", "/link.txt",
        "/" + "a" * 5_000, "/%ff%fe", "/..;/secret.txt", "//etc/passwd", "/%2fetc%2fpasswd", "/web/../../secret.txt",
    ],
)  # fmt: skip
def test_no_path_leaves_the_folder_of_the_page(path: str, web: Path) -> None:
    (web / "link.txt").symlink_to(web.parent / "secret.txt")

    async def script(house: House) -> None:
        answer = await ask(house, path.encode())
        status = int(answer.split(b" ", 2)[1])
        assert status in (400, 404, 405), answer[:200]
        assert SECRET.encode() not in answer
        assert b"root:" not in answer

    serve(script)


def test_the_numbers_are_what_prometheus_reads() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin('al"ice\\')
        await client.send("type", text="hello")
        await client.expect("caption", role="assistant", final=True)
        answer = await house.get("/metrics")
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
        assert b"ice" not in answer.body.replace(b"choice", b"")

    serve(script)


def test_a_machine_that_is_drawn_is_drawn_once_and_holds_nobody_up() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        await client.begin("alice")
        drawing = [asyncio.ensure_future(house.get("/debug/diagram/phone.svg")) for _ in range(3)]
        rounds = 0
        while not all(one.done() for one in drawing):
            rounds += 1
            await client.send("ping", t=rounds)
            await client.expect("pong", t=rounds)
        assert rounds > 3
        answers = [one.result() for one in drawing]
        assert {answer.status for answer in answers} == {200}
        assert answers[0].headers["content-type"] == "image/svg+xml"
        assert answers[0].body.startswith(b"<svg")

    serve(script)


def test_there_are_the_diagrams_that_the_protocol_names() -> None:
    assert {"machine", "link", "user", "voice", "reply", "jobs", "lifecycle", "conversation"} <= set(names())


# -- Replaying a journal that somebody brings


def a_journal() -> bytes:
    found: list[bytes] = []

    async def script(house: House) -> None:
        client = await house.come()
        began = await client.begin("alice")
        await client.send("type", text="hello")
        await client.expect("caption", role="assistant", final=True)
        answer = await house.get(f"/conversations/{began['conversation']}/journal", X_Conversation_Key=began["key"])
        found.append(answer.body)

    serve(script)
    return found[0]


def test_a_journal_that_is_broken_binary_or_too_long_is_refused_in_one_line() -> None:
    good = a_journal()
    lines = good.splitlines(keepends=True)

    async def script(house: House) -> None:
        assert (await house.get("/debug/replay", data=good)).status == 200
        assert (await house.get("/debug/replay", data=good[:-30])).status in (200, 422)
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
            answer = await house.get("/debug/replay", data=data)
            assert answer.status == 422, (name, answer)
            assert b"Traceback" not in answer.body
        over = await house.get("/debug/replay", data=b"x" * 200_000)
        assert over.status == 413
        assert (await house.get("/healthz")).status == 200

    serve(script, replay_bytes_max=150_000)


def test_a_journal_that_takes_long_holds_no_conversation_up() -> None:
    async def script(house: House) -> None:
        client = await house.come()
        began = await client.begin("alice")
        for turn in range(15):
            await client.send("type", text="hello")
            await client.expect("caption", after=turn, role="assistant", final=True)
        answer = await house.get(f"/conversations/{began['conversation']}/journal", X_Conversation_Key=began["key"])
        working = [asyncio.ensure_future(house.get("/debug/replay", data=answer.body)) for _ in range(4)]
        rounds = 0
        while not all(one.done() for one in working):
            rounds += 1
            await client.send("ping", t=rounds)
            await client.expect("pong", t=rounds)
        assert {one.result().status for one in working} == {200}
        assert rounds > 3

    serve(script)


# -- Who may ask


@pytest.mark.req("C-SEC-003")
def test_with_a_token_numbers_and_journals_are_for_those_who_have_it() -> None:
    async def script(house: House) -> None:
        for path in ("/metrics", "/conversations/x/journal"):
            for bearer in ("", "Bearer ", "Bearer wrong", "Bearer sesam-oeffne-dic", "Basic sesam", "Bearer \xe4"):
                refused = await house.get(path, Authorization=bearer)
                assert refused.status == 401, (path, bearer)
                assert b"sesam" not in refused.body
        assert (await house.get("/debug/replay", data=b"x")).status == 401
        assert (await house.get("/metrics", Authorization="Bearer sesam-oeffne-dich")).status == 200
        for open_to_all in ("/", "/healthz", "/readyz"):
            assert (await house.get(open_to_all)).status == 200

    serve(script, token="sesam-oeffne-dich")


def test_a_server_that_others_can_reach_always_has_a_token() -> None:
    from duologue.server.settings import ServerSettings
    from tests.server.served import agent_that_says

    for host in ("0.0.0.0", "::", "192.168.1.5", "example.org", ""):
        assert len(Server(agent_that_says(), ServerSettings(host=host)).settings.token) >= 32
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        assert not Server(agent_that_says(), ServerSettings(host=host)).settings.token


def test_a_request_that_is_no_http_ends_and_nothing_else_does() -> None:
    async def script(house: House) -> None:
        for garbage in (b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50):
            with socket.create_connection(("127.0.0.1", house.port)) as raw:
                raw.sendall(garbage)
        assert (await house.get("/healthz")).status == 200

    serve(script)
