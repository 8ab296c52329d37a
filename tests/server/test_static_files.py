"""The panel's files and the security headers: only the page's own folder is served."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from duologue.server.static_files import POLICY
from tests.limits import WAIT_S
from tests.server.running_server import RunningServer, serve

SECRET = "beside the folder of the page"  # as the file beside it says


HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}


async def ask(running: RunningServer, path: bytes, method: bytes = b"GET") -> bytes:
    """A request as it is: no library cleans the path."""
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(method + b" " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), WAIT_S)
    writer.close()
    return answer


def test_every_response_has_the_security_headers(monkeypatch: pytest.MonkeyPatch, web: Path) -> None:
    async def script(running: RunningServer) -> None:
        paths = {
            "/": 200, "/page.js": 200, "/healthz": 200, "/readyz": 200, "/metrics": 200, "/nope": 404,
            "/conversations/x/journal": 404, "/debug/replay": 404, "/debug/diagram/user.svg": 200,
            "/debug/diagram/nope.svg": 404, "/ws": 404, "/%00": 404,
        }  # fmt: skip
        for path, status in paths.items():
            answer = await running.get(path)
            assert answer.status == status, path
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS, path
            assert "server" not in answer.headers
        (web / "index.html").unlink()
        broken = await running.get("/")
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
def test_no_path_reaches_a_file_outside_the_folder_of_the_page(path: str, web: Path) -> None:
    (web / "link.txt").symlink_to(web.parent / "secret.txt")

    async def script(running: RunningServer) -> None:
        answer = await ask(running, path.encode())
        status = int(answer.split(b" ", 2)[1])
        assert status in (400, 404, 405), answer[:200]
        assert SECRET.encode() not in answer
        assert b"root:" not in answer

    serve(script)


def test_a_file_is_read_again_when_it_has_changed_and_sent_again_only_then(web: Path) -> None:
    async def script(running: RunningServer) -> None:
        first = await running.get("/page.js")
        assert first.body == b"export const page = 1;"
        assert (await running.get("/page.js", If_None_Match=first.headers["etag"])).status == 304
        (web / "page.js").write_text("export const page = 22;")
        changed = await running.get("/page.js", If_None_Match=first.headers["etag"])
        assert (changed.status, changed.body) == (200, b"export const page = 22;")
        assert changed.headers["content-type"] == "text/javascript; charset=utf-8"
        part = await running.get("/page.js", Range="bytes=0-5")
        assert (part.status, part.body) == (206, b"export")
        (web / "page.js").unlink()
        assert (await running.get("/page.js")).status == 404

    serve(script)
