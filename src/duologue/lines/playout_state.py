"""Decides what a queue of samples plays next, as pure functions. A voice is the sound of one utterance of the agent; a
cue is a short signal. The state says which voice is playing, held or complete, and whether samples of the voice or of a
cue come next.

The state has numbers of samples, but not the samples themselves. Rule: an input about a voice that isn't the current
one doesn't change the state. Each private function here handles one kind of input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from .playback.inputs import ClearAsked, HoldAsked, ResumeAsked, SoundAdded, SoundEnded, VoiceBegan
from .playback.state import VoicePlace

# -- Inputs: those of a voice are the same as for a client (`playback.inputs`)


@dataclass(frozen=True, slots=True)
class CueAdded:
    """`samples` more samples of a cue can be played. A cue with a new number replaces the previous cue."""

    cue: int
    samples: int


@dataclass(frozen=True, slots=True)
class CueEnded:
    """The cue must be silent now."""


@dataclass(frozen=True, slots=True)
class SamplesNeeded:
    """The audio thread needs the next samples to play."""

    samples: int


@dataclass(frozen=True, slots=True)
class AmountAsked:
    """The line asks how much of the agent's current utterance was played. That it was played to its end is reported
    only once."""


PlayoutInput: TypeAlias = (
    VoiceBegan
    | SoundAdded
    | SoundEnded
    | HoldAsked
    | ResumeAsked
    | ClearAsked
    | CueAdded
    | CueEnded
    | SamplesNeeded
    | AmountAsked
)


class PlayoutDone(NamedTuple):
    """What to do with the queued samples of the utterance and of the cue: drop them (`drops_…`), or play that many of
    them now (`…_samples`). `played` is how many samples of the utterance were played so far; 0 if the input doesn't ask
    for this."""

    drops_voice: bool = False
    drops_cue: bool = False
    voice_samples: int = 0
    cue_samples: int = 0
    played: int = 0
    is_all: bool = False


NOTHING = PlayoutDone()


@dataclass(frozen=True, slots=True)
class PlayoutState:
    """Which utterance of the agent and which cue are queued, and how many samples of each."""

    place: VoicePlace = VoicePlace.SILENT
    voice: int = 0
    queued: int = 0
    played: int = 0
    is_complete: bool = False  # no more sound of the voice follows
    cue: int = 0
    cue_queued: int = 0

    def takes(self, voice: int) -> bool:
        """Is this the number of the agent's current utterance?"""
        return self.place is not VoicePlace.SILENT and voice == self.voice


PlayoutStep: TypeAlias = tuple[PlayoutState, PlayoutDone]


def step(state: PlayoutState, given: PlayoutInput) -> PlayoutStep:
    """Return the state after this input, and what to do with the queued samples."""
    return _STEPS[type(given)](state, given)


def _begin(s: PlayoutState, given: VoiceBegan) -> PlayoutStep:
    if s.takes(given.voice):
        return s, NOTHING
    new = PlayoutState(VoicePlace.PLAYING, given.voice, cue=s.cue, cue_queued=s.cue_queued)
    return new, PlayoutDone(drops_voice=True)


def _add(s: PlayoutState, given: SoundAdded) -> PlayoutStep:
    return (replace(s, queued=s.queued + given.samples) if s.takes(given.voice) else s), NOTHING


def _end(s: PlayoutState, given: SoundEnded) -> PlayoutStep:
    if not s.takes(given.voice):
        return s, NOTHING
    return replace(s, queued=s.queued + given.samples, is_complete=True), NOTHING


def _hold(s: PlayoutState, given: HoldAsked) -> PlayoutStep:
    return (replace(s, place=VoicePlace.HELD) if s.takes(given.voice) else s), NOTHING


def _resume(s: PlayoutState, given: ResumeAsked) -> PlayoutStep:
    return (replace(s, place=VoicePlace.PLAYING) if s.takes(given.voice) else s), NOTHING


def _clear(s: PlayoutState, given: ClearAsked) -> PlayoutStep:
    if not s.takes(given.voice):
        return s, NOTHING
    return _without_voice(s), PlayoutDone(drops_voice=True, played=s.played)


def _add_cue(s: PlayoutState, given: CueAdded) -> PlayoutStep:
    if given.cue == s.cue:
        return replace(s, cue_queued=s.cue_queued + given.samples), NOTHING
    return replace(s, cue=given.cue, cue_queued=given.samples), PlayoutDone(drops_cue=True)


def _end_cue(s: PlayoutState, _: CueEnded) -> PlayoutStep:
    return replace(s, cue_queued=0), PlayoutDone(drops_cue=True)


def _take(s: PlayoutState, given: SamplesNeeded) -> PlayoutStep:
    """Take samples of the utterance if it is playing and has some in the queue, and drop the cue. Otherwise take
    samples of the cue."""
    voice_samples = min(s.queued, given.samples) if s.place is VoicePlace.PLAYING else 0
    if voice_samples:
        left, played = s.queued - voice_samples, s.played + voice_samples
        after = PlayoutState(s.place, s.voice, left, played, s.is_complete, s.cue)
        return after, PlayoutDone(drops_cue=True, voice_samples=voice_samples)
    cue_samples = min(s.cue_queued, given.samples)
    if not cue_samples:
        return s, NOTHING
    return replace(s, cue_queued=s.cue_queued - cue_samples), PlayoutDone(cue_samples=cue_samples)


def _look(s: PlayoutState, _: AmountAsked) -> PlayoutStep:
    """Report how much of the agent's current utterance was played. If it was played completely, remove it."""
    is_all = s.place is not VoicePlace.SILENT and s.is_complete and not s.queued
    return (_without_voice(s) if is_all else s), PlayoutDone(played=s.played, is_all=is_all)


def _without_voice(s: PlayoutState) -> PlayoutState:
    return PlayoutState(cue=s.cue, cue_queued=s.cue_queued)


_STEPS: dict[type, Callable[[PlayoutState, Any], PlayoutStep]] = {
    VoiceBegan: _begin,
    SoundAdded: _add,
    SoundEnded: _end,
    HoldAsked: _hold,
    ResumeAsked: _resume,
    ClearAsked: _clear,
    CueAdded: _add_cue,
    CueEnded: _end_cue,
    SamplesNeeded: _take,
    AmountAsked: _look,
}
