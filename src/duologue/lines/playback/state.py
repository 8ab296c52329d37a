"""What a line knows about its voice (the agent's current utterance) and its client, as one frozen value: the state of
the voice and the state of the client (each is called a place), and a few amounts of sound.

The value has amounts of sound, but not the sound itself. When sound is sent for the first time, it is divided into
numbered pieces. A piece keeps its number, start and end until it was heard. So a client that reconnects and names the
last chunk that it received gets exactly the sound after that chunk. Rule: all decisions of the line about the voice and
the client depend only on this value.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from duologue.ports.line import Stopped

OUTPUT_HZ = 24_000
SAMPLES_PER_MS = OUTPUT_HZ // 1000
PIECE_MS = 100
AHEAD_MS = 1_000  # at most this much sound is sent before the client plays it
LOW_MS = 200  # if the client has less than this left to play, a piece that isn't full is sent too


class VoicePlace(Enum):
    """What is happening with the voice (the agent's current utterance)."""

    SILENT = "silent"
    PLAYING = "playing"
    HELD = "held"
    CLEARED = "cleared"


class ClientPlace(Enum):
    """Is a client connected to the line, and if not, does the line wait for a client? It waits for the first client
    when the conversation opens the line (AWAITED), and for a client whose socket was lost (MISSED)."""

    AWAY = "away"
    AWAITED = "awaited"
    HERE = "here"
    MISSED = "missed"


MEANINGS: dict[VoicePlace | ClientPlace, str] = {
    VoicePlace.SILENT: "there is no voice",
    VoicePlace.PLAYING: "the sound of the voice is sent, a little ahead of what the client plays",
    VoicePlace.HELD: "the client pauses the voice, and no sound is sent",
    VoicePlace.CLEARED: "the client stops the voice, and no more of its sound is sent",
    ClientPlace.AWAY: "no client is connected",
    ClientPlace.AWAITED: "no client is connected, and the conversation waits for one to open the line",
    ClientPlace.HERE: "a client is connected",
    ClientPlace.MISSED: "the client's socket is gone, and the client may return at any moment",
}


class SoundEnd(Enum):
    """Whether the end of the utterance's sound is known, and whether the client was told about it."""

    OPEN = "open"  # more sound may come
    KNOWN = "known"
    SENT = "sent"  # the client was told that the sound has ended


class Piece(NamedTuple):
    """A numbered piece of the agent's current utterance, from the sample `start` up to the sample `end`. Positions are
    counted in samples and not in milliseconds, because rounding errors would add up within a minute."""

    number: int
    start: int
    end: int


class FormerVoice(NamedTuple):
    """The utterance before the current one, and how much of it was sent."""

    voice: int
    sent_ms: int


NO_VOICE = FormerVoice(0, 0)


class PlaybackState(NamedTuple):
    """The state of one line. Positions count samples from the start of the agent's current utterance."""

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
        """How many milliseconds of the utterance were sent. This is rounded up: otherwise an utterance that was heard
        completely could be reported as a millisecond too short."""
        return -(-self.sent_to // SAMPLES_PER_MS)

    @property
    def needed_from(self) -> int:
        """The position of the first sample that may still have to be sent, or sent again. Sound before it can be
        dropped."""
        return self.cut[0].start if self.cut else self.cut_to

    @property
    def is_dry(self) -> bool:
        """Is the client about to run out of sound? It is if it has received all sound that was made so far and has
        played almost all of it, but the utterance isn't complete."""
        return (
            self.voice_place is VoicePlace.PLAYING
            and self.client_place is ClientPlace.HERE
            and self.end is SoundEnd.OPEN
            and 0 < self.made == self.sent_to
            and self.sent_ms - self.heard_ms < LOW_MS
        )

    def takes_sound(self, voice: int) -> bool:
        """May sound be added to the utterance with this number? It may if this is the current one, and it is playing or
        held."""
        return voice == self.voice and self.voice_place in (VoicePlace.PLAYING, VoicePlace.HELD)

    def piece_to_repeat(self) -> Piece | None:
        """The piece that has to be sent next because the client has reconnected and doesn't have it. None if the next
        piece is a new one."""
        if not self.cut or self.cut[-1].number < self.next_number:
            return None
        return next((piece for piece in self.cut if piece.number == self.next_number), None)
