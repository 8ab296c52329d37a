"""Adds up the metrics of several processes of one server, in the Prometheus text format.

When a process has ended, its last counts stay in the sum. Otherwise the sum would fall, and Prometheus would conclude
that the server was restarted. Rule: this module reads only what `prometheus.py` and the server write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

HIGHEST = ("duologue_draining",)  # of these, the highest value counts, not the sum


@dataclass(slots=True)
class MetricFamily:
    """All series (sequences of values) with the same metric name, and the header lines that describe this metric."""

    head: list[str] = field(default_factory=list)
    kind: str = ""
    series: dict[str, float] = field(default_factory=dict)  # by name and labels


class MetricSums:
    """Stores the last report of each running process, and the sums of the processes that have ended."""

    def __init__(self) -> None:
        self._reported: dict[int, str] = {}
        self._past = ""

    def report(self, process: int, text: str) -> None:
        """Store the current metrics of this process."""
        self._reported[process] = text

    def end(self, process: int) -> None:
        """Record that the process has ended. Its counters stay in the sums, but its gauges are dropped."""
        families = read_families(self._reported.pop(process, ""))
        counts = {name: family for name, family in families.items() if family.kind != "gauge"}
        self._past = write_families(add_up((read_families(self._past), counts)))

    def text(self) -> str:
        """The metrics of the whole server."""
        parts = [*self._reported.values(), self._past]  # a running process first: it has every family
        return write_families(add_up(read_families(part) for part in parts))


def read_families(text: str) -> dict[str, MetricFamily]:
    """The metric families in a text, by name."""
    families: dict[str, MetricFamily] = {}
    family = MetricFamily()
    for line in text.splitlines():
        if line.startswith("# "):
            _, what, name, rest = line.split(" ", 3)
            family = families.setdefault(name, MetricFamily())
            family.head.append(line)
            if what == "TYPE":
                family.kind = rest
        elif line:
            series, _, value = line.rpartition(" ")
            family.series[series] = float(value) if "." in value or "e" in value else int(value)
    return families


def add_up(parts: Iterable[dict[str, MetricFamily]]) -> dict[str, MetricFamily]:
    """Add up the series that have the same name and labels. A series that occurs in only one of the parts is kept
    unchanged."""
    sums: dict[str, MetricFamily] = {}
    for part in parts:
        for name, family in part.items():
            known = sums.setdefault(name, MetricFamily(family.head, family.kind))
            for series, value in family.series.items():
                before = known.series.get(series, 0)
                known.series[series] = max(before, value) if name in HIGHEST else before + value
    return sums


def write_families(families: dict[str, MetricFamily]) -> str:
    """The metric families as text."""
    return "".join(f"{line}\n" for family in families.values() for line in _lines(family))


def _lines(family: MetricFamily) -> Iterator[str]:
    yield from family.head
    for series, value in family.series.items():
        yield f"{series} {value}"
