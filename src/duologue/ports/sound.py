"""A piece of sound and the words in it.

Sound is 16-bit mono PCM. A simulation leaves `pcm` empty and sets only the length. Rule: the times of
words count from the beginning of their own piece of sound.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word, spelled as in the text, with the times at which its sound starts and ends."""

    text: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Sound:
    """One piece of speech. `words` are the words that end in this piece; empty if the voice (TTS) doesn't report the
    times of words. `text` is what this piece says; only a speech-to-speech model sets it. `more` means that the
    following pieces belong to the same text: the words of the text are then distributed over the sound of all these
    pieces."""

    ms: int
    pcm: bytes = b""
    rate_hz: int = 24_000
    words: tuple[Word, ...] = ()
    text: str = ""
    more: bool = False

    def __post_init__(self) -> None:
        if type(self.ms) is not int or self.ms <= 0:
            raise ValueError(f"Sound.ms must be a whole number of milliseconds above 0, not {self.ms!r}")
