"""Finds in the samples that a line played when something could be heard, and when it was speech.

Speech is what the voice has made: the samples tell, not what the agent says about them. Rule: a sound counts only where
its samples are loud enough. Its stated length doesn't count, so a sound that is silent, too short or has no samples is
silence.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from duologue.lines.scripted import RecordedSound
from duologue.ports.sound import Sound

FRAME_MS = 20
LEVEL_MIN = 64  # of the loudest sample in a frame: 54 dB below full scale

_Pieces: TypeAlias = tuple[tuple[int, Sound], ...]  # sounds, each with its place in milliseconds


class AudibleSound(NamedTuple):
    """A span of time in which one utterance of the agent, or one cue, could be heard, and whether it was speech."""

    what: str  # voice, cue
    number: int
    start_ms: int
    end_ms: int
    is_speech: bool


def audible_sounds(recorded: Iterable[RecordedSound], speech: Collection[bytes]) -> list[AudibleSound]:
    """The spans of time in which a voice or a cue could be heard, in the order of time. They begin and end with frames
    of 20 ms. `speech` has the samples of each sound that is speech."""
    found = [one for played in recorded for one in _audible(played, speech)]
    return sorted(found, key=lambda one: one.start_ms)


def _audible(played: RecordedSound, speech: Collection[bytes]) -> Iterator[AudibleSound]:
    spoken = tuple(piece for piece in played.pieces if piece[1].pcm in speech)
    since, is_speech = played.start_ms, None  # None: a silent frame
    for at_ms in range(played.start_ms, played.end_ms + FRAME_MS, FRAME_MS):
        now = _speech_at(played, spoken, min(at_ms, played.end_ms))
        if now is is_speech:
            continue
        if is_speech is not None:
            yield AudibleSound(played.what, played.number, since, min(at_ms, played.end_ms), is_speech)
        since, is_speech = at_ms, now


def _speech_at(played: RecordedSound, spoken: _Pieces, at_ms: int) -> bool | None:
    """Is speech heard in the frame that begins at this time? None if nothing can be heard in it."""
    from_ms = played.from_ms + at_ms - played.start_ms
    ms = min(FRAME_MS, played.end_ms - at_ms)
    if _level(played.pieces, from_ms, ms) < LEVEL_MIN:
        return None
    return _level(spoken, from_ms, ms) >= LEVEL_MIN


def _level(pieces: _Pieces, from_ms: int, ms: int) -> int:
    """The loudest sample in this stretch of a sound; 0 if there are no samples."""
    loudest = 0
    for place_ms, sound in pieces:
        if place_ms < from_ms + ms and from_ms < place_ms + sound.ms:
            begin = max(0, from_ms - place_ms) * sound.rate_hz // 1_000
            end = min(sound.ms, from_ms + ms - place_ms) * sound.rate_hz // 1_000
            samples = array("h", sound.pcm[2 * begin : 2 * end])
            loudest = max(loudest, max(samples, default=0), -min(samples, default=0))
    return loudest
