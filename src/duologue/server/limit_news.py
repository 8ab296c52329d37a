"""What the processes of a server tell each other about the limits of addresses, as values, and how each is written as a
row of JSON.

Rule: only what was granted, given back or presented wrongly is told. A refusal is never told, so that a client that is
refused causes no traffic between processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias, get_args


class PlaceKind(StrEnum):
    """What an address holds one place for."""

    SOCKET = "socket"
    UNSPOKEN = "unspoken"  # a conversation in which no turn was said yet
    SPOKEN = "spoken"  # a conversation in which a turn was said


@dataclass(frozen=True, slots=True)
class PlaceHeld:
    """An address holds this place in the process that tells it. The same number with another kind replaces what was
    told before. `since_ms` is the time of day at which it began, since 1970."""

    number: int
    kind: PlaceKind
    address: str
    since_ms: int


@dataclass(frozen=True, slots=True)
class PlaceLeft:
    """The place with this number is free again."""

    number: int


@dataclass(frozen=True, slots=True)
class BucketUsed:
    """The process has granted one unit of this bucket to the address."""

    bucket: str
    address: str


@dataclass(frozen=True, slots=True)
class BucketLevel:
    """How many parts the address has left in this bucket. Told to a process that has just started."""

    bucket: str
    address: str
    parts: int


@dataclass(frozen=True, slots=True)
class WrongPresented:
    """A client at this address has presented a wrong credential."""

    address: str


@dataclass(frozen=True, slots=True)
class WrongCounted:
    """How many wrong credentials were presented from this address. Told to a process that has just started."""

    address: str
    count: int


@dataclass(frozen=True, slots=True)
class RoomWanted:
    """The server is full: please end the conversation that holds the place with this number, if the user hasn't said
    anything. Told only to the process that has the conversation."""

    number: int


LimitNews: TypeAlias = PlaceHeld | PlaceLeft | BucketUsed | BucketLevel | WrongPresented | WrongCounted | RoomWanted
_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(LimitNews)}


def row_of(news: LimitNews) -> list[Any]:
    """The news as a row: the name of its class, then its fields."""
    return [type(news).__name__, *(getattr(news, name) for name in news.__slots__)]


def news_of(row: Sequence[Any]) -> LimitNews:
    """The news in a row. Raises ValueError if the row has none."""
    try:
        news: LimitNews = _KINDS[row[0]](*row[1:])
    except (KeyError, TypeError, IndexError):
        raise ValueError("the row has no news about limits") from None
    return replace(news, kind=PlaceKind(news.kind)) if isinstance(news, PlaceHeld) else news
