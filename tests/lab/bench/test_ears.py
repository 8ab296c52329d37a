"""The bench of the local models measures what it says. No test checks how fast it is."""

from __future__ import annotations

import pytest

from duologue.lab.bench import ears as bench
from tests.needs import needs_model


def test_the_bench_measures_every_number_that_has_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("silero-vad", "smart-turn", "moonshine-tiny", "espeak-ng", "svox-pico", "speech-samples"):
        needs_model(model)
    monkeypatch.setattr(bench, "LAG_S", 1.0)
    monkeypatch.setattr(bench, "LOAD_S", 0.5)
    result = bench.bench_ears(rounds=1)
    differences = {"models_mb", "ears_cpu_ms_1", "ears_cpu_ms_10"}  # 0 if the models are loaded, or between busy tests
    assert all(result[budget.key] > 0 for budget in bench.BUDGETS if budget.key not in differences)
    assert differences <= result.keys()
    assert set(result["within_budget"]) == {budget.key for budget in bench.BUDGETS}
    assert result["stt_rtf"] == max(result["stt_rtf_3s"], result["stt_rtf_15s"])


@pytest.mark.req("T-09.decision")
def test_the_time_of_a_decision_has_a_budget_far_below_five_milliseconds() -> None:
    (budget,) = [budget for budget in bench.BUDGETS if budget.key == "frame_us"]
    assert (budget.limit, budget.unit) == (50, "µs")


def test_a_missed_budget_is_marked_in_the_report() -> None:
    within = {budget.key: budget.key != "vad_ms" for budget in bench.BUDGETS}
    rows = bench.report({budget.key: 1 for budget in bench.BUDGETS} | {"within_budget": within})
    assert [what for what, _, limit in rows if "missed" in limit] == ["VAD of one frame of 32 ms"]
