"""The record of one step, which observers, journals and replays receive.

Rule: a record holds ids, counts and times, and never words.
"""

from __future__ import annotations

from typing import NamedTuple

from .effects import Effect
from .events import Event
from .state import State


class StepRecord(NamedTuple):
    """The event, the states before and after it, the effects, and the rows and rules that fired."""

    event: Event
    before: State
    after: State
    effects: tuple[Effect, ...]
    fired: tuple[int, ...]  # a row as its index, a rule as -1 - its index
