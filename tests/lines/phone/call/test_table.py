"""The machine of a telephone call as a page of the documentation."""

from __future__ import annotations

from duologue.lines.phone.call.rows import CALL_ROWS, CALL_SECTIONS
from duologue.lines.phone.call.state import STAGE_MEANINGS
from duologue.lines.phone.call.table import markdown


def test_every_stage_and_every_row_is_in_the_table() -> None:
    lines = markdown().splitlines()
    assert all(f"| {stage.value} | {meaning} |" in lines for stage, meaning in STAGE_MEANINGS.items())
    assert sum(line.count("|") == 8 for line in lines) == len(CALL_ROWS) + 2 * len(CALL_SECTIONS)
