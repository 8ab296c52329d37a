"""A renderable as the text of a terminal."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType


def shown(what: RenderableType, width: int = 100, colour: bool = False, encoding: str = "utf-8") -> str:
    buffer = io.BytesIO()
    out = io.TextIOWrapper(buffer, encoding=encoding)
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="truecolor" if colour else None, legacy_windows=False
    )
    console.print(what)
    out.flush()
    return buffer.getvalue().decode(encoding)
