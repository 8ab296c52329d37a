"""Output for any terminal: ASCII where there is no Unicode, and no blanks at the end of a line."""

from __future__ import annotations

import pytest
from rich.table import Table
from rich.text import Text

from duologue.cli.terminal_output import Legible
from tests.cli.rendered import shown


def test_no_line_ends_in_blanks() -> None:
    grid = Table.grid(padding=(0, 4), expand=True)
    grid.add_row("left", "")
    grid.add_row("left again", "right")
    assert all(line == line.rstrip() for line in shown(Legible(grid), 60).splitlines())


def test_blanks_with_a_background_stay() -> None:
    text = shown(Legible(Text("now  ", style="white on blue")), 60, colour=True)
    assert "now  " in text


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "→"), ("ascii", ">")])
def test_marks_become_ascii_if_the_terminal_has_no_unicode(encoding: str, mark: str) -> None:
    assert shown(Legible(Text("idle → listening")), 60, encoding=encoding) == f"idle {mark} listening\n"
