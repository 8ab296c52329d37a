"""The panel's files, and the security headers of every response.

Files are kept in memory, because to read one in a thread takes four times as long as the rest of a request. Rule: only
files in the panel's folder are served, and the page may load nothing from another host.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles

WEB = Path(__file__).parent / "web"
POLICY = (
    "default-src 'self'; connect-src 'self'; img-src 'self' data: blob:; style-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"microphone=(self), camera=(), geolocation=()"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
)


class FilesInMemory:
    """The files of one folder, each as a response. A file that was changed is read again."""

    def __init__(self) -> None:
        self._responses: dict[str, tuple[tuple[int, int], Response]] = {}

    def response(self, path: str) -> Response | None:
        """The response with this file; None if the path isn't that of a file."""
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        state, (kept, response) = (found.st_mtime_ns, found.st_size), self._responses.get(path, (None, None))
        if response is None or kept != state:
            response = Response(Path(path).read_bytes(), headers=dict(FileResponse(path, stat_result=found).headers))
            self._responses[path] = (state, response)
        return response


_FILES = FilesInMemory()


class WebFiles(StaticFiles):
    """The files of a folder, from memory."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory=directory, follow_symlink=False)
        found = (path.relative_to(directory) for path in directory.rglob("*") if path.is_file())
        self._paths = {"/", *(f"/{path.as_posix()}" for path in found)}

    def has(self, scope: dict[str, Any]) -> bool:
        """Is this request for the page or for one of its files, and answered from memory?"""
        if scope["path"] not in self._paths or scope["method"] not in ("GET", "HEAD"):
            return False
        return all(name != b"range" for name, _ in scope["headers"])

    async def get_response(self, path: str, scope: Any) -> Response:
        given = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD") or "range" in given:
            return await super().get_response(path, scope)
        full = os.path.realpath(os.path.join(str(self.directory), path)) if "\0" not in path else ""
        is_inside = full.startswith(os.path.realpath(str(self.directory)) + os.sep) and full.endswith(path)
        response = _FILES.response(full) if is_inside else None
        if response is None:
            raise HTTPException(status_code=404)
        return NotModifiedResponse(response.headers) if self.is_not_modified(response.headers, given) else response


def index() -> Response:
    """The response with the HTML page of the panel."""
    page = _FILES.response(str(WEB / "index.html"))
    if page is None:
        raise FileNotFoundError("the panel's page is missing: install Duologue again")
    return page


def web_files() -> WebFiles:
    """An app that serves the page's scripts, styles and pictures."""
    return WebFiles(WEB)


class SafeHeaders:
    """ASGI middleware that adds the security headers to every response."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(event: dict[str, Any]) -> None:
            if event["type"] == "http.response.start":
                named = {name for name, _ in event["headers"]}
                event = {**event, "headers": [*event["headers"], *(pair for pair in _HEADERS if pair[0] not in named)]}
            await send(event)

        await self._app(scope, receive, send_safely)
