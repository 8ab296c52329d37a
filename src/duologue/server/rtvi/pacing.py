"""Decides when sound is sent to a client that plays everything it gets and reports nothing: `step(state, input)`.

Such a client can't be told to stop, so sound is sent to it only LEAD_MS before it is due to be played. The client plays
everything that was sent. So if a voice (the sound of one reply) is cut off, everything up to the last sample that was
sent counts as heard, as soon as that sample can have been played. The functions are pure: each input contains the time
in milliseconds. Rule: no sound counts as heard before it can have been played.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from duologue.lines.playback.state import SAMPLES_PER_MS

LEAD_MS = 200
PIECE_MS = 40
REPORT_MS = 100
_PIECE = PIECE_MS * SAMPLES_PER_MS


class Pace(Enum):
    """What is happening with the newest voice (the sound of one reply)."""

    IDLE = "idle"  # there is no voice, or it is over
    RUNNING = "running"  # its sound is sent as it is played
    HELD = "held"  # no more of it is sent for now
    CUT = "cut"  # no more of it is sent, and the client plays what it has


@dataclass(frozen=True, slots=True)
class PaceState:
    """The state of the newest voice (the sound of one reply). Amounts are in samples, times in milliseconds."""

    pace: Pace = Pace.IDLE
    voice: int = 0
    made: int = 0
    sent: int = 0
    is_whole: bool = False  # no more sound of the voice comes
    ends_at: int = 0  # when everything that was sent has been played
    reported_ms: int = 0

    @property
    def sent_ms(self) -> int:
        return -(-self.sent // SAMPLES_PER_MS)

    def played_ms(self, now: int) -> int:
        """The most that the client can have played of the reply's sound until `now`, in milliseconds."""
        return max(0, self.sent_ms - max(0, self.ends_at - now))


class PaceCommand(Enum):
    """A playback command that the line gives for a voice (the sound of one reply)."""

    HOLD = "hold"
    RESUME = "resume"
    CLEAR = "clear"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class SoundMade:
    """The line delivers `samples` more samples of a reply's sound. The sound of a new reply has a higher number
    `voice`; inputs with a lower number are ignored."""

    voice: int
    samples: int


@dataclass(frozen=True, slots=True)
class CommandGiven:
    """The line gives a command for a voice (the sound of one reply)."""

    command: PaceCommand
    voice: int


@dataclass(frozen=True, slots=True)
class LookDue:
    """The time that `next_look` returned has come."""


PaceInput: TypeAlias = SoundMade | CommandGiven | LookDue


@dataclass(frozen=True, slots=True)
class Release:
    """Send the samples of a reply's sound from `start` up to `end`."""

    voice: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TellPlayed:
    """Report to the line how much of a reply's sound was played."""

    voice: int
    ms: int


@dataclass(frozen=True, slots=True)
class TellFinished:
    """Report to the line that a reply's sound was played to its end."""

    voice: int
    ms: int


@dataclass(frozen=True, slots=True)
class TellStopped:
    """Report to the line that a reply's sound has stopped before its end."""

    voice: int
    ms: int


PaceIntent: TypeAlias = Release | TellPlayed | TellFinished | TellStopped
_PLACES = {PaceCommand.HOLD: Pace.HELD, PaceCommand.RESUME: Pace.RUNNING, PaceCommand.CLEAR: Pace.CUT}


def step(state: PaceState, given: PaceInput, now: int) -> tuple[PaceState, tuple[PaceIntent, ...]]:
    """Take one input. Returns the state after it, and the intents (what to do now), in order."""
    s = _take(state, given, now)
    intents: list[PaceIntent] = []
    while s.pace is Pace.RUNNING and (samples := _next_piece(s, now)):
        intents.append(Release(s.voice, s.sent, s.sent + samples))
        before = max(s.ends_at, now)
        s = replace(s, sent=s.sent + samples)
        s = replace(s, ends_at=before + s.sent_ms - -(-(s.sent - samples) // SAMPLES_PER_MS))
    s, report = _report(s, now)
    return s, (*intents, *report)


def next_look(s: PaceState, now: int) -> int | None:
    """The time at which `step` must be called with a `LookDue`; None if nothing will change until another input
    comes."""
    match s.pace:
        case Pace.IDLE:
            return None
        case Pace.CUT:
            return max(now + 1, s.ends_at)
        case Pace.HELD:
            return now + REPORT_MS if s.ends_at > now else None
    if s.sent < s.made:
        return max(now + 1, s.ends_at - LEAD_MS + PIECE_MS)
    if s.ends_at > now:
        return max(now + 1, min(now + REPORT_MS, s.ends_at))
    return None


def _take(s: PaceState, given: PaceInput, now: int) -> PaceState:
    if isinstance(given, LookDue) or given.voice < s.voice:
        return s
    if given.voice > s.voice:  # the client still plays what it has of the voice before
        s = PaceState(Pace.RUNNING, given.voice, ends_at=max(s.ends_at, now))
    if s.pace not in (Pace.RUNNING, Pace.HELD):
        return s
    if isinstance(given, SoundMade):
        return replace(s, made=s.made + given.samples)
    if given.command is PaceCommand.FINISH:
        return replace(s, is_whole=True)
    return replace(s, pace=_PLACES[given.command])


def _next_piece(s: PaceState, now: int) -> int:
    """How many samples may be sent now; 0 if the client has enough for the moment."""
    samples = min(s.made - s.sent, _PIECE)
    return samples if s.ends_at - now + samples // SAMPLES_PER_MS <= LEAD_MS else 0


def _report(s: PaceState, now: int) -> tuple[PaceState, tuple[PaceIntent, ...]]:
    is_silent = s.ends_at <= now
    if s.pace is Pace.CUT and is_silent:
        return replace(s, pace=Pace.IDLE), (TellStopped(s.voice, s.sent_ms),)
    if s.pace is Pace.RUNNING and s.is_whole and s.sent == s.made and is_silent:
        return replace(s, pace=Pace.IDLE), (TellFinished(s.voice, s.sent_ms),)
    played = s.played_ms(now)
    is_due = played >= s.reported_ms + REPORT_MS or (is_silent and played > s.reported_ms)
    if s.pace in (Pace.RUNNING, Pace.HELD) and is_due:
        return replace(s, reported_ms=played), (TellPlayed(s.voice, played),)
    return s, ()
