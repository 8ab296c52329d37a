"""The settings of a server: where it listens, who may connect, and its limits.

Rule: every amount has a limit, and a server that other machines can reach has a token.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from duologue.core.errors import DuologueError
from duologue.observe.prices import PriceTable

SECRET_CHARS_MIN = 16


class InvalidServer(DuologueError, ValueError):
    """Settings that can't work or aren't safe. The message says what to change."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server."""

    conversations_max: int = 500  # conversations at the same time; further ones are refused
    sockets_per_address_max: int = 50  # sockets of one IP address
    message_bytes_max: int = 1 << 20  # size of one message
    messages_per_s_max: int = 300  # on one socket; the panel sends 31 with audio and up to 50 about playback
    bad_messages_max: int = 20  # invalid messages on one socket; then it is closed
    text_chars_max: int = 4_000  # length of one typed turn
    hello_s_max: float = 10.0  # time from opening the socket to its hello
    unread_bytes_max: int = 4 << 20  # queued for a client that doesn't read; then its socket is closed
    replay_bytes_max: int = 20 << 20  # size of a journal that a client uploads for replay
    drain_s_max: float = 30.0  # time for conversations to end when the server stops

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise InvalidServer(f"limit {name} must be above 0, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Where webhooks are sent, and the secret that signs them."""

    url: str
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise InvalidServer("the webhook's URL must begin with https://, or be on this machine")
        if len(self.secret) < SECRET_CHARS_MIN:
            raise InvalidServer(
                f"webhooks need a secret of at least {SECRET_CHARS_MIN} characters: set DUOLOGUE_WEBHOOK_SECRET"
            )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one server. If a token is needed and isn't given, `guarded` creates one."""

    host: str = "127.0.0.1"  # where to listen
    port: int = 8765  # 0 means any free port
    token: str = ""  # every client must send it; empty: created if other machines can connect
    origins: tuple[str, ...] = ()  # pages of these origins may connect too; "*" means any origin
    journals: Path | None = None  # a folder for the journal of every conversation
    limits: Limits = field(default_factory=Limits)  # see below
    context_query: tuple[str, ...] = ()  # parameters of a client's URL that the agent may see in its context
    context_headers: tuple[str, ...] = ()  # headers of a client's request that the agent may see in its context
    webhook: WebhookSettings | None = None  # where to tell of what happens in calls
    watchable: bool = True  # operators may watch all calls, on this machine or with the token
    prices: PriceTable | None = None  # what services cost, for the panel
    dev: bool = False  # show tracebacks in the debug view; only for a server that no other machine can reach

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise InvalidServer(f"port must be from 0 to 65535, not {self.port}")
        if self.dev and not self.is_loopback:
            raise InvalidServer(f"dev shows tracebacks, so host must be 127.0.0.1, not {self.host}")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    def guarded(self) -> ServerSettings:
        """The same settings. If other machines can connect and no token is set, a new token is added."""
        return self if self.is_loopback or self.token else replace(self, token=secrets.token_urlsafe(24))


def is_loopback(host: str) -> bool:
    """Is this host name or address the local machine?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
