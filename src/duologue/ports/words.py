"""The words port: a remote service transcribes speech, while ears on this computer detect when the person speaks.

Audio is passed without gaps, and all times count from its start. The ears report where an utterance begins and ends,
and the service returns its text. Rule: a stream of words doesn't decide when a turn ends. But it may report that its
service has detected the end of a turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class WrittenText:
    """The text of an utterance so far. `stability` is 1 if the text won't change any more."""

    text: str = ""
    confidence: float = 1.0
    stability: float = 0.5
    last_confidence: float | None = None


class WordStream(Protocol):
    """Transcribes the audio of one conversation, utterance by utterance."""

    def follow(
        self,
        on_text: Callable[[int, WrittenText], None],
        on_late: Callable[[int, WrittenText], None],
        on_turn_over: Callable[[], None],
    ) -> None:
        """Set the functions to call from now on: `on_text` if the text of an utterance has changed, `on_late` if the
        text has changed although `finish` has already returned it, and `on_turn_over` if the service has detected the
        end of a turn."""
        ...

    def hear(self, pcm: bytes) -> None:
        """Take the next piece of audio: 16-bit mono PCM at 16 kHz."""
        ...

    def begin(self, utterance: int, first_ms: int) -> None:
        """An utterance begins at `first_ms`. Before the next utterance begins, this one is ended by `finish` or
        `discard`."""
        ...

    async def finish(self, utterance: int, end_ms: int, voiced_ms: int) -> WrittenText:
        """Return the final text of the utterance, which ends at `end_ms`. The speaker's voice fell silent at
        `voiced_ms`. Raises an exception if the service fails."""
        ...

    def discard(self, utterance: int) -> None:
        """Discard this utterance, because its text isn't needed."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class WordService(Protocol):
    """Opens streams of words."""

    async def open_words(self) -> WordStream:
        """Open the stream of one conversation. Raises ServiceError if the service can't be reached."""
        ...
