"""Slows down clients that present wrong credentials: with each further attempt from the same address, the refusal is
delayed longer.

Rule: the only state is a table of addresses, whose size is limited; the time is an argument.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict

FIRST_WAIT_S = 0.25
WAIT_S_MAX = 8.0
FORGET_S = 300.0  # after this long without a wrong attempt, the count of an address begins again
ADDRESSES_MAX = 10_000
_LOG_KEY = secrets.token_bytes(32)  # of this process; without a key, every possible address could be tried


class WrongCredentials:
    """How many wrong attempts came from each address."""

    def __init__(self, wait_s_max: float = WAIT_S_MAX) -> None:
        self._wait_s_max = wait_s_max
        self._attempts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def note(self, address: str, now_s: float) -> float:
        """Note a wrong attempt from this address. Returns by how many seconds its refusal should be delayed."""
        count, last_s = self._attempts.get(address, (0, now_s))
        count = 1 if now_s - last_s > FORGET_S else count + 1
        self._put(address, count, now_s)
        return float(min(self._wait_s_max, FIRST_WAIT_S * 2 ** min(count - 1, 10)))

    def raise_to(self, address: str, count: int, now_s: float) -> None:
        """Raise this address's count of wrong attempts to the count of another process, if fewer are remembered
        here."""
        if count > self.count(address):
            self._put(address, count, now_s)

    def counts(self, now_s: float) -> dict[str, int]:
        """How many wrong attempts came from each address, without those that are too old to count."""
        return {address: count for address, (count, last_s) in self._attempts.items() if now_s - last_s <= FORGET_S}

    def _put(self, address: str, count: int, now_s: float) -> None:
        self._attempts.pop(address, None)  # the newest is the last one
        self._attempts[address] = (count, now_s)
        while len(self._attempts) > ADDRESSES_MAX:
            self._attempts.popitem(last=False)

    def count(self, address: str) -> int:
        """How many wrong attempts from this address are remembered."""
        return self._attempts.get(address, (0, 0.0))[0]

    def __len__(self) -> int:
        return len(self._attempts)


def address_hash(address: str) -> str:
    """A hash of an address, for the log: in one process the same address always has the same hash, and readers of the
    log can't find out the address."""
    return hashlib.blake2b(address.encode(), key=_LOG_KEY, digest_size=6).hexdigest()
