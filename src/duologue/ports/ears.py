"""The ears port: audio becomes speech on and off, partial text and final text.

Frames and the markers between them arrive in one stream, because their order matters. Rule: ears
report what they hear and decide nothing, but for a model that judges the end of a turn by itself. How
a pause sounds, and every frame of voice, are told by ears that can.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from duologue.turns.features import PauseFeatures

# -- What goes in


@dataclass(frozen=True, slots=True)
class Frame:
    """Some 10 to 40 ms of 16-bit mono PCM. `played` is what the loudspeaker played in this time, at the same
    rate, if the line knows: the echo of it is in `pcm`."""

    pcm: bytes
    rate_hz: int = 16_000
    played: bytes = b""


@dataclass(frozen=True, slots=True)
class Commit:
    """The turn is over: give its final text."""

    turn: int


@dataclass(frozen=True, slots=True)
class Discard:
    """It was a noise: forget its audio."""

    turn: int


@dataclass(frozen=True, slots=True)
class Sounding:
    """The agent's voice begins to sound, or no longer does."""

    is_on: bool


Incoming: TypeAlias = Frame | Commit | Discard | Sounding

# -- What comes out. `utterance` numbers what was said between two onsets, so that late text is known
# -- by it; 0 means the newest.


@dataclass(frozen=True, slots=True)
class SpeechBegan:
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """`quiet_ms`: how long ago the voice fell silent."""

    utterance: int = 0
    quiet_ms: int = 0


@dataclass(frozen=True, slots=True)
class VoiceFrame:
    """One frame, from an onset to the end of its turn. `probability` is that of a voice other than the
    agent's own, `energy` the RMS from 0 to 1."""

    probability: float
    energy: float
    ms: int
    quiet_ms: int
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """The voice has fallen silent, and how the turn sounded until then. Told again when more is known;
    the words are told apart."""

    features: PauseFeatures
    quiet_ms: int
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class Partial:
    """The text so far; it may still change. `stability` says how little it has changed of late."""

    text: str
    confidence: float = 1.0
    utterance: int = 0
    stability: float | None = None


@dataclass(frozen=True, slots=True)
class Final:
    """The text of an utterance, for good. Empty: nothing was said. `last_confidence`: of its last word."""

    text: str
    confidence: float = 1.0
    utterance: int = 0
    last_confidence: float | None = None


@dataclass(frozen=True, slots=True)
class TurnOver:
    """A model that judges ends of turns by itself says that this is one."""

    utterance: int = 0


Heard: TypeAlias = SpeechBegan | SpeechEnded | VoiceFrame | Pause | Partial | Final | TurnOver


class Ears(Protocol):
    """Listens for as long as the conversation lasts."""

    def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """What was heard in this audio, as it is heard. The stream ends when the audio does."""
        ...
