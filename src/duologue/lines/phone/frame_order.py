"""The frames of a call in the order in which they were spoken.

A frame that comes early waits a little for those before it; one that never comes becomes silence of its length, so
that time keeps; one that comes twice or too late is dropped. Rule: frames that come in order are never held back.
"""

from __future__ import annotations

WINDOW = 5  # frames that are waited for a missing one: 100 ms
SILENCE_MAX = 50  # frames of silence for one gap, however large it is
ANEW = 100  # so far back no frame comes late: the carrier counts anew


class Order:
    """One direction of one call. Frames are bytes as they were sent."""

    def __init__(self, silence: bytes, window: int = WINDOW) -> None:
        self._silence = silence
        self._window = window
        self._next = 0  # the number that is due; 0: the first is not here yet
        self._early: dict[int, bytes] = {}
        self.lost = 0
        self.dropped = 0  # came twice or too late
        self.reordered = 0

    def feed(self, number: int, frame: bytes) -> list[bytes]:
        """The frames that can be heard now. A number of 0 is none: the frame is passed on."""
        if not number:
            return [frame]
        if not self._next or number + ANEW < self._next:
            self._early.clear()
            self._next = number
        if number < self._next or number in self._early:
            self.dropped += 1
            return []
        self._early[number] = frame
        if number > self._next:
            self.reordered += 1
        ready = self._take()
        while len(self._early) >= self._window:
            ready += self._conceal()
        return ready

    def finish(self) -> list[bytes]:
        """Nothing more comes: what still waits is heard."""
        ready: list[bytes] = []
        while self._early:
            ready += self._conceal()
        return ready

    def _take(self) -> list[bytes]:
        ready = []
        while (frame := self._early.pop(self._next, None)) is not None:
            ready.append(frame)
            self._next += 1
        return ready

    def _conceal(self) -> list[bytes]:
        """Give up what is missing before the earliest frame that waits."""
        missing = min(self._early) - self._next
        self._next += missing
        self.lost += missing
        like = len(self._early[self._next])
        silence = (self._silence * (like // len(self._silence) + 1))[:like]
        return [silence] * min(missing, SILENCE_MAX) + self._take()
