"""The pure conversation machine: `step(state, event) -> (state, effects)`. The time comes with each event."""

from .machine import MACHINE, step
from .settings import PROFILES, Settings, profile
from .state import State, initial, next_deadline

__all__ = ["MACHINE", "PROFILES", "Settings", "State", "initial", "next_deadline", "profile", "step"]
