"""Finds in the samples that a line played when something could be heard.

Rule: a sound counts only where its samples are loud enough. Its stated length doesn't count, so a sound that is silent,
too short or has no samples is silence.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from duologue.lines.scripted import RecordedSound, Sounded
from duologue.ports.sound import Sound

FRAME_MS = 20
LEVEL_MIN = 64  # of the loudest sample in a frame: 54 dB below full scale


def audible_sounds(recorded: Iterable[RecordedSound]) -> list[Sounded]:
    """The spans of time in which a voice or a cue could be heard, in the order of time. They begin and end with frames
    of 20 ms."""
    found = [one for played in recorded for one in _audible(played)]
    return sorted(found, key=lambda one: one.start_ms)


def _audible(played: RecordedSound) -> Iterator[Sounded]:
    since: int | None = None
    for at_ms in range(played.start_ms, played.end_ms, FRAME_MS):
        from_ms = played.from_ms + at_ms - played.start_ms
        is_loud = _level(played.pieces, from_ms, min(FRAME_MS, played.end_ms - at_ms)) >= LEVEL_MIN
        if is_loud and since is None:
            since = at_ms
        if not is_loud and since is not None:
            yield Sounded(played.what, played.number, since, at_ms)
            since = None
    if since is not None:
        yield Sounded(played.what, played.number, since, played.end_ms)


def _level(pieces: tuple[tuple[int, Sound], ...], from_ms: int, ms: int) -> int:
    """The loudest sample in this stretch of a sound; 0 if there are no samples."""
    loudest = 0
    for place_ms, sound in pieces:
        if place_ms < from_ms + ms and from_ms < place_ms + sound.ms:
            begin = max(0, from_ms - place_ms) * sound.rate_hz // 1_000
            end = min(sound.ms, from_ms + ms - place_ms) * sound.rate_hz // 1_000
            samples = array("h", sound.pcm[2 * begin : 2 * end])
            loudest = max(loudest, max(samples, default=0), -min(samples, default=0))
    return loudest
