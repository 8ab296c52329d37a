"""Metrics of several processes, added up."""

from __future__ import annotations

import pytest

from duologue.observe.metric_sums import MetricSums, add_up, read_families, write_families
from duologue.observe.prometheus import Histogram, Tally

TEXT = """# HELP duologue_turns_total Turns.
# TYPE duologue_turns_total counter
duologue_turns_total {turns}
# HELP duologue_conversations_active Running.
# TYPE duologue_conversations_active gauge
duologue_conversations_active {active}
# HELP duologue_draining Stopping.
# TYPE duologue_draining gauge
duologue_draining {draining}
"""


def text(turns: int, active: int = 0, draining: int = 0) -> str:
    return TEXT.format(turns=turns, active=active, draining=draining)


def test_counts_and_gauges_are_added_and_a_state_is_not() -> None:
    sums = MetricSums()
    sums.report(0, text(3, 2, 1))
    sums.report(1, text(4, 1, 1))
    assert sums.text() == text(7, 3, 1)


def test_a_sum_never_falls_because_a_process_ends() -> None:
    sums = MetricSums()
    sums.report(0, text(3, 2))
    sums.report(1, text(4, 1))
    sums.end(1)
    assert sums.text() == text(7, 2)
    sums.report(1, text(1, 1))  # the one that replaces it
    assert sums.text() == text(8, 3)
    sums.end(1)
    sums.end(1)
    assert sums.text() == text(8, 2)


def test_a_process_that_never_reported_adds_nothing() -> None:
    sums = MetricSums()
    sums.end(0)
    assert sums.text() == ""
    sums.report(1, text(1))
    assert sums.text() == text(1)


@pytest.mark.parametrize("bounds", [(50, 100), (1_000,)])
def test_histograms_are_added_bucket_by_bucket(bounds: tuple[int, ...]) -> None:
    both, parts = Histogram(bounds), []
    for values in ((10, 60, 70), (99, 2_000)):
        one = Histogram(bounds)
        for ms in values:
            one.add(ms)
            both.add(ms)
        parts.append(as_text(one))
    added = write_families(add_up(map(read_families, parts)))
    assert read_families(added)["x"].series == pytest.approx(read_families(as_text(both))["x"].series)


def as_text(histogram: Histogram) -> str:
    return "# HELP x X.\n# TYPE x histogram\n" + "".join(f"{line}\n" for line in histogram.samples("x", {"role": "a"}))


def test_what_a_server_writes_is_read_completely() -> None:
    written = Tally().text()
    assert write_families(read_families(written)) == written


def test_series_that_only_one_process_has_are_kept() -> None:
    faults = '# HELP f F.\n# TYPE f counter\nf{{part="{part}",error="the store: full"}} 1\n'
    added = write_families(add_up(read_families(faults.format(part=part)) for part in ("brain", "voice")))
    assert added.splitlines()[2:] == [f'f{{part="{part}",error="the store: full"}} 1' for part in ("brain", "voice")]
