"""The parts of a view: a vocabulary of states, a table of the moves between them, and our amendments to this table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..state import State

Move = tuple[str, str]


class Amendment(NamedTuple):
    """A move that the state machine makes although it isn't in the vocabulary's table, with the reason."""

    source: str
    target: str
    why: str


class Impossible(NamedTuple):
    """A move that the vocabulary's table allows but the state machine never makes, with the reason."""

    source: str
    target: str
    why: str


class View(NamedTuple):
    """One vocabulary for the state of a conversation. `see` returns the vocabulary's name for a state."""

    name: str
    states: tuple[str, ...]
    see: Callable[[State], str]
    table: dict[str, tuple[str, ...]]  # the moves that the vocabulary's own definition allows
    amendments: tuple[Amendment, ...]
    impossible: tuple[Impossible, ...]

    def source_moves(self) -> tuple[Move, ...]:
        """The moves of the vocabulary's own table, as pairs of source and target."""
        return tuple((source, target) for source, targets in self.table.items() for target in targets)

    def allowed(self) -> frozenset[Move]:
        """Every move that the table or an amendment allows."""
        added = ((amendment.source, amendment.target) for amendment in self.amendments)
        return frozenset((*self.source_moves(), *added))
