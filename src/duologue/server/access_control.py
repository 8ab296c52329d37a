"""The checks for every kind of connection to a server: the caller's address, how many connections that address has, and
whether the credentials are right.

Rule: all connections from one address are counted together, whatever protocol they use and whichever process of the
server has them. A wrong credential is always logged, and its refusal is delayed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from .caller_address import caller_address, read_networks
from .connection_limit import ConnectionLimit
from .limit_news import PlaceKind
from .limited_caller import now_ms
from .settings import ServerSettings
from .shared_limits import FILE_REQUEST, REQUEST, REQUESTS, SharedLimits
from .siblings import SCOPE_KEY
from .wrong_credentials import address_hash

LOG = logging.getLogger("duologue.server")


class AccessControl:
    """Counts connections and delays the refusal of wrong credentials. `shared` counts them over all processes of the
    server. `note_refused` is called with the name of each limit that refuses something."""

    def __init__(
        self,
        settings: ServerSettings,
        shared: SharedLimits,
        connection_limit: ConnectionLimit,
        note_refused: Callable[[str], None],
    ) -> None:
        self._most = settings.limits.sockets_per_address_max
        self._connection_limit = connection_limit
        self._note_refused = note_refused
        self._proxies = read_networks(settings.trusted_proxies)
        self._shared = shared
        self._by_address: dict[str, list[int]] = {}  # the places of its connections

    def address_of(self, scope: dict[str, Any]) -> str:
        """The caller's address. The limits of this address apply to the request or socket."""
        return caller_address(scope, self._proxies)

    def is_too_often(self, scope: dict[str, Any]) -> bool:
        """Count one more connection of a caller behind a trusted proxy. Returns whether that caller opens connections
        too often. All other callers aren't counted here, because their connections were counted when they were opened:
        for them, the result is False. It is also False for a connection that came from another process, which has
        counted it already."""
        limit, peer = self._connection_limit, str((scope.get("client") or ("", 0))[0])
        return not is_handed(scope) and limit.is_trusted(peer) and not limit.may_enter(self.address_of(scope))

    def may_request(self, scope: dict[str, Any], is_file: bool = False) -> bool:
        """Count one more HTTP request, if the caller's address may send it now. Returns whether it may. A request for a
        file that is in memory counts as a quarter."""
        amount = FILE_REQUEST if is_file else REQUEST
        if self._shared.take(REQUESTS, self.address_of(scope), now_ms(), amount) == 0:
            return True
        self._note_refused(REQUESTS)
        return False

    def note_files_refused(self) -> None:
        """Count that a file was refused, because too many files for its address wait to be sent."""
        self._note_refused(REQUESTS)

    def note_flood(self) -> None:
        """Count that a client was disconnected because it sent too many frames."""
        self._note_refused("messages")

    def is_from_proxy(self, scope: dict[str, Any]) -> bool:
        """Did a trusted proxy send this request for a caller?"""
        return self._connection_limit.is_trusted(str((scope.get("client") or ("", 0))[0]))

    def enter(self, address: str, is_handed: bool = False) -> bool:
        """Count one more connection from this address, if the address may have it. Returns whether the connection may
        stay open; if so, call `leave` when it ends. A connection that another process has handed on may always stay,
        because that process has already checked the limit."""
        elsewhere = self._shared.elsewhere.count(PlaceKind.SOCKET, address)
        if not is_handed and len(self._by_address.get(address, ())) + elsewhere >= self._most:
            self._note_refused("address")
            return False
        self._by_address.setdefault(address, []).append(self._shared.hold(PlaceKind.SOCKET, address, 0))
        return True

    def leave(self, address: str) -> None:
        """Stop counting a connection from this address, because it has ended."""
        places = self._by_address[address]
        self._shared.leave(places.pop())
        if not places:
            del self._by_address[address]

    async def refuse_late(self, scope: dict[str, Any]) -> None:
        """Log that a wrong credential was presented, and wait before returning, so that the caller's refusal is
        delayed."""
        address = self.address_of(scope)
        wait_s = self._shared.note_wrong(address, now_ms() / 1000)
        LOG.warning("wrong token from address %s, number %d", address_hash(address), self._shared.wrong_count(address))
        await asyncio.sleep(wait_s)


def is_handed(scope: dict[str, Any]) -> bool:
    """Did the connection of this request come from another process of the server?"""
    connection = scope.get(SCOPE_KEY)
    return connection is not None and bool(connection.arrival.is_handed)
