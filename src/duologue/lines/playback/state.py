"""What a line knows of its voice and its client: two places and a few amounts, as one frozen value.

The value counts sound and doesn't hold it. A piece of sound is cut when it is sent for the first time, and keeps its
number and its ends until it was heard, so that a client that reconnects and names its last chunk gets exactly the sound
after that chunk. Rule: all decisions of the line about the voice and the client depend only on this value.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from duologue.ports.line import Stopped

OUTPUT_HZ = 24_000
SAMPLES_PER_MS = OUTPUT_HZ // 1000
PIECE_MS = 100
AHEAD_MS = 1_000  # at most this much sound is sent before the client plays it
LOW_MS = 200  # if the client has less than this left to play, a piece that isn't full is sent too


class VoicePlace(Enum):
    """What the voice does."""

    SILENT = "silent"
    PLAYING = "playing"
    HELD = "held"
    CLEARED = "cleared"


class ClientPlace(Enum):
    """Where the client is."""

    AWAY = "away"
    AWAITED = "awaited"
    HERE = "here"
    MISSED = "missed"


MEANINGS: dict[VoicePlace | ClientPlace, str] = {
    VoicePlace.SILENT: "there is no voice",
    VoicePlace.PLAYING: "its sound is sent, a little ahead of what the client plays",
    VoicePlace.HELD: "the client pauses it, and nothing is sent",
    VoicePlace.CLEARED: "the client stops it, and no more of it is sent",
    ClientPlace.AWAY: "no client is connected",
    ClientPlace.AWAITED: "no client is connected, and the conversation waits for one to open the line",
    ClientPlace.HERE: "a client is connected",
    ClientPlace.MISSED: "the client's socket is gone, and the client may return at any moment",
}


class SoundEnd(Enum):
    """Is the end of the voice's sound known?"""

    OPEN = "open"  # more sound may come
    KNOWN = "known"
    SENT = "sent"  # the client was told that the sound has ended


class Piece(NamedTuple):
    """A numbered piece of a voice, from one sample up to another. Milliseconds aren't used, because rounding would add
    up within a minute."""

    number: int
    start: int
    end: int


class FormerVoice(NamedTuple):
    """The voice before the current one, and how much of it was sent."""

    voice: int
    sent_ms: int


NO_VOICE = FormerVoice(0, 0)


@dataclass(frozen=True, slots=True)
class PlaybackState:
    """What the line knows. Positions are samples of the current voice."""

    voice_place: VoicePlace = VoicePlace.SILENT
    client_place: ClientPlace = ClientPlace.AWAY
    client: int = 0  # the number of the newest socket
    voice: int = 0
    made: int = 0  # samples that the conversation has given
    cut: tuple[Piece, ...] = ()  # pieces that were sent at least once and not heard to their end
    cut_to: int = 0  # where the next new piece starts
    next_number: int = 1  # of the piece to send next
    sent_to: int = 0  # the client has everything before this
    heard_ms: int = 0
    end: SoundEnd = SoundEnd.OPEN
    former: FormerVoice = NO_VOICE
    stopped: Stopped | None = None  # the last stop that a client has reported

    @property
    def sent_ms(self) -> int:
        """How much of the voice was sent. Rounded up, so that a client that heard everything isn't reported to have
        heard less."""
        return -(-self.sent_to // SAMPLES_PER_MS)

    @property
    def needed_from(self) -> int:
        """The position before which sound is never sent again."""
        return self.cut[0].start if self.cut else self.cut_to

    @property
    def is_dry(self) -> bool:
        """Has the client received all available sound and almost played it, although the voice isn't complete?"""
        return (
            self.voice_place is VoicePlace.PLAYING
            and self.client_place is ClientPlace.HERE
            and self.end is SoundEnd.OPEN
            and 0 < self.made == self.sent_to
            and self.sent_ms - self.heard_ms < LOW_MS
        )

    def takes_sound(self, voice: int) -> bool:
        """Is this the current voice, and may more of it be heard?"""
        return voice == self.voice and self.voice_place in (VoicePlace.PLAYING, VoicePlace.HELD)

    def piece_to_repeat(self) -> Piece | None:
        """The piece to send next, if it was sent before to a client that is gone."""
        return next((piece for piece in self.cut if piece.number == self.next_number), None)
