"""The metrics about sound on clients' sockets: bytes and milliseconds by direction and format, and refused frames.

Rule: all labels are directions and formats, so the number of time series is bounded.
"""

from __future__ import annotations

from collections import Counter

from .sound_formats import FORMATS, SoundFormats

INPUT, OUTPUT = SoundFormats._fields
_COUNTERS = (
    ("duologue_socket_sound_bytes_total", "Bytes of sound over clients' sockets, with headers."),
    ("duologue_socket_sound_ms_total", "Milliseconds of sound over clients' sockets."),
    ("duologue_socket_sound_refused_total", "Frames of sound over clients' sockets that could not be used."),
)
_BYTES, _MS, _REFUSED = (name for name, _ in _COUNTERS)


class SoundTraffic:
    """Counts the sound that one server has sent and received over its sockets."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def note(self, direction: str, form: str, bytes_: int, ms: int) -> None:
        """Count a frame of sound that was sent or received over a socket."""
        self._counts[_BYTES, direction, form] += bytes_
        self._counts[_MS, direction, form] += ms

    def note_refused(self, form: str) -> None:
        """Count a frame from a client that isn't sound in the agreed format."""
        self._counts[_REFUSED, INPUT, form] += 1

    def metrics(self) -> str:
        """The counters in Prometheus format."""
        lines: list[str] = []
        for name, text in _COUNTERS:
            lines += [f"# HELP {name} {text}", f"# TYPE {name} counter"]
            for direction in (INPUT,) if name == _REFUSED else (INPUT, OUTPUT):
                lines += [
                    f'{name}{{direction="{direction}",format="{form}"}} {self._counts[name, direction, form]}'
                    for form in FORMATS
                ]
        return "".join(f"{line}\n" for line in lines)
