"""Compares what a page did with what `duologue listen` decided about the same recordings: pairs, percentiles, rows.

Times are in milliseconds after the end of the person's speech. A recording has two sides: the page, and `duologue
listen`. Rule: a recording is compared only if it got an answer on both sides, and if the agent cut in (spoke too early)
on both sides or on neither. All other recordings are only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .budget import Budget
from .talk import EARLY_MS, Expected

PERCENTS = (50, 90)
SLOWER_MS_MAX = 100
PANEL_MS_MAX = 30
BUDGETS = (
    Budget("slower_ms_p50", "page against listen, the turn is over, median", SLOWER_MS_MAX, "ms"),
    Budget("heard_slower_ms_p50", "page against listen, first sample of the answer, median", SLOWER_MS_MAX, "ms"),
    Budget("panel_off_ms_p50", "the panel's number against the measured one, median, either way", PANEL_MS_MAX, "ms"),
)


class EndedTurn(NamedTuple):
    """How one recording ended, either in the page or in `duologue listen`."""

    decided_ms: int | None  # the decision that the turn is over; None: never
    heard_ms: int | None  # the first sample of the answer
    is_cut_in: bool  # the agent spoke before the person had finished


class PageTimes(NamedTuple):
    """Further times that were measured in a page, for one recording."""

    line_ms: int | None = None  # from the last sample of the speech to the server's frame with this sample
    audio_ms: int | None = None  # of sound after the end of the speech that the server had at the decision
    sent_ms: int | None = None  # from the decision to the first sample rendered in the page
    panel_ms: int | None = None  # the panel's own number for the same wait
    replayed_ms: int | None = None  # the decision of `listen` about the sound that had arrived at the server
    shifted_ms: int | None = None  # the decision of `listen` if the recording begins half a frame later


class ComparedRecording(NamedTuple):
    """The results for one recording: in the page and in `duologue listen`."""

    id: str
    page: EndedTurn
    listen: EndedTurn
    more: PageTimes


def ended(expected: Expected, decided: Iterable[int], heard: Iterable[int]) -> EndedTurn:
    """How a recording ended. `decided` has the times of all decisions that a turn is over, and `heard` the times at
    which answers began, both counted from the beginning of the recording."""
    heard = tuple(heard)
    return EndedTurn(
        _after(expected, decided),
        _after(expected, heard),
        any(first <= at <= last for at in heard for first, last in expected.forbidden),
    )


def _after(expected: Expected, times: Iterable[int]) -> int | None:
    after = [at for at in times if at >= expected.end_ms - EARLY_MS]
    return after[0] - expected.end_ms if after else None


def percentile(values: Sequence[float], percent: int) -> int | None:
    """The value at this percentile, rounded; None if there are no values."""
    ordered = sorted(values)
    return round(ordered[round(percent / 100 * (len(ordered) - 1))]) if ordered else None


def compare(played: Sequence[ComparedRecording]) -> dict[str, Any]:
    """The statistics of one transport."""
    pairs = [one for one in played if _is_pair(one)]
    result: dict[str, Any] = {
        "recordings": len(played),
        "compared": len(pairs),
        "missed_by_page": sum(one.page.heard_ms is None and one.listen.heard_ms is not None for one in played),
        "missed_by_listen": sum(one.listen.heard_ms is None and one.page.heard_ms is not None for one in played),
        "cut_in_by_page": sum(one.page.is_cut_in and not one.listen.is_cut_in for one in played),
        "cut_in_by_listen": sum(one.listen.is_cut_in and not one.page.is_cut_in for one in played),
    }
    columns = {
        "page_ms": [one.page.decided_ms for one in pairs],
        "listen_ms": [one.listen.decided_ms for one in pairs],
        "slower_ms": [_less(one.page.decided_ms, one.listen.decided_ms) for one in pairs],
        "page_heard_ms": [one.page.heard_ms for one in pairs],
        "listen_heard_ms": [one.listen.heard_ms for one in pairs],
        "heard_slower_ms": [_less(one.page.heard_ms, one.listen.heard_ms) for one in pairs],
        "line_ms": [one.more.line_ms for one in played],
        "audio_ms": [one.more.audio_ms for one in pairs],
        "audio_slower_ms": [_less(one.more.audio_ms, one.listen.decided_ms) for one in pairs],
        "path_ms": [_less(one.more.replayed_ms, one.listen.decided_ms) for one in pairs],
        "frames_ms": [_less(one.more.shifted_ms, one.listen.decided_ms) for one in pairs],
        "real_time_ms": [_less(one.page.decided_ms, one.more.replayed_ms) for one in pairs],
        "sent_ms": [one.more.sent_ms for one in played],
        "panel_ms": [one.more.panel_ms for one in pairs],
        "panel_off_ms": [_less(one.more.panel_ms, one.page.heard_ms) for one in pairs],
    }
    for name, values in columns.items():
        known = [value for value in values if value is not None]
        result |= {f"{name}_p{percent}": percentile(known, percent) for percent in PERCENTS}
    offs = [abs(value) for value in columns["panel_off_ms"] if value is not None]
    result["panel_off_ms_abs_p90"] = percentile(offs, 90)
    result["within_budget"] = {budget.key: _holds(budget, result[budget.key]) for budget in BUDGETS}
    return result


def _is_pair(one: ComparedRecording) -> bool:
    times = (one.page.decided_ms, one.page.heard_ms, one.listen.decided_ms, one.listen.heard_ms)
    return None not in times and one.page.is_cut_in == one.listen.is_cut_in


def _less(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one - other


def _holds(budget: Budget, value: int | None) -> bool:
    return value is not None and budget.holds(abs(value) if budget.key.startswith("panel") else value)


_ROWS = (
    ("the turn is over: page", "page_ms"),
    ("the turn is over: listen", "listen_ms"),
    ("end of the turn: how much later the page is than `listen`", "slower_ms"),
    ("of this: other sound (resampling, frames, codec)", "path_ms"),
    ("of this: real time (line, busy machine)", "real_time_ms"),
    ("for comparison: listen, if frames begin 16 ms later", "frames_ms"),
    ("the same, counted in sound that had arrived", "audio_slower_ms"),
    ("first sample of the answer: page", "page_heard_ms"),
    ("first sample of the answer: listen", "listen_heard_ms"),
    ("first sample of the answer: page later than listen by", "heard_slower_ms"),
    ("microphone → server", "line_ms"),
    ("the turn is over → first sample rendered", "sent_ms"),
    ("the panel's own number", "panel_ms"),
    ("the panel's own number minus the measured one", "panel_off_ms"),
)


def report(result: dict[str, Any]) -> list[tuple[str, ...]]:
    """The result as rows: what was measured, then the median and the 90th percentile of each transport. A median that
    misses its budget is marked."""
    runs = result["transports"]
    rows: list[tuple[str, ...]] = []
    for what, name in _ROWS:
        rows.append((what, *(_cell(run, f"{name}_p{percent}") for run in runs for percent in PERCENTS)))
    for what, name in (
        ("turns that only the page missed, or only listen", "missed_by"),
        ("cut-ins of only the page, or only listen", "cut_in_by"),
    ):
        rows.append((what, *(str(run[f"{name}_{side}"]) for run in runs for side in ("page", "listen"))))
    return rows


def _cell(run: dict[str, Any], key: str) -> str:
    if run[key] is None:
        return "-"
    return f"{run[key]} ms{'' if run['within_budget'].get(key, True) else ' (missed)'}"
