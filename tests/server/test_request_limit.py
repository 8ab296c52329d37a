"""HTTP requests and frames are counted by what a client sends, and not by its connections."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from websockets.frames import Frame, Opcode

from duologue.fairness.bucket import Rate
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.message_limits import UNKNOWN_FRAMES
from duologue.server.request_heads import HEAD_BYTES_MAX, HEAD_LINES_MAX, TOGETHER_MAX
from duologue.server.request_limit import REFUSAL
from duologue.server.settings import Limits
from duologue.server.static_files import WEB, WebFiles
from tests.limits import WAIT_S

from .running_server import RunningServer, serve
from .test_access_control import control, scope_of

FIVE = Rate(1, 600_000, 5)
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n%s\r\n"
OTHER_ADDRESS = ("127.0.0.9", 0)
UPGRADE = (
    b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
PING = Frame(Opcode.PING, b"").serialize(mask=True)
PART = Frame(Opcode.CONT, b"a", fin=False).serialize(mask=True)


class Connection:
    """One connection that stays open."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, made: RunningServer, **how: Any) -> Connection:
        return cls(*await asyncio.open_connection("127.0.0.1", made.port, **how))

    async def ask(self, header: bytes = b"") -> bytes:
        self.writer.write(REQUEST % header)
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), WAIT_S)
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        return head + await self.reader.readexactly(length)

    async def is_closed(self) -> bool:
        return await asyncio.wait_for(self.reader.read(), WAIT_S) is not None


def test_requests_over_one_connection_are_counted_for_its_address() -> None:
    async def script(made: RunningServer) -> None:
        one = await Connection.open(made)
        for _ in range(5):
            assert (await one.ask()).startswith(b"HTTP/1.1 200 ")
        refused = await one.ask()
        assert refused.startswith(b"HTTP/1.1 429 ")
        assert refused.endswith(REFUSAL)
        assert await one.is_closed(), "so the next request counts as a connection too"
        assert (await (await Connection.open(made)).ask()).startswith(b"HTTP/1.1 429 ")
        other = await Connection.open(made, local_addr=OTHER_ADDRESS)
        assert (await other.ask()).startswith(b"HTTP/1.1 200 ")
        assert 'duologue_refused_total{limit="requests"} 2\n' in made.server.own_metrics()

    serve(script, requests=FIVE)


async def statuses(one: Connection, request: bytes, count: int) -> list[bytes]:
    """The statuses of the answers to this many requests over one connection."""
    found = []
    for _ in range(count):
        one.writer.write(request)
        head = await asyncio.wait_for(one.reader.readuntil(b"\r\n\r\n"), WAIT_S)
        length = re.search(rb"content-length: (\d+)", head)
        await one.reader.readexactly(int(length[1]) if length and not request.startswith(b"HEAD") else 0)
        found.append(head.split(b" ")[1])
    return found


@pytest.mark.parametrize("request_line", [b"GET / ", b"GET /page.js ", b"HEAD /page.js "])
def test_a_file_of_the_page_counts_as_a_quarter_of_a_request(request_line: bytes) -> None:
    async def script(made: RunningServer) -> None:
        request = request_line + b"HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % made.port
        found = await statuses(await Connection.open(made), request, 21)
        assert found == [b"200"] * 20 + [b"429"]
        assert (await (await Connection.open(made)).ask()).startswith(b"HTTP/1.1 429 "), "they share one limit"

    serve(script, requests=FIVE)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /no-such-file.js HTTP/1.1\r\n",
        b"POST /page.js HTTP/1.1\r\n",
        b"GET /page.js HTTP/1.1\r\nRange: bytes=0-9\r\n",
    ],
)
def test_what_isnt_answered_from_memory_counts_as_a_whole_request(head: bytes) -> None:
    async def script(made: RunningServer) -> None:
        request = head + b"Host: 127.0.0.1:%d\r\n\r\n" % made.port
        found = await statuses(await Connection.open(made), request, 6)
        assert found[-1] == b"429"
        assert b"429" not in found[:-1]

    serve(script, requests=FIVE)


def test_twenty_people_behind_one_address_can_open_the_page_at_once() -> None:
    """With the limits that a server has if none are set, every file of the real page, and one more request each."""

    async def whole() -> None:
        files, access, paths = WebFiles(WEB), control([]), paths_of_page()
        assert len(paths) > 50
        for _ in range(Limits().starts.burst):
            for path in (*paths, "/healthz"):
                scope = {**scope_of("9.9.9.9"), "method": "GET", "path": path}
                assert files.has(scope) == (path != "/healthz")
                assert access.may_request(scope, files.has(scope)), path

    run_simulated(whole())


