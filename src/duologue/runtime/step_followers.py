"""The parts of a conversation that are told about each step of the state machine, in a fixed order.

Rule: if one part fails, the failure is reported, and the other parts are told all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from duologue.core.step_record import StepRecord

from .driver import ReportFailure


class StepFollowers:
    """Calls each function of `parts` with a step. The functions are keyword arguments; if one fails, its keyword is
    reported as the name of the part."""

    def __init__(self, report_failure: ReportFailure, **parts: Callable[[StepRecord], object]) -> None:
        self._report_failure = report_failure
        self._parts = tuple(parts.items())

    def tell(self, record: StepRecord) -> None:
        for where, follow in self._parts:
            try:
                follow(record)
            except (Exception, asyncio.CancelledError) as failure:  # noqa: BLE001 - the conversation goes on
                self._report_failure(where, failure)
