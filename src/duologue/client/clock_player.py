"""Plays the agent's voice by the clock, without a loudspeaker. Computes what would have been heard by now, and what to
report to the server.

`step(state, input) -> (state, reports)`; times are whole milliseconds of any clock. Rule: sound counts as heard when
its time has passed, but never before it has arrived. A voice that was stopped or replaced reports nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple, TypeAlias

from .messages import SAMPLES_PER_MS

REPORT_MS = 60  # playback between two reports


class PlayerPlace(Enum):
    """What the player is doing with the agent's newest utterance."""

    PLAYING = "playing"
    HELD = "held"
    STOPPED = "stopped"  # cleared: no more of it is played
    FINISHED = "finished"  # played to its end, and reported


@dataclass(frozen=True, slots=True)
class ClockPlayer:
    """The state of the player: how much of the newest voice (one utterance of the agent) has arrived and how much was
    heard, in samples since the voice began. Voice 0 means that no voice has begun yet."""

    voice: int = 0
    chunk: int = 0  # the last one that was received
    place: PlayerPlace = PlayerPlace.PLAYING
    is_complete: bool = False  # no chunk follows
    arrived: int = 0
    heard: int = 0
    at_ms: int = 0  # when `heard` was computed
    reported_ms: int = 0

    @property
    def ms(self) -> int:
        return self.heard // SAMPLES_PER_MS

    @property
    def is_sounding(self) -> bool:
        return self.place is PlayerPlace.PLAYING and self.heard < self.arrived

    @property
    def position(self) -> dict[str, int] | None:
        """The position of playback, as the client sends it in its first message (hello) after a reconnect. None if the
        agent hasn't said anything yet."""
        return {"voice": self.voice, "ms": self.ms, "chunk": self.chunk} if self.voice else None


class ChunkArrived(NamedTuple):
    """An input: sound has arrived."""

    voice: int
    chunk: int
    samples: int
    at_ms: int


class PlayCommanded(NamedTuple):
    """An input: the server commands the player to begin, hold, resume, clear or finish a voice (one utterance of the
    agent)."""

    action: str
    voice: int
    ms: int  # where the voice begins, with `begin`
    at_ms: int


class PlayerTick(NamedTuple):
    """An input: nothing happened except that time has passed."""

    at_ms: int


class PlayReport(NamedTuple):
    """A report to the server: played, finished or stopped."""

    kind: str
    voice: int
    ms: int


PlayerInput: TypeAlias = ChunkArrived | PlayCommanded | PlayerTick


def step(player: ClockPlayer, given: PlayerInput) -> tuple[ClockPlayer, tuple[PlayReport, ...]]:
    """Advance playback to the time of this input, then process the input. Returns the new state and the reports to
    send."""
    player = _moved(player, given.at_ms)
    match given:
        case ChunkArrived():
            return _told(_arrived(player, given))
        case PlayCommanded():
            return _commanded(player, given)
        case PlayerTick():
            return _told(player)


def _moved(player: ClockPlayer, at_ms: int) -> ClockPlayer:
    passed_ms = max(0, at_ms - player.at_ms)
    if not player.is_sounding:
        return replace(player, at_ms=at_ms)
    return replace(player, at_ms=at_ms, heard=min(player.arrived, player.heard + passed_ms * SAMPLES_PER_MS))


def _arrived(player: ClockPlayer, given: ChunkArrived) -> ClockPlayer:
    if given.voice > player.voice:
        player = ClockPlayer(voice=given.voice, at_ms=given.at_ms)
    is_wanted = given.voice == player.voice and given.chunk > player.chunk
    if not is_wanted or player.place is PlayerPlace.STOPPED:
        return player
    place = PlayerPlace.PLAYING if player.place is PlayerPlace.FINISHED else player.place
    return replace(player, place=place, chunk=given.chunk, arrived=player.arrived + given.samples)


def _commanded(player: ClockPlayer, given: PlayCommanded) -> tuple[ClockPlayer, tuple[PlayReport, ...]]:
    action, voice = given.action, given.voice
    if voice > player.voice and action in ("begin", "hold", "clear", "finish"):
        player = ClockPlayer(voice=voice, at_ms=given.at_ms)  # a command may overtake the sound
    if voice != player.voice:
        late = {"clear": "stopped", "finish": "finished"}.get(action)
        return player, (PlayReport(late, voice, 0),) if late else ()
    match action:
        case "begin" if not player.chunk:
            samples = given.ms * SAMPLES_PER_MS
            return replace(player, arrived=samples, heard=samples, reported_ms=given.ms), ()
        case "hold" | "resume" if player.place in (PlayerPlace.PLAYING, PlayerPlace.HELD):
            place = PlayerPlace.HELD if action == "hold" else PlayerPlace.PLAYING
            return _told(replace(player, place=place), is_now=action == "hold")
        case "clear":
            return replace(player, place=PlayerPlace.STOPPED), (PlayReport("stopped", voice, player.ms),)
        case "finish" if player.place is PlayerPlace.FINISHED:  # the report was lost
            return player, (PlayReport("finished", voice, player.ms),)
        case "finish":
            return _told(replace(player, is_complete=True))
    return player, ()


def _told(player: ClockPlayer, is_now: bool = False) -> tuple[ClockPlayer, tuple[PlayReport, ...]]:
    """The state after reporting, and the reports that are due now: one, or none."""
    is_over = player.is_complete and player.heard >= player.arrived
    if player.place is PlayerPlace.PLAYING and is_over:
        report = PlayReport("finished", player.voice, player.ms)
        return replace(player, place=PlayerPlace.FINISHED, reported_ms=player.ms), (report,)
    news_ms = player.ms - player.reported_ms
    if player.place not in (PlayerPlace.PLAYING, PlayerPlace.HELD) or news_ms < (1 if is_now else REPORT_MS):
        return player, ()
    return replace(player, reported_ms=player.ms), (PlayReport("played", player.voice, player.ms),)
