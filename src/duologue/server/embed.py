"""Embedding the agent in web pages of other origins: which pages may load the widget, and what a refused page is told.

The server must allow the page's origin. It must also use tickets, unless it serves only this machine. Rule: a refusal
says what to change, and names nothing but the page's own origin.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .credentials import header, is_own_page
from .settings import ServerSettings


def embed_check(scope: dict[str, Any], settings: ServerSettings, agent: str) -> dict[str, Any]:
    """The answer for `embed.js`: whether this page may embed the agent, and if not, why."""
    origin = header(scope, b"origin")
    if not is_own_page(scope, settings):
        why = f"pages of {origin} may not use this agent: start its server with --origin {origin}"
        return {"allowed": False, "code": "origin", "message": why}
    if settings.ticket_key or (settings.is_for_this_machine and not settings.token):
        return {"allowed": True, "agent": agent, "ticket": bool(settings.ticket_key)}
    why = "this server makes no tickets, and a page must not have its token: set DUOLOGUE_TICKET_KEY"
    return {"allowed": False, "code": "tickets", "message": why}


def embed_answer(request: Request, settings: ServerSettings, agent: str) -> Response:
    """The answer to `embed/check`. Every page may read it, because it contains only facts about that page."""
    told = embed_check(dict(request.scope), settings, agent)
    return JSONResponse(told, headers={"access-control-allow-origin": "*", "vary": "origin"})


def sharing_headers(scope: dict[str, Any]) -> tuple[tuple[bytes, bytes], ...]:
    """Headers that let a page of another origin use a file from this server. Without them, the browser would not give
    the file to that page. If the request names no origin, as for `embed.js` itself, the header that allows an origin is
    left out."""
    shared = ((b"vary", b"origin"), (b"cross-origin-resource-policy", b"cross-origin"))
    origin = header(scope, b"origin")
    return (*shared, (b"access-control-allow-origin", origin.encode("latin-1"))) if origin else shared
