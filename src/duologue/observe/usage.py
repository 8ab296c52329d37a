"""Adds up what a conversation has used at each provider.

Rule: the sums come only from `Used` signals. They contain counts and names, but no spoken words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from duologue.ports.usage_report import UNITS

from . import signals as sg

ROWS_MAX = 100


@dataclass(frozen=True, slots=True)
class UsageRow:
    """How much of one model of one provider was used."""

    part: str  # llm, stt or tts
    provider: str
    model: str = ""
    input_tokens: int = 0
    cached_tokens: int = 0  # part of the input tokens
    output_tokens: int = 0
    characters: int = 0
    heard_ms: int = 0  # sound that was sent to an STT
    spoken_ms: int = 0  # sound that came from a TTS

    def to_json(self) -> dict[str, Any]:
        """The row as JSON values. Units with the amount 0 are left out."""
        amounts = {unit: getattr(self, unit) for unit in UNITS if getattr(self, unit)}
        return {"part": self.part, "provider": self.provider, "model": self.model, **amounts}


class UsageLedger:
    """Adds up usage by part, provider and model. When there are ROWS_MAX rows, usage of further models is added to one
    row for each part, with the provider "other"."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str, str], dict[str, int]] = {}

    def add(self, used: sg.Used) -> None:
        """Add the amounts of one `Used` signal to the sums."""
        key = (used.part, used.provider, used.model)
        if key not in self._sums and len(self._sums) >= ROWS_MAX:
            key = (used.part, "other", "")
        sums = self._sums.setdefault(key, dict.fromkeys(UNITS, 0))
        for unit in UNITS:
            sums[unit] += getattr(used, unit)

    @property
    def rows(self) -> tuple[UsageRow, ...]:
        """The sums, sorted by part, provider and model."""
        found = sorted(self._sums.items())
        return tuple(UsageRow(part, provider, model, **sums) for (part, provider, model), sums in found)


def total_of(rows: Iterable[UsageRow]) -> dict[str, int]:
    """For each unit, the sum over all rows."""
    listed = list(rows)
    return {unit: sum(getattr(row, unit) for row in listed) for unit in UNITS}
