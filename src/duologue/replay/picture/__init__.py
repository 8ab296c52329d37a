"""A conversation as one HTML file that needs nothing else: lanes over time, numbers, and causes."""

from __future__ import annotations

from .page import draw_picture

__all__ = ["draw_picture"]
