"""Spanish as a language pack."""

from __future__ import annotations

from pathlib import Path

from ..grammar.build_pack import build_pack

SPANISH = build_pack(Path(__file__).parent, "Spanish")
