"""What `duologue bench panel` reports; tests/browser measures with a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core.errors import DuologueError
from tests.needs import needs_package


@pytest.fixture
def bench() -> Any:
    needs_package("playwright", "pip install 'duologue[dev]'")
    from duologue.lab.bench import panel

    return panel


def test_without_a_browser_it_says_what_to_do(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_chromium", lambda: "")
    with pytest.raises(DuologueError, match="install it, or set DUOLOGUE_CHROMIUM"):
        bench.bench_panel(turns=1)


def test_a_missed_budget_is_marked_in_the_report(bench: Any) -> None:
    shown = {"transitions": 9, "label_ms_p50": 20.0, "audio_start_ms_p50": 30.0}
    held = {"hold_quanta_p50": 1.0, "hold_quanta_max": 2.5}
    labels = {"label_ms_p95": 40.0, "label_ms_max": 200.0}
    within = {budget.key: budget.holds(labels[budget.key]) for budget in bench.BUDGETS}
    rows = bench.report(shown | held | labels | {"within_budget": within})
    assert rows[:2] == [
        ("state sent → label shown, 95 %", "40.00 ms", "≤ 150 ms"),
        ("state sent → label shown, slowest", "200.00 ms", "≤ 150 ms (missed)"),
    ]
    assert ("hold command → silence, median and slowest", "1.0, 2.5 quanta", "") in rows
