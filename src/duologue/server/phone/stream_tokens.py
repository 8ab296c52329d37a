"""Tokens that connect a signed webhook to the stream that it announced.

A carrier doesn't sign its streams, so the webhook's response contains a token that the stream must present. The token
is signed and names its carrier, call and expiry, so only used tokens have to be remembered. Rule: a token is valid for
a short time and for one stream. The stream must be of the token's carrier and, if the token names a call, of that call.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

USED_MAX = 100_000


class StreamTokens:
    """Creates and checks tokens. Processes that share the key accept each other's tokens."""

    def __init__(self, key: bytes, ms_max: int, now: Callable[[], float] = time.time) -> None:
        self._key = key
        self._ms_max = ms_max
        self._now = now
        self._used: dict[bytes, float] = {}  # used tokens and their expiry

    def mint(self, carrier: str, call: str) -> str:
        """A token for this call. With an empty `call`, the token is valid for any call of the carrier."""
        until = int(self._now() * 1000) + self._ms_max
        body = f"{until}|{secrets.token_hex(12)}|{carrier}|{_digest(call) if call else ''}".encode()
        return _b64(body) + "." + _b64(self._sign(body))

    def take(self, token: str, carrier: str, call: str) -> bool:
        """Check the token of a stream. Returns whether the stream may start; if so, the token is used up."""
        body = self._verified(token)
        if body is None:
            return False
        until, _, for_carrier, for_call = body.decode().split("|")
        now = self._now()
        if int(until) < now * 1000 or for_carrier != carrier or (for_call and for_call != _digest(call)):
            return False
        self._forget(now)
        if body in self._used:
            return False
        self._used[body] = int(until) / 1000
        return True

    def _verified(self, token: str) -> bytes | None:
        body, _, signature = token.partition(".")
        try:
            content, signed = _unb64(body), _unb64(signature)
        except (binascii.Error, ValueError):
            return None
        return content if hmac.compare_digest(self._sign(content), signed) else None

    def _forget(self, now: float) -> None:
        for body in [body for body, until in self._used.items() if until < now]:
            del self._used[body]
        while len(self._used) >= USED_MAX:
            del self._used[next(iter(self._used))]

    def _sign(self, body: bytes) -> bytes:
        return hmac.new(self._key, body, hashlib.sha256).digest()


def _digest(call: str) -> str:
    return hashlib.sha256(call.encode()).hexdigest()[:32]


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
