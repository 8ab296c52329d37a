"""Steps that every scripted service understands: wait, fail, hang.

Rule: with the same seed for its random delays, a script always takes the same time.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from duologue.core.leaves import ErrorClass

from .failure import ServiceError


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait for `ms`, plus a random time up to `jitter_ms`."""

    ms: int
    jitter_ms: int = 0


@dataclass(frozen=True, slots=True)
class Fail:
    """Raise a ServiceError of this class."""

    error: ErrorClass = ErrorClass.SERVER_ERROR
    message: str = "scripted failure"


@dataclass(frozen=True, slots=True)
class Hang:
    """Never return."""


Step = Delay | Fail | Hang


async def take(step: Step, dice: random.Random) -> None:
    """Perform the step. `dice` is a random generator with a seed, which chooses the random part of a delay."""
    match step:
        case Delay():
            await asyncio.sleep((step.ms + dice.randint(0, step.jitter_ms)) / 1000)
        case Fail():
            raise ServiceError(step.error, step.message)
        case Hang():
            await asyncio.get_running_loop().create_future()
