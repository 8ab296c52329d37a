"""Decides whether the network path to a client works, from the times at which packets arrive. The rows of a table
define the decisions.

A client with a microphone sends a packet every 20 ms, so a path is known to be broken long before ICE notices. Rule: a
quiet path may recover by itself. A lost path never recovers, so the client has to connect again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

CONNECT_MS_MAX = 15_000  # from the answer to the first connection
QUIET_MS = 1_000  # a path is quiet after this long without a packet of the client's sound
LOST_MS = 30_000


class PathPlace(Enum):
    """The state of the network path."""

    NEW = "new"
    UP = "up"
    QUIET = "quiet"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class PathConnected:
    """The connection is made: ICE and DTLS have succeeded."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class PacketCame:
    """A packet of the client's sound has arrived."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class PathLooked:
    now_ms: int


@dataclass(frozen=True, slots=True)
class PathFailed:
    """ICE or DTLS has failed, or the client has closed the connection."""

    now_ms: int


PathInput: TypeAlias = PathConnected | PacketCame | PathLooked | PathFailed


@dataclass(frozen=True, slots=True)
class PathState:
    place: PathPlace = PathPlace.NEW
    since_ms: int = 0  # when the connection was answered
    packet_ms: int | None = None  # when the newest packet came


def is_too_late(s: PathState, given: PathLooked) -> bool:
    return given.now_ms - s.since_ms >= CONNECT_MS_MAX


def is_quiet(s: PathState, given: PathLooked) -> bool:
    return s.packet_ms is not None and given.now_ms - s.packet_ms >= QUIET_MS


def is_quiet_for_long(s: PathState, given: PathLooked) -> bool:
    return s.packet_ms is not None and given.now_ms - s.packet_ms >= LOST_MS


class PathRow(NamedTuple):
    sources: tuple[PathPlace, ...]
    on: type
    target: PathPlace
    when: Callable[[PathState, Any], bool] | None = None


_P = PathPlace
ROWS: tuple[PathRow, ...] = (
    PathRow((_P.NEW,), PathConnected, _P.UP),
    PathRow((_P.NEW,), PathLooked, _P.LOST, is_too_late),
    PathRow((_P.UP,), PathLooked, _P.QUIET, is_quiet),
    PathRow((_P.QUIET,), PacketCame, _P.UP),
    PathRow((_P.QUIET,), PathLooked, _P.LOST, is_quiet_for_long),
    PathRow((_P.NEW, _P.UP, _P.QUIET), PathFailed, _P.LOST),
)


def step(s: PathState, given: PathInput) -> PathState:
    """The state after this input; unchanged if no row of the table fits."""
    if s.place is PathPlace.UP and type(given) is PacketCame:  # fifty times a second, and no row is for it
        return PathState(PathPlace.UP, s.since_ms, given.now_ms)
    found = next(
        (row for row in ROWS if s.place in row.sources and isinstance(given, row.on) and _holds(row, s, given)), None
    )
    place = found.target if found is not None else s.place
    if isinstance(given, PacketCame):
        return replace(s, place=place, packet_ms=given.now_ms)
    return s if place is s.place else replace(s, place=place)


def _holds(row: PathRow, s: PathState, given: PathInput) -> bool:
    return row.when is None or row.when(s, given)
