"""Reads the audio frames of a TTS plugin: the PCM, and the words that came with it.

Rule: a word without an end time is left out. Its time is later estimated from the words around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.sound import Sound, Word
from duologue.voice.timed_sound import TimedSound

from .failures import PluginFailed

_TIMED_KEY = "lk.timed_transcripts"


def feed_frame(timed: TimedSound, frame: Any, name: str) -> list[Sound]:
    """Add a frame, and return the sounds that are now complete. Raises a ServiceError if the audio of the frame can't
    be played."""
    if frame.num_channels != 1:
        raise PluginFailed(
            ErrorClass.INVALID_ARGS,
            f"{name} sends {frame.num_channels} channels: ask it for 1 channel, in the plugin's settings",
        )
    timed.add_words(_words(frame.userdata.get(_TIMED_KEY) or ()))
    return timed.feed(bytes(frame.data.cast("b")), frame.sample_rate)


def _words(timed: Any) -> Iterator[Word]:
    for word in timed:
        start_ms, end_ms = _ms(word, "start_time"), _ms(word, "end_time")
        if end_ms is not None:
            yield Word(str(word).strip(), end_ms if start_ms is None else start_ms, end_ms)


def _ms(word: Any, name: str) -> int | None:
    """The value of the field `name` of a word, such as "start_time", in milliseconds; None if the time isn't known."""
    value = getattr(word, name, None)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 86_400:
        return None
    return round(value * 1000)
