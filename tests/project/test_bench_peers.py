"""The comparison with other frameworks is fair in its order, and names where Duologue is behind.

No framework runs here.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TOOLS = Path(__file__).parent.parent.parent / "tools"
NAMES = ["pipecat", "livekit", "duologue"]


def _load(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"peers_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return _load(TOOLS / "bench_peers.py", monkeypatch)


@pytest.fixture
def scenarios(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return _load(TOOLS / "peers" / "scenarios.py", monkeypatch)


def _figures(tool: ModuleType, **ours: float) -> dict[str, dict[str, list[float]]]:
    """Everyone has 2 everywhere, but Duologue has 1 and what is given."""
    found: dict[str, dict[str, list[float]]] = {
        name: {row.key: [2.0, 2.0, 2.0] for row in tool.ROWS} for name in ("pipecat", "livekit")
    }
    found["duologue"] = {row.key: [ours.get(row.key, 1.0)] * 3 for row in tool.ROWS}
    return found


def test_every_framework_is_first_second_and_last_equally_often(tool: ModuleType) -> None:
    rounds = tool.alternation(NAMES, 6)
    for place in range(3):
        assert sorted(order[place] for order in rounds) == sorted(NAMES * 2)
    assert all(sorted(order) == sorted(NAMES) for order in rounds)


def test_a_figure_is_shown_with_its_median_and_its_spread(tool: ModuleType) -> None:
    row = tool.Row("how long", "x", "ms", 1)
    assert tool.shown([3.0, 1.0, 1.21], row) == "1.2 ms (1.0 to 3.0)"
    assert tool.shown([1.01, 1.02, 1.03], row) == "1.0 ms"
    assert tool.shown([1200.0], tool.Row("how many", "x", "", 0)) == "1,200"


def test_a_row_in_which_another_one_is_better_is_named_below_the_table(tool: ModuleType) -> None:
    figures = _figures(tool, cough_300_delay_ms=838.0)
    text = tool.table(figures)
    assert "Where Duologue is behind:" in text
    assert (
        "- cough of 300 ms: the answer is heard later by: Pipecat 2 ms and LiveKit Agents 2 ms, Duologue 838 ms" in text
    )
    assert text.count("\n- ") == 1


def test_differences_that_can_not_be_told_apart_are_not_named(tool: ModuleType) -> None:
    assert tool.behind(tool.Row("x", "x", "ms", 1, 0.1), {"pipecat": 2.0, "duologue": 2.15}) is None
    assert tool.behind(tool.Row("x", "x", "ms", 1, 0.1), {"pipecat": 0.1, "duologue": 0.15}) is None
    assert tool.behind(tool.Row("x", "x", "ms", 1, 0.1), {"pipecat": 2.0, "duologue": 3.0}) is not None
    assert "Duologue is behind in none of these." in tool.table(_figures(tool))


def test_the_table_replaces_the_one_on_the_page_and_nothing_else(
    tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- peers -->\nan earlier table\n<!-- /peers -->\nafter\n")
    monkeypatch.setattr(tool, "PAGE", page)
    tool.write_page(_figures(tool), 3, load=9.0)
    text = page.read_text()
    assert text.startswith("before\n<!-- peers -->\n")
    assert text.endswith("<!-- /peers -->\nafter\n")
    assert "an earlier table" not in text
    assert "on a busy machine" in text
    assert "| Pipecat 1.14.0 | LiveKit Agents 1.8.9 | Duologue" in text
    tool.write_page(_figures(tool), 3, load=0.1)
    assert "busy" not in page.read_text()


def test_the_page_has_a_place_for_the_table(tool: ModuleType) -> None:
    assert tool.PAGE.read_text().count("<!-- peers -->") == 1
    assert tool.PAGE.read_text().count("<!-- /peers -->") == 1


def test_each_framework_has_an_adapter_and_packages(tool: ModuleType) -> None:
    for name in tool.PEERS:
        assert (tool.ADAPTERS / f"{name}_adapter.py").is_file()
        assert tool.requirements(name)


def test_a_microphone_speaks_at_the_beginning_of_each_turn(scenarios: ModuleType) -> None:
    speech = b"\x01\x20" * scenarios.RATE_HZ
    heard = scenarios.microphone(speech, 2 * scenarios.TURN_S, place=3)
    turn, spoken = int(scenarios.TURN_S * 50), int(scenarios.SPEECH_S * 50)
    assert len(heard) == 2 * turn
    assert {len(pcm) for pcm in heard} == {scenarios.PIECE_BYTES}
    loud = [place for place, pcm in enumerate(heard) if b"\x01\x20" in pcm]
    assert loud == [*range(spoken), *range(turn, turn + spoken)]


def test_waiting_for_what_never_happens_ends(scenarios: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "WAIT_S_MAX", 0.01)

    async def main() -> Any:
        await scenarios.Wire().until(lambda: False, "the end of the world")

    with pytest.raises(TimeoutError):
        asyncio.run(main())