def paths_of_page() -> list[str]:
    """The paths of the files that the panel's page loads, directly or not."""
    found, left = ["/"], ["index.html"]
    while left:
        name = left.pop()
        text = (WEB / name).read_text(encoding="utf-8")
        for linked in re.findall(r"""(?:src=|href=|from |import |import\(|url\()["']([\w./-]+)""", text):
            path = (WEB / name).parent / linked if not linked.startswith("/") else WEB / linked[1:]
            if path.is_file() and (web := f"/{path.resolve().relative_to(WEB.resolve()).as_posix()}") not in found:
                found.append(web)
                left.append(web[1:])
    return found


def test_behind_a_trusted_proxy_requests_are_counted_by_caller_and_its_connection_stays() -> None:
    async def script(made: RunningServer) -> None:
        proxy = await Connection.open(made)
        asked = [await proxy.ask(b"X-Forwarded-For: 9.9.9.9\r\n") for _ in range(6)]
        assert [one.split(b" ")[1] for one in asked] == [b"200"] * 5 + [b"429"]
        assert (await proxy.ask(b"X-Forwarded-For: 9.9.9.8\r\n")).startswith(b"HTTP/1.1 200 ")

    serve(script, requests=FIVE, secrets={"trusted_proxies": ("127.0.0.1",)})


def test_too_many_requests_at_once_are_refused_before_they_are_parsed() -> None:
    async def script(made: RunningServer) -> None:
        few, many = await Connection.open(made), await Connection.open(made)
        few.writer.write(REQUEST % b"" * TOGETHER_MAX)
        for _ in range(TOGETHER_MAX):
            await asyncio.wait_for(few.reader.readuntil(b"ok\n"), WAIT_S)
        many.writer.write(REQUEST % b"" * (TOGETHER_MAX + 1))
        answer = await asyncio.wait_for(many.reader.read(), WAIT_S)
        assert answer.startswith(b"HTTP/1.1 429 ")
        assert answer.endswith(b"Too many requests came together: wait for an answer.\n")
        assert (await made.get("/healthz")).status == 200

    serve(script)


@pytest.mark.parametrize(
    ("sent", "refusal"),
    [
        (REQUEST % b"Transfer-Encoding: chunked\r\n" + b"1\r\na\r\n" * 10_000, b"411 Length Required"),
        (REQUEST % (b"a:b\r\n" * HEAD_LINES_MAX), b"431 Request Header Fields Too Large"),
        (REQUEST % (b"a:b\n" * 10_000), b"431 Request Header Fields Too Large"),
        (REQUEST % (b"a: %s\r\n" % (b"b" * HEAD_BYTES_MAX)), b"431 Request Header Fields Too Large"),
    ],
    ids=["chunks", "lines", "bare line feeds", "bytes"],
)
def test_a_request_that_is_slow_to_parse_is_refused_before_it_is_parsed(sent: bytes, refusal: bytes) -> None:
    async def script(made: RunningServer) -> None:
        one = await Connection.open(made)
        one.writer.write(sent)
        answer = await asyncio.wait_for(one.reader.read(), WAIT_S)
        assert answer.startswith(b"HTTP/1.1 " + refusal)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert made.conversations.refused == {"heads": 1}
        assert (await made.get("/healthz")).status == 200

    serve(script)


async def flood(made: RunningServer, path: bytes, frames: bytes) -> bytes:
    """Send these frames after a handshake. Returns what the server sends until it closes the connection."""
    one = await Connection.open(made)
    one.writer.write(UPGRADE % path)
    assert (await one.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
    one.writer.write(frames)
    return await asyncio.wait_for(one.reader.read(), WAIT_S)


def test_control_frames_and_parts_of_messages_are_counted_although_they_are_no_messages() -> None:
    async def script(made: RunningServer) -> None:
        honest = await made.connect()
        await honest.begin("alice")
        first = Frame(Opcode.TEXT, b"a", fin=False).serialize(mask=True)
        for frames in (PING * 1_000, first + PART * 1_000):
            told = await flood(made, b"ws", frames)
            assert told.endswith(b"\x11\x4dToo many messages within a second."), "the close code 4429 and its words"
            assert told.count(b"\x8a\x00") <= UNKNOWN_FRAMES.burst, "the others are not even read"
        await honest.send("ping", t=1)
        await honest.expect("pong")
        assert 'duologue_refused_total{limit="messages"} 2\n' in made.server.own_metrics()

    serve(script, messages_per_s_max=10)
