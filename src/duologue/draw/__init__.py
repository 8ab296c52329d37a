"""Diagrams of the conversation machine, drawn from its rows, rules and views. The entry point is `render`."""

from __future__ import annotations

from .graph import REGIONS, Diagram, Edge, StateNode, region_diagram, view_diagram
from .mermaid import machine_mermaid, to_mermaid
from .render import FORMATS, names, render
from .svg import machine_svg, to_svg

__all__ = [
    "FORMATS",
    "REGIONS",
    "Diagram",
    "Edge",
    "StateNode",
    "machine_mermaid",
    "machine_svg",
    "names",
    "region_diagram",
    "render",
    "to_mermaid",
    "to_svg",
    "view_diagram",
]
