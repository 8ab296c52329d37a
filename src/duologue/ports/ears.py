"""The ears port (VAD and STT): audio becomes the start and end of speech, partial text and final text.

Audio frames and markers such as `Commit` arrive in one stream, because their order matters. Ears needn't report pauses
and single frames of speech. Rule: ears only report what they hear; they decide nothing. The one exception is a model
that detects the end of a turn by itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, runtime_checkable

from duologue.turns.features import PauseFeatures

# -- What goes in


@dataclass(frozen=True, slots=True)
class Frame:
    """About 10 to 40 ms of audio from the user, as 16-bit mono PCM. `played` is what the loudspeaker played during this
    time, at the same sample rate; empty if the line doesn't know this. `pcm` may contain an echo of `played`."""

    pcm: bytes
    rate_hz: int = 16_000
    played: bytes = b""


@dataclass(frozen=True, slots=True)
class Commit:
    """The turn is over: yield its final text."""

    turn: int


@dataclass(frozen=True, slots=True)
class Discard:
    """The turn was only noise: discard its audio."""

    turn: int


@dataclass(frozen=True, slots=True)
class Sounding:
    """The agent's voice has started or stopped playing."""

    is_on: bool


Incoming: TypeAlias = Frame | Commit | Discard | Sounding

# -- What comes out. An utterance is the speech from one onset (first sign of speech) to the next. Its number
# -- connects late text with the speech. 0 means the newest utterance.


@dataclass(frozen=True, slots=True)
class SpeechBegan:
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """The user's speech has ended. `quiet_ms` is how long ago the user's voice fell silent."""

    utterance: int = 0
    quiet_ms: int = 0


@dataclass(frozen=True, slots=True)
class VoiceFrame:
    """One frame of audio in a turn. `probability` says how likely it is that the frame contains a human voice, and not
    the agent's own. `energy` is the loudness (RMS) from 0 to 1. `quiet_ms` is how long that voice has been silent."""

    probability: float
    energy: float
    ms: int
    quiet_ms: int
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class Pause:
    """The user's voice fell silent. `features` describe how the turn sounded until then. The same pause may be reported
    again when more is known about it. The words of the turn are reported separately, as `Partial` and `Final`."""

    features: PauseFeatures
    quiet_ms: int
    utterance: int = 0


@dataclass(frozen=True, slots=True)
class Partial:
    """The text so far, which may still change. `stability` is high if the text has changed little recently."""

    text: str
    confidence: float = 1.0
    utterance: int = 0
    stability: float | None = None


@dataclass(frozen=True, slots=True)
class Final:
    """The final text of an utterance; empty if nothing was said. `last_confidence` is the confidence of the last word.
    Ears may transcribe with two models: the first also transcribes the partial texts, and a second, better one
    transcribes the final text. Then `first_text`, `first_confidence` and `last_confidence` come from the first model.
    These three are used to decide when the turn ends and whether the agent is interrupted."""

    text: str
    confidence: float = 1.0
    utterance: int = 0
    last_confidence: float | None = None
    first_text: str = ""
    first_confidence: float = 1.0

    @property
    def for_verdicts(self) -> Final:
        """The same report, with the text and the confidence that turn-taking uses for its decisions."""
        if not self.first_text:
            return self
        return replace(self, text=self.first_text, confidence=self.first_confidence, first_text="")


@dataclass(frozen=True, slots=True)
class TurnOver:
    """Sent by a model that detects the end of a turn by itself: the turn is over."""

    utterance: int = 0


Heard: TypeAlias = SpeechBegan | SpeechEnded | VoiceFrame | Pause | Partial | Final | TurnOver


@runtime_checkable
class PushedAudio(Protocol):
    """Audio that can be passed to a function frame by frame, which is cheaper than waking a task for every frame. If
    the audio that ears get has `push_to`, they may use it; they can always iterate over the audio instead."""

    async def push_to(self, take: Callable[[Incoming], None]) -> None:
        """Call `take` with each frame and marker as soon as it arrives. Returns when the audio ends. `take` must not
        block. If `take` raises an exception, `push_to` raises it too."""
        ...


class Ears(Protocol):
    """Listens while the conversation lasts."""

    def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        """Yield reports of what is heard in this audio, each as soon as possible. The stream ends when the audio
        ends."""
        ...


@runtime_checkable
class NeedsLoading(Protocol):
    """Ears that have to be prepared before they can hear, for example by loading a model. Ears needn't implement
    this."""

    @property
    def is_ready(self) -> bool: ...

    async def prepare(self) -> None:
        """Make the ears ready, and return when they are. Does nothing if they are already ready."""
        ...
