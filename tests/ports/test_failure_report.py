"""A failure goes to the report of the task that it happened in, or to the log."""

from __future__ import annotations

import asyncio
import logging

import pytest

from duologue.ports.failure_report import report_failure, report_failures_to


def test_without_a_report_the_log_gets_the_class_and_the_traceback_only_at_debug_level(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG, "duologue"):
        report_failure("action book", KeyError("Anna"))
    warned, detail = caplog.records
    assert (warned.levelname, warned.getMessage()) == ("WARNING", "action book failed: KeyError")
    assert detail.levelname == "DEBUG"
    assert detail.exc_info


def test_a_child_task_reports_where_its_parent_does_and_other_tasks_do_not(caplog: pytest.LogCaptureFixture) -> None:
    reported: list[str] = []

    async def child() -> None:
        report_failure("nlu", ValueError())

    async def parent() -> None:
        report_failures_to(lambda where, failure: reported.append(f"{where}: {type(failure).__name__}"))
        await asyncio.create_task(child())

    async def both() -> None:
        await asyncio.create_task(parent())
        await child()

    asyncio.run(both())
    assert reported == ["nlu: ValueError"]
    assert [record.getMessage() for record in caplog.records] == ["nlu failed: ValueError"]
