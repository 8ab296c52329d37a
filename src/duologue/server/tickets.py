"""Tickets: short-lived, signed texts that your own backend gives to callers, and that admit them to the server.

A ticket says until when it is valid. It may also name an agent, the origin of a page, and one of your users; then it is
valid only for these. Your backend and the server share the signing key. The module needs the standard library only.
Rule: a ticket is read only after its signature was checked.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from dataclasses import asdict, dataclass

from duologue.core.errors import DuologueError

SECRET_CHARS_MIN = 16  # of every token and key that an operator chooses
TICKET_CHARS_MAX = 2_000
MINUTES_MAX = 24 * 60
_PREFIX = "dt1"  # the version of the form
_NAME_CHARS_MAX = 200


class InvalidTicket(DuologueError, ValueError):
    """A ticket can't be made with these values. The message says what to change and contains no secret."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """The content of a ticket. An empty field means that the ticket isn't limited in this respect."""

    until_s: int  # the end of its life, in seconds since 1970; after it, a conversation can only be resumed
    user: str = ""  # your own id of the caller: a conversation can be resumed only by the user who started it
    agent: str = ""  # the name of the agent
    origin: str = ""  # of the page, such as https://shop.example

    def is_over(self, now_s: float) -> bool:
        return now_s >= self.until_s


def make_ticket(
    key: str,
    *,
    minutes: float = 10,
    user: str = "",
    agent: str = "",
    origin: str = "",
    now_s: float | None = None,
) -> str:
    """Make a ticket for one caller, as text. `key` is the server's ticket key. For `minutes` minutes, the caller may
    start conversations with the ticket. Raises InvalidTicket."""
    if len(key) < SECRET_CHARS_MIN:
        raise InvalidTicket(f"the ticket key must have at least {SECRET_CHARS_MIN} characters")
    if not 0 < minutes <= MINUTES_MAX:
        raise InvalidTicket(f"minutes must be above 0 and at most {MINUTES_MAX}, not {minutes:g}")
    for name, text in (("user", user), ("agent", agent), ("origin", origin)):
        if len(text) > _NAME_CHARS_MAX or not text.isprintable():
            raise InvalidTicket(f"{name} must have at most {_NAME_CHARS_MAX} printable characters")
    now_s = time.time() if now_s is None else now_s
    said = asdict(Ticket(round(now_s + minutes * 60), user, agent, origin))
    body = _b64(json.dumps({name: value for name, value in said.items() if value}, separators=(",", ":")).encode())
    return f"{_PREFIX}.{body}.{_b64(_signature(key, body))}"


def read_ticket(key: str, text: str) -> Ticket | None:
    """The content of a ticket that was signed with this key; None if the text isn't such a ticket. Its expiry and its
    limits are not checked here."""
    prefix, _, rest = text.partition(".")
    body, _, signature = rest.partition(".")
    if not key or prefix != _PREFIX or len(text) > TICKET_CHARS_MAX:
        return None
    try:
        if not hmac.compare_digest(_signature(key, body), _unb64(signature)):
            return None
        return Ticket(**json.loads(_unb64(body)))
    except (binascii.Error, ValueError, TypeError):
        return None


def _signature(key: str, body: str) -> bytes:
    return hmac.new(key.encode(), f"{_PREFIX}.{body}".encode(), hashlib.sha256).digest()


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
