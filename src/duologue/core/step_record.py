"""One step of a conversation, whole: what everything that watches is given.

Rule: a moment holds ids, counts and times, and never a word.
"""

from __future__ import annotations

from typing import NamedTuple

from .effects import Effect
from .events import Event
from .state import State


class StepRecord(NamedTuple):
    """What happened, where it led, what is to be done about it, and which rows said so."""

    event: Event
    before: State
    after: State
    effects: tuple[Effect, ...]
    fired: tuple[int, ...]  # rows by index, rules by -1 - index
