"""What the processes of a server tell each other about the limits of addresses, as values that can be written as a row
of JSON.

A place is what a socket or a conversation takes up in the limits of its address. Rule: a process reports what it has
granted, what was given back, and wrong credentials. It never reports a refusal, so a refused client causes no traffic
between processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias, get_args


class PlaceKind(StrEnum):
    """What takes up a place in the limits of an address: a socket, or a conversation."""

    SOCKET = "socket"
    UNSPOKEN = "unspoken"  # a conversation in which no turn was said yet
    SPOKEN = "spoken"  # a conversation in which a turn was said


@dataclass(frozen=True, slots=True)
class PlaceHeld:
    """A client at this address has a socket or a conversation in the process that sends this. It takes up one place in
    the limits of the address. `number` identifies the place; if it was reported before, the new `kind` replaces the old
    one. `since_ms` is the time at which the socket or conversation began, in milliseconds since 1970."""

    number: int
    kind: PlaceKind
    address: str
    since_ms: int


@dataclass(frozen=True, slots=True)
class PlaceLeft:
    """The socket or conversation that took up the place with this number has ended."""

    number: int


@dataclass(frozen=True, slots=True)
class BucketUsed:
    """The process has granted this amount of this bucket (a rate limit) to the address."""

    bucket: str
    address: str
    amount: int = 1


@dataclass(frozen=True, slots=True)
class BucketLevel:
    """How much the address has left in this bucket (a rate limit). Sent to a process that has just started."""

    bucket: str
    address: str
    parts: int


@dataclass(frozen=True, slots=True)
class WrongPresented:
    """A client at this address has presented a wrong credential."""

    address: str


@dataclass(frozen=True, slots=True)
class WrongCounted:
    """How many wrong credentials were presented from this address. Sent to a process that has just started."""

    address: str
    count: int


@dataclass(frozen=True, slots=True)
class RoomWanted:
    """The server is full: end the conversation that takes up the place with this number, if the user hasn't said
    anything. Sent only to the process that has the conversation."""

    number: int


LimitNews: TypeAlias = PlaceHeld | PlaceLeft | BucketUsed | BucketLevel | WrongPresented | WrongCounted | RoomWanted
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(LimitNews)}


def row_of(news: LimitNews) -> list[Any]:
    """The news as a row: the name of its class, then its fields."""
    return [type(news).__name__, *(getattr(news, name) for name in news.__slots__)]


def news_of(row: Sequence[Any]) -> LimitNews:
    """Read the news from a row. Raises ValueError if the row contains no valid news."""
    try:
        news: LimitNews = _KINDS[row[0]](*row[1:])
    except (KeyError, TypeError, IndexError):
        raise ValueError("the row isn't news about limits") from None
    return replace(news, kind=PlaceKind(news.kind)) if isinstance(news, PlaceHeld) else news
