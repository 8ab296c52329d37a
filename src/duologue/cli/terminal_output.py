"""Output that works in any terminal and in any file.

Marks become ASCII if the terminal has no Unicode, and no line ends in blanks, so that copied or piped
output is clean.
"""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment

from .terminal_style import PLAIN_MARKS


class Legible:
    """Renders its content only with characters that the console supports."""

    def __init__(self, inner: RenderableType) -> None:
        self.inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in Segment.split_lines(console.render(self.inner, options)):
            for text, style, control in _without_blanks_at_end(line):
                yield Segment(text.translate(PLAIN_MARKS) if options.ascii_only else text, style, control)
            yield Segment.line()


def _without_blanks_at_end(line: list[Segment]) -> list[Segment]:
    line = list(line)
    while line and not line[-1].text.strip() and not _is_painted(line[-1]):
        line.pop()
    if line and not _is_painted(line[-1]):
        line[-1] = line[-1]._replace(text=line[-1].text.rstrip())
    return line


def _is_painted(segment: Segment) -> bool:
    """Would the blanks of this segment be seen, because it has a background colour?"""
    return segment.style is not None and segment.style.bgcolor is not None
