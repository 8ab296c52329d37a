"""Duologue: a runtime for voice agents whose conversations never get stuck."""

from duologue.core.machine import MACHINE, step
from duologue.core.settings import PROFILES, Settings, profile
from duologue.core.state import State, initial, next_deadline

__version__ = "0.1.0"
__all__ = ["MACHINE", "PROFILES", "Settings", "State", "initial", "next_deadline", "profile", "step"]
