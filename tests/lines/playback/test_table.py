"""The playback machine as a page of the documentation."""

from __future__ import annotations

from duologue.lines.playback.rows import ROWS, SECTIONS
from duologue.lines.playback.state import MEANINGS
from duologue.lines.playback.table import markdown


def test_every_place_and_every_row_is_in_the_table() -> None:
    lines = markdown().splitlines()
    assert all(any(f"| `{place.value}` |" in line for line in lines) for place in MEANINGS)
    assert sum(line.count("|") == 7 for line in lines) == len(ROWS) + 2 * len(SECTIONS)


def test_a_row_reads_as_a_sentence() -> None:
    lines = markdown().splitlines()
    assert "| playing, held | `StoppedReported` | is news | same | report played | no clear was sent |" in lines
