"""Draws a conversation as one self-contained HTML file: lanes over time, metrics, and the causes of the transitions."""

from __future__ import annotations

from .page import draw_picture

__all__ = ["draw_picture"]
