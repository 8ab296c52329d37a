"""The hearing machine: from what the ears report to what the conversation machine is told. Pure, like the core."""

from .machine import step
from .state import HearingState, initial_hearing

__all__ = ["HearingState", "initial_hearing", "step"]
