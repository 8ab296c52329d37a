"""The settings of a server: where it listens, who may connect, and its limits.

Rule: everything that clients can use up has a limit, and a server that other machines can reach has a token.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from duologue.core.errors import DuologueError
from duologue.fairness.bucket import Rate
from duologue.lines.webrtc.ice_servers import IceServers
from duologue.observe.prices import PriceTable

from .caller_address import read_networks
from .tickets import SECRET_CHARS_MIN


class InvalidServer(DuologueError, ValueError):
    """Settings that can't work or aren't safe. The message says what to change."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server."""

    conversations_max: int = 500  # conversations at the same time; further ones are refused
    sockets_per_address_max: int = 50  # sockets of one address, or of one /64 network of IPv6
    connections: Rate = field(default=Rate(300, 60_000, 150))  # connections that one address opens
    conversations_per_address_max: int = 50  # conversations of one address, also those whose client is away
    starts: Rate = field(default=Rate(30, 60_000, 20))  # conversations that one address starts
    unspoken_per_address_max: int = 10  # conversations of one address in which the user has said nothing yet
    unspoken_s_max: float = 300.0  # after this time, a conversation in which the user has said nothing ends
    unspoken_away_s_max: float = 10.0  # the same, while its client is disconnected
    message_bytes_max: int = 1 << 20  # size of one message
    messages_per_s_max: int = 150  # messages on one socket; a burst may have three times as many
    # Bytes of the messages on one socket. A list, an object or another value in JSON counts as 100 bytes more.
    message_bytes: Rate = field(default=Rate(1_000_000, 1_000, 8 << 20))
    requests: Rate = field(default=Rate(1_200, 60_000, 400))  # HTTP requests of one address; a file counts a quarter
    bad_messages_max: int = 20  # invalid messages on one socket; then it is closed
    text_chars_max: int = 4_000  # length of one typed turn
    typed_turns: Rate = field(default=Rate(60, 60_000, 20))  # typed turns of one conversation
    typed_chars: Rate = field(default=Rate(200, 1_000, 12_000))  # characters of typed turns of one conversation
    # What a client does in one conversation besides typing and speaking: buttons, switches, keys, offers.
    commands: Rate = field(default=Rate(10, 1_000, 40))
    unanswered_turns_max: int = 20  # turns of one conversation that wait for an answer; further typed ones are refused
    unanswered_chars_max: int = 16_000  # characters of these turns; a first turn may be longer
    sound_ms: Rate = field(
        default=Rate(1_200, 1_000, 10_000)
    )  # milliseconds of sound of one conversation: 1.2 times real time
    hello_s_max: float = 10.0  # time from opening the socket to its hello
    request_s_max: float = 15.0  # time within which a whole HTTP request must arrive
    answer_s_max: float = 60.0  # time within which a client must read an HTTP response that is sent to it
    silent_s_max: float = 120.0  # a socket without a conversation that sends nothing for this time is closed
    unread_bytes_max: int = 4 << 20  # bytes queued for a client that doesn't read; above this, its socket is closed
    replay_bytes_max: int = 20 << 20  # size of a journal that a client uploads for replay
    wrong_token_s_max: float = 8.0  # the wait before a wrong token is refused doubles with each attempt, up to this
    drain_s_max: float = 30.0  # time for conversations to end when the server stops

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, Rate) and not value > 0:
                raise InvalidServer(f"limit {name} must be above 0, not {value}")
        if self.typed_chars.burst < self.text_chars_max:
            raise InvalidServer("the burst of typed_chars must be at least text_chars_max, to accept the longest turn")


