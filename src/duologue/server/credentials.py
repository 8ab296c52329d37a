"""Who a client is: a caller with a ticket, an operator with the operator's token, or a client on the same machine as
the server.

There are three separate credentials. With a ticket, a caller may start conversations. With the operator's token, an
operator may watch conversations and read metrics, journals and debug pages. With a conversation's key
(`conversation_keys`), a client may enter that one conversation. Rule: the functions are pure, and refuse everything
that isn't explicitly allowed.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .settings import ServerSettings, is_loopback
from .tickets import read_ticket

_PROXY_HEADERS = (b"forwarded", b"via", b"x-real-ip", b"x-client-ip", b"true-client-ip", b"client-ip")
_PROXY_PREFIXES = (b"x-forwarded", b"x-original", b"x-envoy", b"cf-", b"fly-", b"fastly-")


@dataclass(frozen=True, slots=True)
class Admission:
    """What a client may do on this server, in addition to what the key of a conversation allows."""

    may_start: bool = True  # False: its ticket is over, so it may only resume a conversation whose key it has
    may_operate: bool = False  # watch calls; read metrics, journals and debug pages
    user: str = ""  # your own id of the caller, from its ticket


def admit(
    presented: str, scope: dict[str, Any], settings: ServerSettings, agent: str, now_s: float
) -> Admission | None:
    """What a client that presents this token or ticket may do; None if it may not connect."""
    if settings.operator_token and _same(presented, settings.operator_token):
        return Admission(may_operate=settings.watchable)
    if settings.token and _same(presented, settings.token):
        return Admission()
    ticket = read_ticket(settings.ticket_key, presented)
    if ticket is not None:
        if ticket.agent not in ("", agent) or ticket.origin not in ("", header(scope, b"origin")):
            return None
        return Admission(may_start=not ticket.is_over(now_s), user=ticket.user)
    if settings.needs_ticket:
        return None
    return Admission(may_operate=is_local_operator(scope, settings))


def may_operate(presented: str, scope: dict[str, Any], settings: ServerSettings) -> bool:
    """May this request read what only operators may read, such as metrics and debug pages?"""
    if settings.operator_token:
        return _same(presented, settings.operator_token)
    return is_local_operator(scope, settings, watches=False)


def is_local_operator(scope: dict[str, Any], settings: ServerSettings, watches: bool = True) -> bool:
    """Does this client count as an operator although it has presented no token? It does if two conditions hold: the
    server serves only this machine and has no secrets, and the client is on this machine and not behind a proxy. A
    proxy is recognized by its headers, or by a host, port or origin that isn't this server's own."""
    if settings.needs_ticket or settings.operator_token or not settings.is_for_this_machine:
        return False
    if watches and not settings.watchable:
        return False
    if any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIXES) for name, _ in scope["headers"]):
        return False
    host, origin = header(scope, b"host"), header(scope, b"origin")
    own_port = (scope.get("server") or ("", None))[1]
    if not _is_local(f"//{host}", own_port) or (origin and not _is_local(origin, own_port)):
        return False
    return is_loopback((scope.get("client") or ("", 0))[0])


def is_own_page(scope: dict[str, Any], settings: ServerSettings) -> bool:
    """Do the headers Host and Origin allow this server to serve this request or socket? A page is allowed if
    `settings.origins` contains its origin or "*", or if the page came from this server. A program, which sends no
    origin, may always open a socket. A server without secrets also requires that the host name means this machine
    (loopback). Otherwise an attacker's page could reach it under a name that the attacker points to this machine (DNS
    rebinding). Checking the origin isn't enough against that, because plain requests from such a page have no
    origin."""
    host, origin = header(scope, b"host"), header(scope, b"origin", "none")
    if "*" in settings.origins or origin in settings.origins:
        return True
    if origin == "none" and scope.get("type") != "http":
        return True
    if origin != "none" and (not host or _netloc(origin) != host):
        return False
    is_named = origin == "none" and host in [_netloc(one) for one in settings.origins]
    return settings.needs_ticket or is_named or _is_local(f"//{host}", None)


def header(scope: dict[str, Any], name: bytes, missing: str = "") -> str:
    """The value of this header; `missing` if the request doesn't have it."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), missing)


def bearer(scope: dict[str, Any]) -> str:
    """The token or ticket that a request presents."""
    return header(scope, b"authorization").removeprefix("Bearer ")


def _same(given: str, wanted: str) -> bool:
    """Are the secrets equal? Compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _is_local(address: str, port: int | None) -> bool:
    """Does this URL's host mean this machine (loopback)? If `port` is given, the URL's port must be the same."""
    try:
        parts = urlsplit(address)
        return is_loopback(parts.hostname or "") and (port is None or (parts.port or 80) == port)
    except ValueError:
        return False
