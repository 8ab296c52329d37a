"""Limits how often one address may open connections. Further connections are refused before any of their bytes are
read.

A trusted proxy opens connections for many callers, so its connections aren't counted when they are opened. Instead,
each WebSocket from the proxy is counted for the caller that the proxy names, before the handshake is answered. Rule: to
refuse a connection, the server sends a fixed answer and does nothing else: no parsing, no log line and no task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .caller_address import is_trusted, read_networks, shared_address
from .limited_caller import now_ms
from .shared_limits import CONNECTIONS, SharedLimits

LIMIT = "connections"
REFUSAL = b"Your address opens connections too often: try again in a few seconds.\n"
RESPONSE = (
    b"HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\nretry-after: 5\r\ncontent-type: text/plain\r\n"
    b"content-length: " + str(len(REFUSAL)).encode() + b"\r\n\r\n" + REFUSAL
)


class ConnectionLimit:
    """The limit of a server. `shared` counts connections over all its processes. `note_refused` is called with the
    limit's name for each refusal."""

    def __init__(
        self, shared: SharedLimits, trusted_proxies: Iterable[str], note_refused: Callable[[str], None]
    ) -> None:
        self._shared = shared
        self._trusted = read_networks(trusted_proxies)
        self._note_refused = note_refused

    def may_open(self, peer: str) -> bool:
        """Count one more connection of this peer, and decide whether the peer may open it now. Always True for a
        trusted proxy, which isn't counted itself."""
        return self.is_trusted(peer) or self.may_enter(shared_address(peer))

    def is_trusted(self, peer: str) -> bool:
        """Is this peer a trusted proxy? If so, its callers are counted instead of the proxy itself."""
        return bool(self._trusted) and is_trusted(peer, self._trusted)

    def may_enter(self, address: str) -> bool:
        """Count one more connection from this address, if the address may open it now. Returns whether it may."""
        if self._shared.take(CONNECTIONS, address, now_ms()) == 0:
            return True
        self._note_refused(LIMIT)
        return False
