"""Prepares what is written to a store: checks names, encodes values as JSON, and computes a digest (a hash) of each
write.

Rule: data that can't be stored is rejected with a one-line error before anything is changed. Stored data that can't be
read affects only the conversation to which it belongs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from duologue.ports.store import Damaged, Lease, StoreFailed, StoreWrite

NAME_BYTES_MAX = 200
KEY_BYTES_MAX = 1_000
WRITE_BYTES_MAX = 8_000_000
TTL_MS_MAX = 1_000_000_000_000


Pairs: TypeAlias = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a write to the store, already checked and encoded as text."""

    parts: Sequence[tuple[str, str]]
    removed: Sequence[str]
    done: Sequence[tuple[str, str]]
    messages: Sequence[tuple[str, str]]
    is_over: bool
    digest: str

    @property
    def has_parts_only(self) -> bool:
        """Does this write only store parts? False if it also removes parts or contains outputs or messages."""
        return bool(self.parts) and not (self.removed or self.done or self.messages)


def content_of(write: StoreWrite) -> Content:
    """Check and encode a write. Raises `StoreFailed` if the write can't be stored."""
    parts = [(_name(name, "part"), value) for name, value in sorted(write.parts.items())]
    stored = [(name, encode(value, f"part {name!r}")) for name, value in parts if value is not None]
    removed = [name for name, value in parts if value is None]
    done = [(key_of(key), encode(output, f"the output of {key!r}")) for key, output in write.done]
    messages = [
        (_name(message.topic, "topic"), encode(message.body, f"a message to {message.topic!r}"))
        for message in write.messages
    ]
    size = sum(len(text) for _, text in (*stored, *done, *messages))
    if size > WRITE_BYTES_MAX:
        raise StoreFailed(f"a write of {size} bytes is too large: write at most {WRITE_BYTES_MAX} bytes")
    return Content(
        stored, removed, done, messages, write.is_over, _digest(stored, removed, done, messages, write.is_over)
    )


def _digest(stored: Pairs, removed: Sequence[str], done: Pairs, messages: Pairs, is_over: bool) -> str:
    """A hash of the whole write. The number and the lengths of the texts are part of it, because otherwise two
    different writes could have the same hash."""
    texts = [text for pairs in (stored, done, messages) for pair in pairs for text in pair]
    sizes = [len(text.encode()) for text in (*texts, *removed)]
    hashed = hashlib.sha256(json.dumps([len(stored), len(done), len(messages), len(removed), is_over, sizes]).encode())
    for text in (*texts, *removed):
        hashed.update(text.encode())
    return hashed.hexdigest()


# -- Names


def conversation_of(name: str) -> str:
    """Check the name of a conversation and return it unchanged. Raises `StoreFailed` if it is invalid."""
    return _name(name, "conversation")


def node_of(name: str) -> str:
    """Check the name of a node and return it unchanged. Raises `StoreFailed` if it is invalid."""
    return _name(name, "node")


def key_of(key: str) -> str:
    """Check the key of an action and return it unchanged. Raises `StoreFailed` if it is invalid."""
    return _name(key, "key", KEY_BYTES_MAX)


def lease_of(lease: Lease) -> Lease:
    """Check the names in a lease and return the lease unchanged. Raises `StoreFailed` if a name is invalid."""
    _name(lease.conversation, "conversation")
    _name(lease.node, "node")
    return lease


def text_of(text: str, what: str) -> str:
    """Check a text, which may be empty, and return it unchanged. Raises `StoreFailed` if it is invalid."""
    return _name(text, what, KEY_BYTES_MAX) if text else ""


def ttl_of(ttl_ms: int) -> int:
    """Check the duration of a lease and return it unchanged. Raises `StoreFailed` if it is too short or too long."""
    if not 0 <= ttl_ms <= TTL_MS_MAX:
        raise StoreFailed(f"a lease must last from 0 to {TTL_MS_MAX} ms, not {ttl_ms}")
    return ttl_ms


def limit_of(limit: int) -> int:
    """The given maximum number of rows, changed to the nearest number that a database accepts."""
    return max(0, min(limit, 1_000_000))


def _name(name: str, what: str, bytes_max: int = NAME_BYTES_MAX) -> str:
    """Check that SQLite and PostgreSQL can store this name, and return it unchanged. Control characters and lone
    surrogates are rejected."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise StoreFailed(f"{name!r:.80} isn't a valid {what}: use printable, non-empty text")
    if len(name.encode()) > bytes_max:
        raise StoreFailed(f"the {what} {name[:20]!r}… is too long: use at most {bytes_max} bytes")
    return name


# -- JSON


def encode(value: Any, what: str) -> str:
    """The value as JSON in ASCII. So even characters that a database would reject can be stored."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise StoreFailed(f"{what} can't be stored as JSON: {problem}") from None


def decode(text: str, conversation: str, what: str) -> Any:
    """The value of a stored JSON text. Raises `Damaged` if the text can't be read. The error says which data is
    damaged, but doesn't quote it."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise Damaged(
            f"{what} of conversation {conversation!r} can't be read: the row is damaged; "
            f"restore it from a backup, or forget the conversation"
        ) from None
