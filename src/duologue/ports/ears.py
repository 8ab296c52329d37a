"""The ears port: audio becomes speech on and off, partial text and final text.

Frames and the markers between them arrive in one stream, because their order matters. Rule: ears
report what they hear and decide nothing, but for a model that judges the end of a turn by itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

# -- What goes in


@dataclass(frozen=True, slots=True)
class Frame:
    """Some 10 to 40 ms of 16-bit mono PCM."""

    pcm: bytes
    rate_hz: int = 16_000


@dataclass(frozen=True, slots=True)
class Commit:
    """The turn is over: give its final text."""

    turn: int


@dataclass(frozen=True, slots=True)
class Discard:
    """It was a noise: forget its audio."""

    turn: int


Incoming: TypeAlias = Frame | Commit | Discard

# -- What comes out. `utterance` numbers what was said between two onsets, so that late text is known
# -- by it; 0 means the newest.


@dataclass(frozen=True, slots=True)
class SpeechBegan:
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class Partial:
    """The text so far; it may still change."""

    text: str
    confidence: float = 1.0
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class Final:
    """The text of an utterance, for good. Empty: nothing was said."""

    text: str
    confidence: float = 1.0
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class TurnOver:
    """A model that judges ends of turns by itself says that this is one."""

    utterance: int = 0


Heard: TypeAlias = SpeechBegan | SpeechEnded | Partial | Final | TurnOver


class Ears(Protocol):
    """Listens for as long as the conversation lasts."""

    def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """What was heard in this audio, as it is heard. The stream ends when the audio does."""
        ...
