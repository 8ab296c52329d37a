"""The key of one conversation, which changes each time a client enters.

A client that has the key may enter the conversation; a seat (the id of a browser) is only a name and isn't enough. When
a client enters, it is offered a new key. The old key stays valid until the client acknowledges the new key, so a client
isn't locked out if a message is lost. Only hashes of keys are held in memory and stored. If the caller's ticket names a
user, the hash covers the user too, so another user can't use the key. Rule: this module has only immutable values, and
the number of valid keys is limited.
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
    """The hash of a conversation's key and the user who may use it. The store contains this hash instead of the key."""
    return hashlib.sha256(f"{key}\0{user}".encode() if user else key.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ConversationKeys:
    """The hashes of the valid keys: first the key that the client has acknowledged, then the keys that it was offered
    since."""

    hashes: tuple[str, ...]

    @property
    def current(self) -> str:
        """The hash of the key that the client has acknowledged."""
        return self.hashes[0]

    def opens(self, key: str, user: str = "") -> bool:
        """Is this key valid for this user? Hashes are compared in constant time."""
        given = hash_key(key, user)
        return bool(key) and any(hmac.compare_digest(given, one) for one in self.hashes)

    def offer(self, key: str, user: str = "") -> ConversationKeys:
        """Add this key to the valid ones. The acknowledged key stays valid; if too many keys were offered since, the
        oldest of those become invalid."""
        offers = (*self.hashes[1:], hash_key(key, user))
        return ConversationKeys((self.current, *offers[-OFFERS_MAX:]))

    def acknowledge(self, key: str, user: str = "") -> ConversationKeys:
        """Record that the client has received this key: all older keys become invalid. Keys that were offered later
        stay valid, because they may still be on their way to the client. Does nothing if this key isn't valid."""
        given = hash_key(key, user)
        return ConversationKeys(self.hashes[self.hashes.index(given) :]) if self.opens(key, user) else self

    def enter(self, key: str, user: str = "") -> ConversationKeys:
        """Record that a client has entered with this key. A key that had only been offered counts as acknowledged now,
        because the client has used it."""
        return self if hash_key(key, user) == self.current else self.acknowledge(key, user)

    def dump(self) -> list[str]:
        """The hashes, as data for the store."""
        return list(self.hashes)


def stored_keys(client: Any, key_hash: str) -> ConversationKeys:
    """The keys of a stored conversation, from the stored data about its client. If that data has no keys, the only key
    is the one with which the conversation was first claimed."""
    kept = client.get("keys") if isinstance(client, dict) else None
    if isinstance(kept, list) and kept and all(isinstance(one, str) for one in kept):
        return ConversationKeys(tuple(kept))
    return ConversationKeys((key_hash,))
