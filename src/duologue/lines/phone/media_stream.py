"""The stream of one call, message by message: who is let in, what goes to the line, what ends it.

Knows no network: text comes in, and the wire is an object. Rule: a stream that breaks the protocol is refused with
the close code that says so and one line without words or secrets; whatever is merely new is counted and ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from duologue.audio.frames import UnusableAudio
from duologue.core.errors import DuologueError

from .carriers import (
    Carrier,
    CarrierMessage,
    Connected,
    Malformed,
    Marked,
    Media,
    Pressed,
    Started,
    StreamEnded,
    UnknownMessage,
    read_message,
)
from .codecs import UnknownCodec
from .line import BufferPace, CarrierWire, PhoneLine

PROTOCOL_ERROR = 1002  # close codes of RFC 6455
UNSUPPORTED = 1003
MALFORMED = 1007
REFUSED = 1008
BROKEN = 1011
FULL = 1013


class StreamRefused(DuologueError):
    """A stream that can't go on. The message says why, for a log."""

    def __init__(self, code: int, why: str) -> None:
        self.code = code
        super().__init__(why)


class Stream:
    """One socket of a carrier. `admit` looks at the start message and raises Refused, or returns."""

    def __init__(
        self,
        carrier: Carrier,
        wire: CarrierWire,
        admit: Callable[[Started], None],
        pace: BufferPace | None = None,
        sends: tuple[str, int] | None = None,
    ) -> None:
        self.carrier = carrier
        self.line: PhoneLine | None = None
        self.has_stopped = False  # the carrier has said so
        self.counts: Counter[str] = Counter()
        self._wire = wire
        self._admit = admit
        self._pace = pace
        self._sends = sends
        self._id = ""

    def receive(self, text: str) -> None:
        """One message. Raises Refused."""
        try:
            message = read_message(self.carrier, text)
        except Malformed as problem:
            raise StreamRefused(MALFORMED, str(problem)) from None
        match message:
            case Connected():
                return
            case UnknownMessage():
                self.counts["errors" if message.is_error else "unknown"] += 1
            case Started():
                self._start(message)
            case _:
                self._go_on(message)

    def _start(self, started: Started) -> None:
        if self.line is not None:
            raise StreamRefused(PROTOCOL_ERROR, "a second start message")
        self._admit(started)
        try:
            self.line = PhoneLine(self.carrier, started, self._wire, pace=self._pace, sends=self._sends)
        except UnknownCodec as problem:
            raise StreamRefused(UNSUPPORTED, str(problem)) from None
        self._id = started.stream

    def _go_on(self, message: CarrierMessage) -> None:
        line = self.line
        if line is None:
            raise StreamRefused(PROTOCOL_ERROR, "a message before the start message")
        if getattr(message, "stream", "") != self._id:
            raise StreamRefused(REFUSED, "a message of another stream")
        match message:
            case Media():
                try:
                    line.hear(message)
                except UnusableAudio:
                    raise StreamRefused(MALFORMED, "sound that can't be decoded") from None
            case Marked():
                line.note_mark(message)
            case Pressed():
                line.note_key(message)
            case StreamEnded():
                self.has_stopped = True
                self.end()

    def end(self) -> None:
        """The carrier says that it is over, or has gone without a word."""
        if self.line is not None:
            self.line.hung_up()
