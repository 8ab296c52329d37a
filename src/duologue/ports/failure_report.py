"""Reports failures from code that doesn't know its conversation, such as an action of a flow or an NLU.

A conversation sets its own report function for the tasks that it starts, and tasks that they start inherit it. Rule:
without a report function, the class of the failure is logged as a warning, and its traceback at the level debug.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TypeAlias

FailureReport: TypeAlias = Callable[[str, BaseException], None]

LOG = logging.getLogger("duologue")
_REPORT: ContextVar[FailureReport | None] = ContextVar("duologue_failure_report", default=None)


def report_failures_to(report: FailureReport | None) -> Token[FailureReport | None]:
    """From now on, `report_failure` calls this function in the current task and in tasks that it starts."""
    return _REPORT.set(report)


def report_failure(where: str, failure: BaseException) -> None:
    """Report a failure that doesn't end the conversation. `where` names what failed, such as "action book"; it must
    contain no words of the conversation."""
    report = _REPORT.get()
    if report is not None:
        report(where, failure)
        return
    LOG.warning("%s failed: %s", where, type(failure).__name__)
    LOG.debug("%s failed", where, exc_info=failure)
