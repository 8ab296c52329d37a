"""What a store takes and gives back: names that every database can hold, JSON, and the digest of a write.

Rule: whatever can't be kept is refused before anything is changed, in one line; whatever can't be read is an
error of that conversation alone.
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
    """A write, as text: what is encoded once is hashed and stored as it is."""

    parts: Sequence[tuple[str, str]]
    removed: Sequence[str]
    done: Sequence[tuple[str, str]]
    messages: Sequence[tuple[str, str]]
    is_over: bool
    digest: str

    @property
    def has_parts_only(self) -> bool:
        return bool(self.parts) and not (self.removed or self.done or self.messages)


def content_of(write: StoreWrite) -> Content:
    """Everything that a write says, checked."""
    parts = [(_name(name, "part"), value) for name, value in sorted(write.parts.items())]
    kept = [(name, encode(value, f"part {name!r}")) for name, value in parts if value is not None]
    removed = [name for name, value in parts if value is None]
    done = [(key_of(key), encode(output, f"the output of {key!r}")) for key, output in write.done]
    messages = [
        (_name(message.topic, "topic"), encode(message.body, f"a message to {message.topic!r}"))
        for message in write.messages
    ]
    size = sum(len(text) for _, text in (*kept, *done, *messages))
    if size > WRITE_BYTES_MAX:
        raise StoreFailed(f"a write of {size} bytes is too large: {WRITE_BYTES_MAX} at most")
    return Content(kept, removed, done, messages, write.is_over, _digest(kept, removed, done, messages, write.is_over))


def _digest(kept: Pairs, removed: Sequence[str], done: Pairs, messages: Pairs, is_over: bool) -> str:
    """Of all of it, in an order and with lengths that tell one write from every other. Texts are long: each is hashed
    as it is."""
    texts = [text for pairs in (kept, done, messages) for pair in pairs for text in pair]
    sizes = [len(text.encode()) for text in (*texts, *removed)]
    hashed = hashlib.sha256(json.dumps([len(kept), len(done), len(messages), len(removed), is_over, sizes]).encode())
    for text in (*texts, *removed):
        hashed.update(text.encode())
    return hashed.hexdigest()


# -- Names


def conversation_of(name: str) -> str:
    return _name(name, "conversation")


def node_of(name: str) -> str:
    return _name(name, "node")


def key_of(key: str) -> str:
    return _name(key, "key", KEY_BYTES_MAX)


def lease_of(lease: Lease) -> Lease:
    _name(lease.conversation, "conversation")
    _name(lease.node, "node")
    return lease


def text_of(text: str, what: str) -> str:
    """Text that may be empty."""
    return _name(text, what, KEY_BYTES_MAX) if text else ""


def ttl_of(ttl_ms: int) -> int:
    if not 0 <= ttl_ms <= TTL_MS_MAX:
        raise StoreFailed(f"a lease of {ttl_ms} ms: it must last from 0 to {TTL_MS_MAX} ms")
    return ttl_ms


def limit_of(limit: int) -> int:
    return max(0, min(limit, 1_000_000))


def _name(name: str, what: str, bytes_max: int = NAME_BYTES_MAX) -> str:
    """A name that SQLite and PostgreSQL keep as it is: no control characters, no half of a surrogate pair."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise StoreFailed(f"{name!r:.80} is no name for a {what}: it must be printable text")
    if len(name.encode()) > bytes_max:
        raise StoreFailed(f"the {what} {name[:20]!r}… is too long: {bytes_max} bytes at most")
    return name


# -- JSON


def encode(value: Any, what: str) -> str:
    """As ASCII, so that even text that no database takes is kept."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise StoreFailed(f"{what} can't be kept as JSON: {problem}") from None


def decode(text: str, conversation: str, what: str) -> Any:
    """Read it back. Damage is told with the place, never with what is written there."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        raise Damaged(
            f"{what} of conversation {conversation!r} can't be read: the row is damaged; "
            f"restore it from a backup, or forget the conversation"
        ) from None
