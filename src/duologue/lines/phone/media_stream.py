"""Handles the media stream of one call: admits or refuses the stream, passes sound and keys to the line, and ends the
stream.

This module doesn't know the network: it gets the carrier's messages as text and sends through a `CarrierWire`. Rule: a
stream that violates the protocol is closed with a close code and a short reason, which contains no spoken words and no
secrets. Unknown messages are counted and ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

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
    """The stream must be closed, with the close code `code`. The message says why, for the log."""

    def __init__(self, code: int, why: str) -> None:
        self.code = code
        super().__init__(why)


class Stream:
    """The stream on one socket of a carrier. `admit` checks the start message, and raises StreamRefused to refuse the
    stream."""

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
        self.has_stopped = False  # the carrier has sent its stop message
        self.counts: Counter[str] = Counter()
        self.parameters: Mapping[str, str] = {}  # the custom parameters of the start message
        self.call = ""  # the carrier's id of the call
        self._wire = wire
        self._admit = admit
        self._pace = pace
        self._sends = sends
        self._id = ""

    def receive(self, text: str) -> None:
        """Handle one message from the carrier. Raises StreamRefused if the stream must be closed."""
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
            raise StreamRefused(PROTOCOL_ERROR, "the carrier sent a second start message")
        self._admit(started)
        self.parameters, self.call = started.parameters, started.call
        try:
            self.line = PhoneLine(self.carrier, started, self._wire, pace=self._pace, sends=self._sends)
        except UnknownCodec as problem:
            raise StreamRefused(UNSUPPORTED, str(problem)) from None
        self._id = started.stream

    def _go_on(self, message: CarrierMessage) -> None:
        line = self.line
        if line is None:
            raise StreamRefused(PROTOCOL_ERROR, "the first message must be the start message")
        if getattr(message, "stream", "") != self._id:
            raise StreamRefused(REFUSED, "a message has another stream's id")
        match message:
            case Media():
                try:
                    line.hear(message)
                except UnusableAudio:
                    raise StreamRefused(MALFORMED, "the audio can't be decoded") from None
            case Marked():
                line.note_mark(message)
            case Pressed():
                line.note_key(message)
            case StreamEnded():
                self.has_stopped = True
                self.end()

    def end(self) -> None:
        """Tell the line that the carrier has ended the stream or has disconnected."""
        if self.line is not None:
            self.line.hung_up()
