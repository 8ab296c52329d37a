"""What a client has to know that comes back, or is loaded anew: things told while nobody was there, and things that
are still open.

Rule: what got no answer is told to somebody, even after the conversation is over; the rest is told while it holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from duologue.observe import signals as sg

from .server_messages import ServerMessage

LOST_MAX = 20


class MissedMessages:
    """Kept for one conversation."""

    def __init__(self, lost: Iterable[ServerMessage] = (), turns: Iterable[int] = ()) -> None:
        self._lost: deque[ServerMessage] = deque(lost, maxlen=LOST_MAX)  # told to nobody so far
        self.lost_turns: deque[int] = deque(turns, maxlen=LOST_MAX)  # shown with the history, as often as it is
        self._fault: ServerMessage | None = None
        self._asked: dict[int, ServerMessage] = {}  # by the call that asked

    def note(self, signal: sg.Signal, told: ServerMessage, is_heard: bool) -> None:
        if isinstance(signal, sg.Lost):
            self.lost_turns.extend(range(signal.first, signal.last + 1))
        match signal:
            case sg.Lost() if not is_heard:
                self._lost.append(told)
            case sg.Failed():
                self._fault = told
            case sg.WorkAsked():
                self._asked[signal.call] = told
            case sg.WorkEnded():
                self._asked.pop(signal.call, None)

    def dump(self) -> list[ServerMessage]:
        """What another process has to tell in place of this one."""
        return list(self._lost)

    def lost(self) -> list[ServerMessage]:
        """What got no answer; each is told once."""
        told = list(self._lost)
        self._lost.clear()
        return told

    def open(self, is_faulted: bool, asking: Collection[int]) -> list[ServerMessage]:
        """What waits for the person. `asking` are the calls that still wait for an answer."""
        asked = [told for call, told in self._asked.items() if call in asking]
        return [*([self._fault] if is_faulted and self._fault is not None else []), *asked]
