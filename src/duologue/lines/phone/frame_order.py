"""Puts the frames of a call into the order in which they were spoken.

An early frame waits a little for the frames before it. A missing frame is replaced by silence of the same length, so
that the frames after it keep their time. A duplicate or late frame is dropped. Rule: frames that arrive in order are
never delayed.
"""

from __future__ import annotations

WINDOW = 5  # frames that may wait for a missing one: 100 ms
SILENCE_MAX = 50  # at most this many frames of silence fill one gap
RESTART = 100  # a number this far back isn't a late frame: the carrier has restarted its count


class Order:
    """Puts the frames of one direction of one call in order. A frame is encoded bytes."""

    def __init__(self, silence: bytes, window: int = WINDOW) -> None:
        self._silence = silence
        self._window = window
        self._next = 0  # the number that is due; 0 before the first frame
        self._early: dict[int, bytes] = {}
        self.lost = 0
        self.dropped = 0  # frames that came twice or too late
        self.reordered = 0

    def feed(self, number: int, frame: bytes) -> list[bytes]:
        """Add a frame. Returns the frames that can be passed on now, in order. A frame with the number 0 can't be
        ordered, so it is passed on immediately."""
        if not number:
            return [frame]
        if not self._next or number + RESTART < self._next:
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
        """Return the frames that are still waiting, with silence in place of missing frames. Called when the stream has
        ended."""
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
        """Give up waiting for the frames that are missing before the earliest frame that has arrived. Returns silence
        in their place, then the frames that waited for them."""
        missing = min(self._early) - self._next
        self._next += missing
        self.lost += missing
        like = len(self._early[self._next])
        silence = (self._silence * (like // len(self._silence) + 1))[:like]
        return [silence] * min(missing, SILENCE_MAX) + self._take()
