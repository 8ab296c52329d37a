"""The key of one conversation, which changes each time a client enters.

A client with the key may enter the conversation; a seat is only a name. When a client enters, it is offered a new key.
The old key is valid until the client acknowledges the new one, so that a lost message locks no client out. Only hashes
are kept and stored. If the caller's ticket names a user, the hash covers the user too, and another user can't use the
key. Rule: values only; the number of keys is limited.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Any

OFFERS_MAX = 3


def new_key() -> str:
    return secrets.token_urlsafe(24)


def hash_key(key: str, user: str = "") -> str:
    """The hash of a conversation's key for this user. The store contains this hash instead of the key."""
    return hashlib.sha256(f"{key}\0{user}".encode() if user else key.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ConversationKeys:
    """The hashes of the valid keys: the one that the client has acknowledged, then those that it was offered."""

    hashes: tuple[str, ...]

    @property
    def current(self) -> str:
        """The hash of the key that the client has acknowledged."""
        return self.hashes[0]

    def opens(self, key: str, user: str = "") -> bool:
        """Is this a valid key, presented by the right user? Compared in constant time."""
        given = hash_key(key, user)
        return bool(key) and any(hmac.compare_digest(given, one) for one in self.hashes)

    def offer(self, key: str, user: str = "") -> ConversationKeys:
        """Make this key valid too. Of the keys that were offered before, only the newest stay valid."""
        offers = (*self.hashes[1:], hash_key(key, user))
        return ConversationKeys((self.current, *offers[-OFFERS_MAX:]))

    def acknowledge(self, key: str, user: str = "") -> ConversationKeys:
        """Note that the client has this key now: older keys become invalid. A key that was offered later stays valid,
        because it may be on its way. A key that isn't valid changes nothing."""
        given = hash_key(key, user)
        return ConversationKeys(self.hashes[self.hashes.index(given) :]) if self.opens(key, user) else self

    def enter(self, key: str, user: str = "") -> ConversationKeys:
        """Note that a client has entered with this key. The use of an offered key acknowledges it."""
        return self if hash_key(key, user) == self.current else self.acknowledge(key, user)

    def dump(self) -> list[str]:
        """The hashes, as data for the store."""
        return list(self.hashes)


def stored_keys(client: Any, key_hash: str) -> ConversationKeys:
    """The keys of a stored conversation: those in the stored part about its client, or else the one with which it was
    claimed first."""
    kept = client.get("keys") if isinstance(client, dict) else None
    if isinstance(kept, list) and kept and all(isinstance(one, str) for one in kept):
        return ConversationKeys(tuple(kept))
    return ConversationKeys((key_hash,))
