"""German as a language pack."""

from __future__ import annotations

from pathlib import Path

from ..grammar.build_pack import build_pack
from .compound_numbers import compound_numbers

GERMAN = build_pack(Path(__file__).parent, "German", compound_numbers)
