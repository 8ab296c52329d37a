"""The hearing machine: converts reports of the ears to events of the conversation machine. Pure, like the core."""

from .machine import step
from .state import HearingState, initial_hearing

__all__ = ["HearingState", "initial_hearing", "step"]
