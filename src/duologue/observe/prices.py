"""What usage costs, by a table of prices that the user fills in.

    currency = "EUR"
    [prices."gpt-4o-mini"]          # a model, or a provider such as "api.openai.com" or "LocalVoice"
    input_tokens = 0.15             # for a million
    output_tokens = 0.60
    [prices."my-tts"]
    characters = 15                 # for a million
    spoken_minutes = 0.01           # for a minute

Duologue doesn't know any prices. Rule: the cost of usage without a price is unknown (None). It is never shown as free.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.core.errors import DuologueError

from .usage import UsageRow

PER_MILLION = ("input_tokens", "cached_tokens", "output_tokens", "characters")
PER_MINUTE = {"heard_minutes": "heard_ms", "spoken_minutes": "spoken_ms"}
_UNITS = (*PER_MILLION, *PER_MINUTE)


class InvalidPrices(DuologueError, ValueError):
    """A table of prices that can't be used. The message lists every problem."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """The prices of models and providers."""

    currency: str
    prices: Mapping[str, Mapping[str, float]]

    def cost_of(self, row: UsageRow) -> float | None:
        """The cost of a row of usage; None if neither the row's model nor its provider has a price."""
        prices = self.prices.get(row.model) or self.prices.get(row.provider)
        if prices is None:
            return None
        fresh = row.input_tokens - row.cached_tokens if "cached_tokens" in prices else row.input_tokens
        amounts = {**{unit: getattr(row, unit) for unit in PER_MILLION}, "input_tokens": fresh}
        tokens = sum(amounts[unit] * prices.get(unit, 0.0) / 1_000_000 for unit in PER_MILLION)
        minutes = sum(getattr(row, ms) * prices.get(unit, 0.0) / 60_000 for unit, ms in PER_MINUTE.items())
        return float(tokens + minutes)

    def cost_of_all(self, rows: Iterable[UsageRow]) -> float | None:
        """The total cost of all rows that have a price; None if no row has a price."""
        costs = [cost for row in rows if (cost := self.cost_of(row)) is not None]
        return sum(costs) if costs else None


def read_prices(path: Path) -> PriceTable:
    """Read a table of prices from a TOML file. Raises InvalidPrices, whose message lists every problem."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise InvalidPrices(f"{path}: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise InvalidPrices(f"{path}: not TOML: {problem}") from None
    problems = [f"unknown key {key!r}; use currency and prices" for key in data if key not in ("currency", "prices")]
    currency, listed = data.get("currency", ""), data.get("prices", {})
    if not isinstance(currency, str) or not currency:
        problems.append('currency is missing: write a text, such as currency = "EUR"')
    if not isinstance(listed, dict) or not listed:
        problems.append('prices are missing: write a table, such as [prices."gpt-4o-mini"]')
        listed = {}
    for name, given in listed.items():
        problems += _problems_of(name, given)
    if problems:
        raise InvalidPrices("\n".join(f"{path}: {problem}" for problem in problems))
    return PriceTable(currency, listed)


def _problems_of(name: str, given: Any) -> list[str]:
    if not isinstance(given, dict) or not given:
        return [f"{name}: write its prices as a table"]
    unknown = [f"{name}: unknown unit {unit!r}; use {', '.join(_UNITS)}" for unit in given if unit not in _UNITS]
    wrong = [
        f"{name}.{unit} must be a number from 0, not {value!r}"
        for unit, value in given.items()
        if unit in _UNITS and (type(value) not in (int, float) or not 0 <= value < float("inf"))
    ]
    return [*unknown, *wrong]
