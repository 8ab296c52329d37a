"""The result of tuning as one HTML page: the frontier as a picture, tables, and every pause for which the decision
changes.

Rule: the page needs no other file and no network. It contains no words of a call, and it says which results are
unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from typing import NamedTuple

from .changes import ChangedPause
from .frontier import CUT_IN_MS, UNKNOWN_PCT_MAX, Comparison, OverlapPoint, PolicyPoint, Recommendation
from .pauses import DecidedPause
from .picture import STYLE, WIDTH, frontier_svg

UNKNOWN = (
    "Recorded calls are decided again from what the ears reported. What people would have said next under another"
    " setting isn't known: a cut-in here means that the turn would have ended although the user went on before the"
    " agent was heard. A wait beyond the recorded answer assumes that the user would have stayed silent without it."
)
CHANGES_MAX = 60  # pauses that are shown
_NAME_WIDTH, _LANE_HEIGHT = 150, 18
_BEFORE_MS = 500  # of voice before the pause
_WINDOW_MS = (1_500, 2_500, 4_000, 8_000, 20_000)  # a timeline is as long as the first of these that is enough

_PAGE_STYLE = """
body { font: 15px/1.55 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1.2rem;
  color: var(--ink); background: var(--paper); }
html { background: var(--paper); } h1 { font-size: 1.6rem; } h2 { margin-top: 2.4rem; font-size: 1.2rem; }
h3 { margin: 1.6rem 0 .2rem; font-size: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
td, th { padding: .32rem .6rem; text-align: right; white-space: nowrap; } th { vertical-align: bottom; }
td:first-child, th:first-child { text-align: left; } tr { border-bottom: 1px solid var(--rule); }
.best td { color: var(--best); font-weight: 600; } .own td { color: var(--recorded); font-weight: 600; }
.note { color: var(--soft); } .range { color: var(--soft); font-weight: 400; }
svg { display: block; width: 100%; height: auto; } figure { margin: .4rem 0 1rem; }
.key { display: inline-block; width: 1.2em; height: .8em; margin: 0 .3em 0 1em; }
"""


class TunedCalls(NamedTuple):
    """Everything that the page shows."""

    comparison: Comparison
    overlaps: Sequence[OverlapPoint]
    changed: Sequence[ChangedPause]  # from the recorded setting to the recommended one, or to `other`
    calls: int
    unusable: int = 0
    cut_in_ms: int = CUT_IN_MS
    other: str = ""  # the setting of `changed`, if it isn't the recommended one


def page(tuned: TunedCalls) -> str:
    """The whole HTML page, as text."""
    found = tuned.comparison.recommended
    best = found.point if found is not None else None
    title = f"Turn-taking of {tuned.calls} {'call' if tuned.calls == 1 else 'calls'}"
    unusable = f" {tuned.unusable} more can't be used." if tuned.unusable else ""
    return f"""<!doctype html><html lang=en class=tune><meta charset=utf-8>
<meta name=viewport content="width=device-width"><meta name=color-scheme content="light dark"><title>{title}</title>
<style>{STYLE}{_PAGE_STYLE}</style>
<h1>{title}</h1>
<p>{escape(verdict(found, tuned.cut_in_ms))}</p>
<p class=note>{UNKNOWN}{unusable}</p>
<h2>When a turn ends</h2>
{frontier_svg(tuned.comparison.points, best)}
{_table(tuned.comparison.points, best)}
<h2>What interrupts the agent</h2>
<p class=note>Whether an interruption was wanted isn't recorded, so nothing is recommended here. A verdict is unknown if
the setting was undecided when the recorded agent was stopped.</p>
{_overlap_table(tuned.overlaps)}
{_heading(tuned, best)}
{_changes(tuned.changed)}
</html>
"""


def _heading(tuned: TunedCalls, best: PolicyPoint | None) -> str:
    if tuned.other:
        return (
            f"<h2>What would change with {escape(tuned.other)}</h2>"
            "<p class=note>The recorded setting costs least. This is the next best one.</p>"
        )
    return f"<h2>What changes with {escape(best.name) if best is not None else 'another setting'}</h2>"


def verdict(found: Recommendation | None, cut_in_ms: int = CUT_IN_MS) -> str:
    """The recommendation and its uncertainty in plain words."""
    if found is None:
        return (
            "Nothing is recommended: no user went on after a pause, or too few turns ended by silence, so cut-ins can't"
            " be compared with waits."
        )
    point = found.point
    numbers = (
        f"It has {point.cut_ins} cut-ins in {point.pauses} pauses ({point.cut_in_pct:.1f} %, range"
        f" {point.cut_in_range[0]:.1f} to {point.cut_in_range[1]:.1f}) and a mean wait of {point.wait_ms:.0f} ms"
        f" ({point.wait_range[0]:.0f} to {point.wait_range[1]:.0f}). A cut-in counts as {cut_in_ms} ms of waiting."
    )
    low, high = found.saved_range
    if found.saved_ms <= 0:
        return f"The recorded setting costs least, in {point.wins_pct:.0f} % of the draws. {numbers}"
    saved = (
        f"per turn it saves {found.saved_ms:.0f} ms of waiting and cut-ins ({low:.0f} to {high:.0f} in 9 of 10 draws)"
    )
    if found.is_clear:
        return f"Recommended: {point.name}; {saved}. {numbers}"
    return f"{point.name} costs least, but these calls don't show clearly that it is better: {saved}. {numbers}"


# -- Tables


def _table(points: Sequence[PolicyPoint], best: PolicyPoint | None) -> str:
    doubts = any(point.assumed or point.unknown for point in points)
    head = (
        f"<tr><th>setting<th>cut-ins<th>of pauses<th>mean wait<th>95 % within"
        f"{'<th>wait assumed<th>unknown' if doubts else ''}<th>cost per turn<th>costs least in"
    )
    ordered = sorted(points, key=lambda one: (not one.is_known, one.cost_ms))
    rows = "".join(_row(point, best, doubts) for point in ordered)
    few = f"<p class=note>A setting with more than {UNKNOWN_PCT_MAX:.0f} % unknown ends isn't recommended.</p>"
    return f"<div class=scroll><table>{head}{rows}</table></div>{few if doubts else ''}"


def _row(point: PolicyPoint, best: PolicyPoint | None, doubts: bool) -> str:
    kind = " class=best" if point is best else " class=own" if point.name == "as recorded" else ""
    known = f"<td>{point.cost_ms:.0f} ms<td>{point.wins_pct:.0f} %" if point.is_known else "<td>–<td>–"  # noqa: RUF001
    return (
        f"<tr{kind}><td>{escape(point.name)}<td>{point.cut_ins} of {point.pauses}"
        f"<td>{point.cut_in_pct:.1f} %{_range(point.cut_in_range)}<td>{point.wait_ms:.0f} ms{_range(point.wait_range)}"
        f"<td>{point.wait_ms_p95} ms"
        f"{f'<td>{point.assumed} of {point.ends}<td>{point.unknown}' if doubts else ''}{known}"
    )


def _range(bounds: tuple[float, float]) -> str:
    low, high = (f"{bound:.0f}" for bound in bounds)
    return "" if low == high else f" <span class=range>({low}–{high})</span>"  # noqa: RUF001


def _overlap_table(points: Sequence[OverlapPoint]) -> str:
    head = "<tr><th>setting<th>sounds over the agent<th>stop it<th>don't<th>unknown<th>mean verdict<th>differ"
    rows = "".join(
        f"<tr{' class=own' if point.name == 'as recorded' else ''}><td>{escape(point.name)}<td>{point.sounds}"
        f"<td>{point.stops}<td>{point.goes_on}<td>{point.unknown}"
        f"<td>{'–' if point.verdict_ms is None else f'{point.verdict_ms:.0f} ms'}<td>{point.changed}"  # noqa: RUF001
        for point in points
    )
    return f"<div class=scroll><table>{head}{rows}</table></div>"


# -- Both decisions about each pause


def _changes(changed: Sequence[ChangedPause]) -> str:
    if not changed:
        return "<p>No pause is decided differently.</p>"
    key = "".join(
        f'<span class=key style="background:var(--{colour})"></span>{name}'
        for colour, name in (
            ("voice", "the user's voice"),
            ("agent", "the recorded answer"),
            ("best", "end of the turn"),
            ("bad", "cut-in"),
        )
    )
    calls = "".join(
        f"<h3>{escape(call)}</h3>{''.join(_timeline(one) for one in same)}"
        for call, same in groupby(changed[:CHANGES_MAX], key=lambda one: one.call)
    )
    more = len(changed) - CHANGES_MAX
    rest = f"<p class=note>{more} more are in the JSON output.</p>" if more > 0 else ""
    return f"<p class=note>{len(changed)} pauses are decided differently.{key}</p>{calls}{rest}"


def _timeline(one: ChangedPause) -> str:
    """Draw both decisions about one pause, one above the other."""
    start = one.recorded.silent_at - _BEFORE_MS
    ends = (one.recorded.resumed_at, one.recorded.answered_at, one.recorded.ended_at, one.other.ended_at)
    needed = max((at - start + 300 for at in ends if at is not None), default=0)
    window = next((ms for ms in _WINDOW_MS if ms >= needed), _WINDOW_MS[-1])
    lanes = [_lane("as recorded", one.recorded, start, window, 4), _lane("other setting", one.other, start, window, 32)]
    label = f"turn {one.recorded.turn}, silent at {one.recorded.silent_at / 1000:.1f} s: {one.what}"
    return (
        f"<figure><figcaption>{label}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} 78" role="img" aria-label="{escape(label)}">{"".join(lanes)}{_ticks(window)}</svg>'
        "</figure>"
    )


def _x(ms: int, window: int) -> float:
    return _NAME_WIDTH + min(max(ms, 0), window) / window * (WIDTH - _NAME_WIDTH - 90)


def _ticks(window: int) -> str:
    step = next(step for step in (250, 500, 1_000, 2_000, 5_000) if window / step <= 8)
    return "".join(
        f'<text class="soft" x="{_x(_BEFORE_MS + ms, window):.1f}" y="72" text-anchor="middle">{ms} ms</text>'
        for ms in range(0, window - _BEFORE_MS + 1, step)
    )


def _lane(name: str, pause: DecidedPause, start: int, window: int, top: int) -> str:
    parts = [
        f'<text x="0" y="{top + 13}">{name}</text>',
        _bar(start, pause.silent_at, start, window, top, "voice"),
        f'<path class="rule" d="M{_NAME_WIDTH} {top + _LANE_HEIGHT}H{WIDTH - 90}"/>',
    ]
    if pause.answered_at is not None:
        until = pause.resumed_at or start + window
        parts.append(_bar(pause.answered_at, until, start, window, top, "agent"))
    if pause.resumed_at is not None:
        parts.append(_bar(pause.resumed_at, start + window, start, window, top, "voice"))
    if pause.ended_at is not None:
        colour = "bad" if pause.is_cut_in else "best"
        at = _x(pause.ended_at - start, window)
        parts.append(
            f'<path d="M{at:.1f} {top - 3}v{_LANE_HEIGHT + 6}" style="stroke:var(--{colour});stroke-width:3"/>'
        )
    said = "cut-in" if pause.is_cut_in else "unknown" if pause.is_unknown else "waits" if pause.wait_ms is None else ""
    said = said or f"{pause.wait_ms} ms"
    parts.append(f'<text class="strong" x="{WIDTH - 82}" y="{top + 13}">{said}</text>')
    return "".join(parts)


def _bar(since: int, until: int, start: int, window: int, top: int, colour: str) -> str:
    left, right = _x(since - start, window), _x(until - start, window)
    return (
        f'<rect x="{left:.1f}" y="{top}" width="{max(0, right - left):.1f}" height="{_LANE_HEIGHT}"'
        f' style="fill:var(--{colour})"/>'
    )
