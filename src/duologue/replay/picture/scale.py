"""The time axis: where a moment is, how times are written, and at which width a text has room.

Places are percentages, so the picture fits any width and zooming only widens it. Rule: what is seen
at which width is decided here, once, and the style sheet shows it; no script measures anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_WIDTH_MIN = 320.0
_GROWTH = 1.25
PX_PER_S_MAX = 800  # as far as one can zoom in
_STEPS_MS = (3_600_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100)  # each divides the one before
_TICKS_MAX = 700
_TICK_PX = 64


class Tick(NamedTuple):
    """A time on the axis, and from which width on it is seen."""

    at_ms: int
    text: str
    seen: str


class Scale(NamedTuple):
    """A conversation of this length, as wide as the window or wider."""

    length_ms: int

    def percent(self, ms: int) -> str:
        """A time, or a duration, as a part of the width."""
        shown = f"{100 * ms / self.length_ms:.5f}".rstrip("0").rstrip(".")
        return f"{shown or 0}%"

    @property
    def width_max(self) -> float:
        return max(4_000.0, self.length_ms * PX_PER_S_MAX / 1_000)

    def seen(self, need_px: float, room_ms: int) -> str | None:
        """The class of what needs so much room in this time, or None if it never has it."""
        if room_ms <= 0 or need_px * self.length_ms / room_ms > self.width_max:
            return None
        need = need_px * self.length_ms / room_ms
        return next((f"w{number}" for number, width in enumerate(self.widths()) if width >= need), None)

    def widths(self) -> Iterator[int]:
        """The widths at which more can be seen."""
        width = _WIDTH_MIN
        while width < self.width_max * _GROWTH:
            yield round(width)
            width *= _GROWTH

    def ticks(self) -> Iterator[Tick]:
        """Times in round steps; finer ones come with more room."""
        steps = [step for step in _STEPS_MS if self.length_ms / step <= _TICKS_MAX] or [self.length_ms]
        for at_ms in range(0, self.length_ms + 1, steps[-1]):
            step_ms = next(step for step in steps if at_ms % step == 0)
            seen = self.seen(_TICK_PX, step_ms) if at_ms else "w0"
            if seen:
                yield Tick(at_ms, write_clock(at_ms, step_ms < 1_000), seen)


def write_clock(ms: int, parts: bool = True) -> str:
    """A time of the call: 1:23, with its parts 1:23.450."""
    minutes, rest = divmod(ms, 60_000)
    seconds = f"{rest // 1_000:02}"
    return f"{minutes}:{seconds}.{rest % 1_000:03}" if parts else f"{minutes}:{seconds}"


def write_length(ms: int) -> str:
    """A duration, precise enough to compare: 80 ms, 1.24 s, 2 min 5 s."""
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms // 10 / 100:.2f} s"
    minutes, seconds = divmod(ms // 1_000, 60)
    return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
