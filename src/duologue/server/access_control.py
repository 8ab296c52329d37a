"""The checks for every kind of connection to a server: the caller's address, how many connections that address has, and
whether the credentials are right.

Rule: all connections from one address are counted together, whatever protocol they use. A wrong credential is always
logged, and its refusal is delayed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from .caller_address import caller_address, read_networks
from .connection_limit import ConnectionLimit
from .settings import ServerSettings
from .wrong_credentials import WrongCredentials, address_hash

LOG = logging.getLogger("duologue.server")


class AccessControl:
    """Counts connections and delays the refusal of wrong credentials, for one server process. `note_refused` is called
    with the name of each limit that refuses something."""

    def __init__(
        self, settings: ServerSettings, connection_limit: ConnectionLimit, note_refused: Callable[[str], None]
    ) -> None:
        self._most = settings.limits.sockets_per_address_max
        self._connection_limit = connection_limit
        self._note_refused = note_refused
        self._proxies = read_networks(settings.trusted_proxies)
        self._wrong = WrongCredentials(settings.limits.wrong_token_s_max)
        self._by_address: Counter[str] = Counter()

    def address_of(self, scope: dict[str, Any]) -> str:
        """The caller's address. This request or socket counts towards the limits of that address."""
        return caller_address(scope, self._proxies)

    def is_too_often(self, scope: dict[str, Any]) -> bool:
        """Does this caller open connections too often? Only callers behind a trusted proxy are checked here. For all
        other callers the answer is False, because their connections were already checked when they were opened."""
        limit, peer = self._connection_limit, str((scope.get("client") or ("", 0))[0])
        return limit.is_trusted(peer) and not limit.may_enter(self.address_of(scope))

    def enter(self, address: str) -> bool:
        """Count one more connection from this address. Returns whether the connection may stay open. Call `leave` when
        it ends, even if it was refused."""
        self._by_address[address] += 1
        if self._by_address[address] > self._most:
            self._note_refused("address")
            return False
        return True

    def leave(self, address: str) -> None:
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    async def refuse_late(self, scope: dict[str, Any]) -> None:
        """Log that a wrong credential was presented, and wait, so that the caller is refused late."""
        address = self.address_of(scope)
        wait_s = self._wrong.note(address, time.monotonic())
        LOG.warning("wrong token from address %s, number %d", address_hash(address), self._wrong.count(address))
        await asyncio.sleep(wait_s)
