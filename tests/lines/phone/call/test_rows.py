"""The rows of a telephone call, as data."""

from __future__ import annotations

from dataclasses import fields

from duologue.lines.phone.call.rows import CALL_ROWS
from duologue.lines.phone.call.state import CallPolicy, CallStage


def test_no_row_leads_out_of_the_end_or_back_to_the_beginning() -> None:
    for row in CALL_ROWS:
        assert CallStage.ENDED not in row.sources or row.target is CallStage.ENDED
        assert row.target is not CallStage.NEW


def test_a_limit_is_a_setting() -> None:
    names = {field.name for field in fields(CallPolicy)}
    assert {row.limit for row in CALL_ROWS if row.limit} <= names


def test_a_row_has_a_name() -> None:
    names = [row.name for row in CALL_ROWS]
    assert "held + CallResumeAsked -> talking" in names
    assert len(set(names)) == len(names)
