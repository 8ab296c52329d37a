"""Tokens that connect a signed webhook to the stream that it announced.

A carrier doesn't sign its streams, so our response to a webhook contains a token that the stream must present. The
token is signed and contains its carrier, call and expiry, so only used tokens have to be remembered. Rule: a token is
valid for a short time and for one stream. The stream must come from the token's carrier and, if the token names a call,
belong to that call. If a carrier sends the same webhook again, only one of the tokens in the responses can be used.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import logging
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

USED_MAX = 100_000
USED_MS = 24 * 3_600_000  # used tokens are remembered this long
SWEEP_MS = 60_000
LOG = logging.getLogger("duologue.phone")


class UsedTokens(Protocol):
    """Remembers used tokens until they expire."""

    def add(self, body: bytes, until_ms: int, now_ms: int) -> bool:
        """Record that this token is used. Returns False if it was used before."""
        ...


class UsedTokensInMemory:
    """The used tokens of a server with one process."""

    def __init__(self) -> None:
        self._until_ms: dict[bytes, int] = {}

    def add(self, body: bytes, until_ms: int, now_ms: int) -> bool:
        while self._until_ms and next(iter(self._until_ms.values())) < now_ms:  # the oldest is first
            del self._until_ms[next(iter(self._until_ms))]
        while len(self._until_ms) >= USED_MAX:
            del self._until_ms[next(iter(self._until_ms))]
        if body in self._until_ms:
            return False
        self._until_ms[body] = until_ms
        return True


class UsedTokenFiles:
    """The used tokens of several processes: one empty file for each token. The file's name is a hash of the token. Its
    modification time says until when the token must be remembered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._swept_ms = 0

    def add(self, body: bytes, until_ms: int, now_ms: int) -> bool:
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._sweep(now_ms)
            file = self._folder / hashlib.sha256(body).hexdigest()
            file.touch(mode=0o600, exist_ok=False)
            os.utime(file, (until_ms / 1000, until_ms / 1000))
        except FileExistsError:
            return False
        except OSError as problem:
            LOG.error("a used token can't be noted in %s: %s; its stream is refused", self._folder, problem.strerror)
            return False
        return True

    def _sweep(self, now_ms: int) -> None:
        """Remove the files of expired tokens, unless that was done a short while ago."""
        if now_ms - self._swept_ms < SWEEP_MS:
            return
        self._swept_ms = now_ms
        for file in self._folder.iterdir():
            if file.stat().st_mtime * 1000 < now_ms:
                file.unlink(missing_ok=True)


class StreamTokens:
    """Creates and checks tokens. Processes with the same key accept each other's tokens. They must also share `used`:
    otherwise a token could be used for one stream in each process."""

    def __init__(
        self, key: bytes, ms_max: int, now: Callable[[], float] = time.time, used: UsedTokens | None = None
    ) -> None:
        self._key = key
        self._ms_max = ms_max
        self._now = now
        self._used = used or UsedTokensInMemory()

    def mint(self, carrier: str, call: str, announcement: bytes = b"") -> str:
        """Make a token for this call. If `call` is empty, the token is valid for any call of the carrier. Only one of
        all tokens with the same `announcement` can be used; an empty `announcement` sets no such limit."""
        until = int(self._now() * 1000) + self._ms_max
        number = self._sign(b"announcement|" + announcement).hex()[:24] if announcement else secrets.token_hex(12)
        body = f"{until}|{number}|{carrier}|{_digest(call) if call else ''}".encode()
        return _b64(body) + "." + _b64(self._sign(body))

    def take(self, token: str, carrier: str, call: str) -> bool:
        """Check the token of a stream. Returns whether the stream may start; if so, the token is used up."""
        body = self._verified(token)
        if body is None:
            return False
        until, number, for_carrier, for_call = body.decode().split("|")
        now = self._now()
        if int(until) < now * 1000 or for_carrier != carrier or (for_call and for_call != _digest(call)):
            return False
        now_ms = int(now * 1000)
        return self._used.add(f"{for_carrier}|{number}".encode(), now_ms + USED_MS, now_ms)

    def _verified(self, token: str) -> bytes | None:
        body, _, signature = token.partition(".")
        try:
            content, signed = _unb64(body), _unb64(signature)
        except (binascii.Error, ValueError):
            return None
        return content if hmac.compare_digest(self._sign(content), signed) else None

    def _sign(self, body: bytes) -> bytes:
        return hmac.new(self._key, body, hashlib.sha256).digest()


def _digest(call: str) -> str:
    return hashlib.sha256(call.encode()).hexdigest()[:32]


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
