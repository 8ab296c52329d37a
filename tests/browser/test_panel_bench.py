"""`duologue bench panel` measures the right thing. How fast it is, no test asks: that depends on the machine."""

from __future__ import annotations

import pytest

from duologue.lab.bench.panel import BUDGETS, bench_panel, report


@pytest.mark.req("C-UI")
@pytest.mark.usefixtures("chromium", "one_at_a_time")
def test_every_transition_of_the_bench_is_paired_with_the_label_that_showed_it() -> None:
    result = bench_panel(turns=4)
    assert result["transitions"] >= 4 * 3  # the page showed exactly the states that the server told, or it raises
    assert 0 < result["label_ms_p50"] <= result["label_ms_p95"] <= result["label_ms_max"]
    assert result["audio_starts"] == 4
    assert result["audio_start_ms_p50"] > 0
    assert result["holds"] == 2
    assert len(report(result)) == len(BUDGETS) + 3
