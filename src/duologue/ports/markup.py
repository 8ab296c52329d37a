"""The markup port: a text with speech tags, for voices whose service can change the pauses, the speed, the volume, the
emotion or the pronunciation within a text.

Rule: a voice that doesn't implement this port gets the bare text. The tags never add or remove a word.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from .sound import Sound
from .voice import Voice

KINDS = ("break", "phonemes", "speed", "volume", "emotion")


@dataclass(frozen=True, slots=True)
class SpeechTag:
    """How the text from `start` to `end` is said. `kind` is one of KINDS. `value` is the length of a break in
    milliseconds, the pronunciation in IPA, a factor for the speed or the volume, or the name of an emotion. For a
    break, `start` equals `end`."""

    kind: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text as it is said, and its tags. The tags are nested or apart, and outer tags come first."""

    text: str
    tags: tuple[SpeechTag, ...] = ()

    def after(self, place: int) -> TaggedText:
        """The text from `place` on, with the tags that still apply to it. A tag that began earlier applies from the
        start of the rest, except a pronunciation, which belongs to a whole word."""
        left = (
            replace(tag, start=max(0, tag.start - place), end=tag.end - place)
            for tag in self.tags
            if tag.start >= place or (tag.end > place and tag.kind != "phonemes")
        )
        return TaggedText(self.text[place:], tuple(left))


@runtime_checkable
class TakesMarkup(Protocol):
    """A voice whose service understands markup in its text."""

    def speak_tagged(self, tagged: TaggedText) -> AsyncIterator[Sound]:
        """The sound of one sentence, like `Voice.speak`, with its tags. Tags that the service doesn't offer are left
        out. Word times count for the words of `tagged.text`."""
        ...


def speak_tagged(voice: Voice, tagged: TaggedText) -> AsyncIterator[Sound]:
    """The sound of this text. The tags are used if the voice takes markup."""
    if hasattr(voice, "speak_tagged"):  # is it a `TakesMarkup`? `isinstance` is slow, and this runs for each sentence
        sound: AsyncIterator[Sound] = voice.speak_tagged(tagged)
        return sound
    return voice.speak(tagged.text)
