"""The hearing machine: a state machine that converts reports from the ears to events of the conversation machine (the
state machine in `core`). It is pure: the same inputs always give the same results."""

from .machine import step
from .state import HearingState, initial_hearing

__all__ = ["HearingState", "initial_hearing", "step"]
