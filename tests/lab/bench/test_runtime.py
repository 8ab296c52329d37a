"""The bench of the runtime measures what it says. No test checks how fast it is."""

from __future__ import annotations

from duologue.lab.bench.runtime import (
    BUDGETS,
    barge_in_cpu_ms,
    bench_runtime,
    first_audio,
    import_cost,
    memory,
    report,
    session_second,
)


def test_the_bench_measures_every_number_that_has_a_budget() -> None:
    steps: list[str] = []
    result = bench_runtime(calls=2, progress=steps.append)
    assert all(result[budget.key] > 0 for budget in BUDGETS if budget.key != "barge_in_chunks_after")
    assert result["barge_in_chunks_after"] == 0
    assert set(result["within_budget"]) == {budget.key for budget in BUDGETS}
    assert "2 calls with faults" in steps
    result["import_s"], result["within_budget"]["import_s"] = 9.0, False
    assert report(result)[-1] == ("import duologue, in a fresh process", "9.00 s", "≤ 0.15 s (missed)")


def test_each_part_can_be_measured_alone_at_a_small_size() -> None:
    audio = first_audio(turns=2)
    assert set(audio) == {"first_audio_cpu_ms_p50", "first_audio_cpu_ms_first_turn"}
    assert min(audio.values()) > 0
    assert barge_in_cpu_ms(times=2) > 0
    assert session_second(sessions=1, seconds=10) > 0
    assert memory(conversations=2) > 1
    assert import_cost(runs=1) > 0
