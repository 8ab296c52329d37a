"""The state machine of a conversation, as a pure function: `step(state, event) -> (state, effects)`. Each event carries
its time."""

from .machine import MACHINE, step
from .settings import PROFILES, Settings, profile
from .state import State, initial, next_deadline

__all__ = ["MACHINE", "PROFILES", "Settings", "State", "initial", "next_deadline", "profile", "step"]
