"""A tool with many kinds of parameters, and how to run tools in tests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, field_validator

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, ServiceError
from duologue.workers import as_worker, tool
from tests.limits import WAIT_S
from tests.workers.worker_fakes import NotedJob


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Guest(BaseModel):
    name: str
    age: int = 18

    @field_validator("name")
    @classmethod
    def is_known(cls, name: str) -> str:
        if name == "nobody":
            raise ValueError("nobody is not a guest")
        return name


@dataclass
class Place:
    street: str
    floor: int = 0


@tool
def book(
    day: date,
    guests: list[Guest],
    where: Place,
    colour: Colour = Colour.RED,
    meal: Literal["lunch", "dinner"] = "dinner",
    note: Optional[str] = None,  # noqa: UP045 - people still write it
    seats: Annotated[int, Field(ge=1, le=12, description="How many chairs.")] = 2,
    extras: dict[str, float] | None = None,
) -> str:
    """Book a table
    for some guests.

    Only on weekdays.

    Args:
        day: The day of the visit,
            in the local calendar.
        note (str, optional): Anything else.
        seats: Not this, the hint says it better.

    Returns:
        day: not a parameter.
    """
    return f"{day:%d.%m.} {[g.name for g in guests]} {where} {colour} {meal} {note} {seats} {extras}"


def run(work: object, arguments: dict[str, Any], job: Job | None = None) -> Any:
    async def main() -> object:
        return await asyncio.wait_for(as_worker(work).run(arguments, job or NotedJob()), WAIT_S)

    return asyncio.run(main())


def refusal(work: object, arguments: dict[str, Any]) -> str:
    with pytest.raises(ServiceError) as refused:
        run(work, arguments)
    assert refused.value.error is ErrorClass.INVALID_ARGS
    return str(refused.value)
