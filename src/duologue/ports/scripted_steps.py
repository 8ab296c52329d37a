"""Steps that a scripted service can take besides its own: wait, fail, hang.

Rule: a script with the same seed takes the same time, whoever runs it.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass

from duologue.core.leaves import ErrorClass

from .failure import ServiceError


@dataclass(frozen=True, slots=True)
class Delay:
    """Wait; `jitter_ms` adds up to so much more."""

    ms: int
    jitter_ms: int = 0


@dataclass(frozen=True, slots=True)
class Fail:
    """Fail like this."""

    error: ErrorClass = ErrorClass.SERVER_ERROR
    message: str = "scripted failure"


@dataclass(frozen=True, slots=True)
class Hang:
    """Never come back."""


Step = Delay | Fail | Hang


async def take(step: Step, dice: random.Random) -> None:
    """Do what the step says."""
    match step:
        case Delay():
            await asyncio.sleep((step.ms + dice.randint(0, step.jitter_ms)) / 1000)
        case Fail():
            raise ServiceError(step.error, step.message)
        case Hang():
            await asyncio.get_running_loop().create_future()
