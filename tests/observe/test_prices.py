"""Prices are the user's, and what has no price has no cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.observe.prices import InvalidPrices, PriceTable, read_prices
from duologue.observe.usage import UsageRow

TABLE = """
currency = "EUR"
[prices."small"]
input_tokens = 2
cached_tokens = 1
output_tokens = 10
[prices."LocalVoice"]
characters = 15
spoken_minutes = 0.5
"""


def table(tmp_path: Path, text: str = TABLE) -> PriceTable:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return read_prices(path)


def test_tokens_are_priced_by_the_million_and_sound_by_the_minute(tmp_path: Path) -> None:
    prices = table(tmp_path)
    llm = UsageRow("llm", "host", "small", 1_000_000, 500_000, 100_000)
    assert prices.cost_of(llm) == pytest.approx(0.5 * 2 + 0.5 * 1 + 0.1 * 10)
    voice = UsageRow("tts", "LocalVoice", characters=1_000, spoken_ms=120_000)
    assert prices.cost_of(voice) == pytest.approx(0.015 + 1.0)
    assert prices.cost_of_all([llm, voice]) == pytest.approx(2.5 + 1.015)


def test_what_has_no_price_is_not_free(tmp_path: Path) -> None:
    prices = table(tmp_path)
    unknown = UsageRow("llm", "host", "large", 10)
    assert prices.cost_of(unknown) is None
    assert prices.cost_of_all([unknown]) is None


def test_all_problems_of_a_table_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrices) as refused:
        table(tmp_path, "curency = 'EUR'\n[prices.small]\ntokens = 1\ninput_tokens = -1\n[prices.empty]\n")
    lines = [line.partition(".toml: ")[2] for line in str(refused.value).splitlines()]
    assert lines[0].startswith("unknown key 'curency'")
    assert lines[1].startswith("currency is missing")
    assert lines[2].startswith("small: unknown unit 'tokens'")
    assert lines[3] == "small.input_tokens must be a number from 0, not -1"
    assert lines[4] == "empty: write its prices as a table"


@pytest.mark.parametrize(("text", "problem"), [("a = [", "not TOML"), ("currency = 'EUR'", "prices are missing")])
def test_a_file_without_prices_says_so(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidPrices, match=problem):
        table(tmp_path, text)
    with pytest.raises(InvalidPrices, match="No such file"):
        read_prices(tmp_path / "none.toml")
