"""What dentist_es.yaml does: the functions of dentist.py."""

from __future__ import annotations

from dentist import book_visit, move_visit

__all__ = ["book_visit", "move_visit"]
