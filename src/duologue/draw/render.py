"""Renders any diagram by its name and format."""

from __future__ import annotations

from duologue.core.errors import DuologueError
from duologue.core.views import VIEWS

from .graph import REGIONS, Diagram, region_diagram, view_diagram
from .mermaid import machine_mermaid, to_mermaid
from .svg import machine_svg, to_svg

MACHINE_NAME = "machine"
FORMATS = ("mermaid", "svg")


def names() -> tuple[str, ...]:
    """The names of all diagrams."""
    return (MACHINE_NAME, *REGIONS, *VIEWS)


def render(name: str | None = None, format: str = "svg") -> str:  # noqa: A002 - the word that a caller expects
    """The diagram of a region or a view as text, in this format. If no name is given, this is the diagram of the whole
    conversation machine."""
    if format not in FORMATS:
        raise DuologueError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    if name is None or name == MACHINE_NAME:
        return machine_mermaid() if format == "mermaid" else machine_svg()
    diagram = diagram_of(name)
    return to_mermaid(diagram) if format == "mermaid" else to_svg(diagram)


def diagram_of(name: str) -> Diagram:
    """The diagram of the region or view with this name. Raises DuologueError if there is no such diagram."""
    if name in REGIONS:
        return region_diagram(REGIONS[name])
    if name in VIEWS:
        return view_diagram(VIEWS[name])
    raise DuologueError(f"no diagram is called {name!r}: use one of {', '.join(names())}")
