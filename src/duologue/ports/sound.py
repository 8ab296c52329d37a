"""A piece of sound and the words in it.

Sound is 16-bit mono PCM. A simulation leaves `pcm` empty and keeps the length. Rule: the times of
words count from the beginning of their own piece of sound.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is written, and when it sounds."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Sound:
    """One piece of speech. `words` holds those that end in it; a voice that doesn't know leaves it
    empty. `text` is what it says, given only by a model that speaks by itself; with `more`, the pieces that
    follow say the rest of it, and its words share the sound of all of them."""

    ms: int
    pcm: bytes = b""
    rate_hz: int = 24_000
    words: tuple[Word, ...] = ()
    text: str = ""
    more: bool = False

    def __post_init__(self) -> None:
        if type(self.ms) is not int or self.ms <= 0:
            raise ValueError(f"a sound lasts a whole number of milliseconds above 0, not {self.ms!r}")