def many_at_one_address(limits: Limits, count: int) -> Limits:
    """The same limits, but those for one address are raised, so that `count` clients (such as simulated ones) can share
    an address."""
    return replace(
        limits,
        sockets_per_address_max=count,
        conversations_per_address_max=count,
        unspoken_per_address_max=count,
        starts=Rate(count, 1_000, count),
        connections=Rate(count, 1_000, count),
        requests=Rate(100 * count, 1_000, 100 * count),
    )


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Where webhooks are sent, and the secret that signs them."""

    url: str
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise InvalidServer("the webhook's URL must begin with https://, unless its host is this machine")
        if len(self.secret) < SECRET_CHARS_MIN:
            raise InvalidServer(
                f"webhooks need a secret of at least {SECRET_CHARS_MIN} characters: set DUOLOGUE_WEBHOOK_SECRET"
            )


@dataclass(frozen=True, slots=True)
class WebRtcSettings:
    """How clients connect with WebRTC. Clients that can't use WebRTC use a WebSocket instead."""

    enabled: bool = True  # needs the extra `webrtc`
    ice_servers: IceServers = field(default_factory=IceServers)  # STUN and TURN servers, for clients and this server
    # Does the panel use WebRTC? None: only if other machines can reach the server; on one machine a socket is as good.
    panel: bool | None = None
    address: str = ""  # the public address, if a router forwards to this machine; empty: its own addresses

    def __post_init__(self) -> None:
        if self.address:
            try:
                ipaddress.ip_address(self.address)
            except ValueError:
                raise InvalidServer(f"webrtc.address must be an IP address, not {self.address!r}") from None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The settings of one server. If a token is needed and isn't given, `guarded` creates one."""

    host: str = "127.0.0.1"  # where to listen
    port: int = 8765  # 0 means any free port
    token: str = field(default="", repr=False)  # callers present it; if empty, created when other machines can connect
    origins: tuple[str, ...] = ()  # pages of these origins may connect too; "*" means any origin
    journals: Path | None = None  # a folder for the journal of every conversation
    limits: Limits = field(default_factory=Limits)  # see below
    context_query: tuple[str, ...] = ()  # parameters of a client's URL that the agent may see in its context
    context_headers: tuple[str, ...] = ()  # headers of a client's request that the agent may see in its context
    webhook: WebhookSettings | None = None  # where to report what happens in calls
    trusted_proxies: tuple[str, ...] = ()  # addresses or networks whose X-Forwarded-For says who the caller is
    watchable: bool = True  # operators may watch all calls
    # Operators present it to watch calls and to read metrics, journals and debug pages. Without it, only a client on
    # this machine may, on a server that serves this machine alone and whose callers need no token.
    operator_token: str = field(default="", repr=False)
    ticket_key: str = field(default="", repr=False)  # signs callers' tickets (`duologue ticket`); callers need one
    tells_watched: bool = False  # callers are told while an operator watches them
    public: bool = False  # other machines reach this server although it listens on 127.0.0.1, such as by a tunnel
    prices: PriceTable | None = None  # what services cost, for the panel
    webrtc: WebRtcSettings = field(default_factory=WebRtcSettings)  # see below
    # Is sound sent over sockets as Opus? That needs libopus here and a client that supports it; otherwise PCM is used.
    # None: only if other machines can reach the server; on one machine, PCM is as good.
    opus: bool | None = None
    recordings: Path | None = None  # the folder of recordings; old ones are deleted, as journals are
    dev: bool = False  # show tracebacks in the debug view; only for a server that no other machine can reach

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65_535:
            raise InvalidServer(f"port must be from 0 to 65535, not {self.port}")
        read_networks(self.trusted_proxies)
        secrets_given = {"token": self.token, "operator_token": self.operator_token, "ticket_key": self.ticket_key}
        for name, secret in secrets_given.items():
            if secret and len(secret) < SECRET_CHARS_MIN:
                raise InvalidServer(
                    f"{name} has {len(secret)} characters and must have at least {SECRET_CHARS_MIN}: "
                    "`python -c 'import secrets; print(secrets.token_urlsafe(24))'` makes one"
                )
        given = [secret for secret in secrets_given.values() if secret]
        if len(set(given)) < len(given):
            raise InvalidServer("token, operator_token and ticket_key must differ, because they give different rights")
        if self.dev and not self.is_loopback:
            raise InvalidServer(f"dev shows tracebacks, so host must be 127.0.0.1, not {self.host}")

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def needs_ticket(self) -> bool:
        """Must callers present the server's token or a ticket?"""
        return bool(self.token or self.ticket_key)

    @property
    def is_for_this_machine(self) -> bool:
        """Do the settings say that all clients are on this machine?"""
        hosts = [urlsplit(origin).hostname or "" for origin in self.origins]
        return self.is_loopback and not self.public and all(is_loopback(host) for host in hosts)

    @property
    def wants_opus(self) -> bool:
        """Should sound be sent over sockets as Opus, if both sides support it?"""
        return self.opus if self.opus is not None else not self.is_for_this_machine

    def guarded(self) -> ServerSettings:
        """The same settings, with a new token if other machines can reach the server and callers would otherwise need
        neither a token nor a ticket."""
        is_reached = not self.is_loopback or self.public
        return replace(self, token=secrets.token_urlsafe(24)) if is_reached and not self.needs_ticket else self


def is_loopback(host: str) -> bool:
    """Does this host name or address mean the local machine?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
