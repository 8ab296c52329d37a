"""The panel's files, and the security headers of every response.

Rule: only files in the panel's folder are served, and the page may load nothing from another host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

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


def index() -> Response:
    """The response with the HTML page of the panel."""
    return FileResponse(WEB / "index.html", media_type="text/html; charset=utf-8")


def web_files() -> StaticFiles:
    """An app that serves the page's scripts, styles and pictures."""
    return StaticFiles(directory=WEB, follow_symlink=False)


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
