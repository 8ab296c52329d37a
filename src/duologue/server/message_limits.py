"""Limits the messages of a client: how many it may send per second, how much work they may be to read, and how many
invalid ones it may send in total.

To parse JSON takes time, and meanwhile the server does nothing else. A value that is a list or an object takes about a
hundred times longer than a character of a string, so a megabyte of empty lists would stop the server for a second.
Rule: this class only counts, before a message is parsed; the code that uses it disconnects the client.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.fairness.bucket import Rate, full, take

from .limited_caller import now_ms
from .settings import Limits

BURST_S = 3  # a client may send the messages of this many seconds at once
UNKNOWN_BYTES_MAX = 400_000  # from a client that hasn't been admitted yet; a hello with receipts needs up to 250,000
UNKNOWN_FRAMES = Rate(100, 1_000, 150)  # frames of such a client; a carrier's stream has 50 a second from its beginning
FRAMES_EACH = 2  # for each message, a client may send this many frames: control frames, and parts of messages
VALUE_BYTES = 100  # a character that begins a value in JSON is as much work as this many other characters
_BEGIN_VALUES = ("[", "{", ",", ":")


class MessageLimits:
    """The limits of one client's connection. `note_refused` is called with the name of the limit that refuses. If the
    client isn't `is_admitted` yet, it may send only little until `admit` is called."""

    def __init__(self, limits: Limits, note_refused: Callable[[str], None], is_admitted: bool = True) -> None:
        per_s_max = limits.messages_per_s_max
        self._rate = Rate(per_s_max, 1_000, per_s_max * BURST_S)
        self._messages = full(self._rate, now_ms())
        self._bytes_rate = limits.message_bytes
        self._bytes = full(self._bytes_rate, now_ms())
        if not is_admitted:
            wanted = min(UNKNOWN_BYTES_MAX, self._bytes_rate.burst)
            self._bytes = take(self._bytes_rate, self._bytes, self._bytes_rate.burst - wanted, now_ms()).bucket
        self._bad_max = limits.bad_messages_max
        self._bad = 0
        self._note_refused = note_refused

    def is_too_fast(self, data: str | bytes) -> bool:
        """Count one message with this content. Returns whether the client sends too many messages, or too much
        data."""
        at_ms = now_ms()
        self._messages, wait_ms = take(self._rate, self._messages, 1, at_ms)
        if wait_ms == 0:
            self._bytes, wait_ms = take(self._bytes_rate, self._bytes, work_of(data), at_ms)
        if wait_ms != 0:
            self._note_refused("messages")
        return wait_ms != 0

    def admit(self) -> None:
        """From now on, the client may send as much as any other, because it has presented what it needs."""
        self._bytes = full(self._bytes_rate, now_ms())

    def is_too_much(self, text: str) -> bool:
        """Count the JSON inside a binary message that was counted already. Returns whether it is too much work to
        read."""
        self._bytes, wait_ms = take(self._bytes_rate, self._bytes, work_of(text) - len(text), now_ms())
        if wait_ms != 0:
            self._note_refused("messages")
        return wait_ms != 0

    def is_too_bad(self) -> bool:
        """Count one invalid message. Returns whether the client has now sent too many invalid messages."""
        self._bad += 1
        if self._bad == self._bad_max:
            self._note_refused("bad_messages")
        return self._bad >= self._bad_max

    def note_silent(self) -> None:
        """Count that the client is disconnected because it has sent nothing for too long."""
        self._note_refused("silence")


def frames_rate(limits: Limits) -> Rate:
    """How many frames one client may send."""
    per_s_max = limits.messages_per_s_max * FRAMES_EACH
    return Rate(per_s_max, 1_000, per_s_max * BURST_S)


def work_of(data: str | bytes) -> int:
    """How much work it is to read a message. The unit is the work of reading one byte of sound. Characters inside
    strings count like all others, because finding out where strings begin and end would be work too."""
    if isinstance(data, bytes):
        return len(data)
    return len(data) + VALUE_BYTES * sum(data.count(one) for one in _BEGIN_VALUES)
