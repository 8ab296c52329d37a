"""The ownership machine as a page of the documentation."""

from __future__ import annotations

from duologue.server.ownership.places import Place
from duologue.server.ownership.rows import ROWS, SECTIONS
from duologue.server.ownership.table import markdown


def test_every_place_and_every_row_is_in_the_table() -> None:
    lines = markdown().splitlines()
    assert all(any(line.startswith(f"| `{place.value}` |") for line in lines) for place in Place)
    assert sum(line.count("|") == 7 for line in lines) == len(ROWS) + 2 * len(SECTIONS)
    assert "| handing over | `SavingFinished` |  | elsewhere | abandon |  |" in lines


def test_a_row_reads_as_a_sentence() -> None:
    assert "| kept | `Heartbeat` | lease has ended | lapsed | renew, report lapse |  |" in markdown().splitlines()
