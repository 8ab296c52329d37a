"""Decides which sound is sent next, and which sound is sent again because a client that reconnects didn't get it.

All functions are pure: they take a state, and return the next state and the intents (what the line must do). Rule: a
client gets each sample once and in order, and at most AHEAD_MS before it is played.
"""

from __future__ import annotations

from typing import TypeAlias

from .inputs import Position
from .intents import PlaybackIntent, PlayCommand, SendCommand, SendSound
from .state import (
    AHEAD_MS,
    LOW_MS,
    PIECE_MS,
    SAMPLES_PER_MS,
    ClientPlace,
    Piece,
    PlaybackState,
    SoundEnd,
    VoicePlace,
)

PlaybackDone: TypeAlias = tuple[PlaybackState, tuple[PlaybackIntent, ...]]


def send_ahead(s: PlaybackState) -> PlaybackDone:
    """Send sound until the client has AHEAD_MS that it hasn't played yet. If this includes the last piece, the command
    `finish` follows it."""
    if s.client_place is not ClientPlace.HERE or s.voice_place is not VoicePlace.PLAYING:
        return s, ()
    intents: list[PlaybackIntent] = []
    while s.sent_ms - s.heard_ms < AHEAD_MS and (piece := _next_piece(s)) is not None:
        is_new = piece.start >= s.cut_to
        s = s._replace(
            cut=(*s.cut, piece) if is_new else s.cut,
            cut_to=piece.end if is_new else s.cut_to,
            next_number=piece.number + 1,
            sent_to=piece.end,
        )
        intents.append(SendSound(s.voice, *piece))
    if s.end is SoundEnd.KNOWN and s.made == s.cut_to and s.piece_to_repeat() is None:
        s = s._replace(end=SoundEnd.SENT)
        intents.append(SendCommand(PlayCommand.FINISH, s.voice))
    return s, tuple(intents)


def _next_piece(s: PlaybackState) -> Piece | None:
    """The next piece to send: one that has to be sent again, otherwise a new one. None if no piece is ready. A new
    piece is shorter than usual only at the end of the utterance, or if the client has little left to play."""
    if (again := s.piece_to_repeat()) is not None:
        return again
    samples = min(s.made - s.cut_to, PIECE_MS * SAMPLES_PER_MS)
    is_low = s.sent_ms - s.heard_ms < LOW_MS
    is_full = samples == PIECE_MS * SAMPLES_PER_MS
    if samples and (is_full or is_low or s.end is not SoundEnd.OPEN):
        return Piece(s.next_number, s.cut_to, s.cut_to + samples)
    return None


def send_missing(s: PlaybackState, position: Position | None) -> PlaybackDone:
    """Go back to the first sound that the client doesn't have. Tell the client at which position this sound begins, and
    whether playback is held. If the client has reported no position, it gets all sound that wasn't heard yet."""
    chunk = position.chunk if position is not None else 0
    missing = [piece for piece in s.cut if chunk < piece.number < s.next_number]
    s = s._replace(next_number=missing[0].number if missing else s.next_number)
    if not chunk:
        s = _skip_heard(s)
    again = s.piece_to_repeat()
    s = s._replace(
        sent_to=again.start if again is not None else s.cut_to,
        end=SoundEnd.KNOWN if s.end is SoundEnd.SENT else s.end,
    )
    where = SendCommand(PlayCommand.BEGIN, s.voice, s.sent_to // SAMPLES_PER_MS)
    how = SendCommand(PlayCommand.HOLD if s.voice_place is VoicePlace.HELD else PlayCommand.RESUME, s.voice)
    return s, (how,) if s.next_number == chunk + 1 else (where, how)


def _skip_heard(s: PlaybackState) -> PlaybackState:
    """Shorten the piece that is sent again by the part at its start that was heard already. The piece keeps its number
    and its end."""
    again, heard = s.piece_to_repeat(), s.heard_ms * SAMPLES_PER_MS
    if again is None or again.start >= heard:
        return s
    rest = again._replace(start=heard)
    return s._replace(cut=tuple(rest if piece is again else piece for piece in s.cut))


def note_heard(s: PlaybackState, ms: int) -> PlaybackState:
    """Record that `ms` milliseconds of the utterance were heard. The recorded amount never decreases, and never exceeds
    what was sent."""
    heard_ms = max(s.heard_ms, min(ms, s.sent_ms))
    heard, sent = heard_ms * SAMPLES_PER_MS, s.next_number
    done = 0
    for piece in s.cut:  # in order, so those that were heard to their end come first
        if piece.number >= sent or piece.end > heard:
            break
        done += 1
    return s._replace(heard_ms=heard_ms, cut=s.cut[done:] if done else s.cut)
