"""The record of one step of the state machine. Observers, journals and replays get these records.

Rule: a record holds ids, counts and times, and never words.
"""

from __future__ import annotations

from typing import NamedTuple

from .effects import Effect
from .events import Event, PlaybackProgressed
from .state import State


class StepRecord(NamedTuple):
    """One step: the event, the states before and after it, the effects, and the rows and rules that were applied."""

    event: Event
    before: State
    after: State
    effects: tuple[Effect, ...]
    fired: tuple[int, ...]  # a row as its index, a rule as -1 - its index

    @property
    def is_only_progress(self) -> bool:
        """Did this step only record that more of the agent's sound was heard? Then it has changed no region, no count
        of turns and nothing else that most observers follow. While the agent speaks, nearly all steps are like that."""
        return type(self.event) is PlaybackProgressed and len(self.fired) == 1 and not self.effects
