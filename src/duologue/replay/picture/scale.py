"""The time axis: positions, formatted times, and the smallest page width at which a text fits.

Positions are percentages, so the picture fits any width. Zooming only makes the picture wider. Rule: only this module
decides what is visible at which width. The style sheet applies these decisions, so no script has to measure anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_WIDTH_MIN = 320.0
_GROWTH = 1.25
PX_PER_S_MAX = 800  # the maximum zoom
# The steps of the time axis. Each step divides the previous one.
_STEPS_MS = (3_600_000, 600_000, 300_000, 60_000, 30_000, 10_000, 5_000, 1_000, 500, 100)
_TICKS_MAX = 700
_TICK_PX = 64


class Tick(NamedTuple):
    """A time that is written on the axis. `seen` is the CSS class that stands for the smallest width at which this time
    is visible."""

    at_ms: int
    text: str
    seen: str


class Scale(NamedTuple):
    """The time axis of a conversation that is `length_ms` long."""

    length_ms: int

    def percent(self, ms: int) -> str:
        """A time or a duration as a percentage of the conversation's length."""
        shown = f"{100 * ms / self.length_ms:.5f}".rstrip("0").rstrip(".")
        return f"{shown or 0}%"

    @property
    def width_max(self) -> float:
        return max(4_000.0, self.length_ms * PX_PER_S_MAX / 1_000)

    def seen(self, need_px: float, room_ms: int) -> str | None:
        """The CSS class for the smallest width of the drawing at which a text that is `need_px` wide fits into
        `room_ms` of the time axis. None if the text doesn't fit at any width."""
        if room_ms <= 0 or need_px * self.length_ms / room_ms > self.width_max:
            return None
        need = need_px * self.length_ms / room_ms
        return next((f"w{number}" for number, width in enumerate(self.widths()) if width >= need), None)

    def widths(self) -> Iterator[int]:
        """The widths of the drawing, in px, at which more marks become visible, smallest first."""
        width = _WIDTH_MIN
        while width < self.width_max * _GROWTH:
            yield round(width)
            width *= _GROWTH

    def ticks(self) -> Iterator[Tick]:
        """The times that are written on the axis, in round steps. At small widths, only the times of coarse steps are
        visible."""
        steps = [step for step in _STEPS_MS if self.length_ms / step <= _TICKS_MAX] or [self.length_ms]
        for at_ms in range(0, self.length_ms + 1, steps[-1]):
            step_ms = next(step for step in steps if at_ms % step == 0)
            seen = self.seen(_TICK_PX, step_ms) if at_ms else "w0"
            if seen:
                yield Tick(at_ms, write_clock(at_ms, step_ms < 1_000), seen)


def write_clock(ms: int, parts: bool = True) -> str:
    """A time in the conversation as text: 1:23.450, or 1:23 if `parts` is False."""
    minutes, rest = divmod(ms, 60_000)
    seconds = f"{rest // 1_000:02}"
    return f"{minutes}:{seconds}.{rest % 1_000:03}" if parts else f"{minutes}:{seconds}"


def write_length(ms: int) -> str:
    """A duration as text: 80 ms, 1.24 s, 2 min 5 s."""
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms // 10 / 100:.2f} s"
    minutes, seconds = divmod(ms // 1_000, 60)
    return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
