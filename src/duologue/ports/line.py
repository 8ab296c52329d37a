"""The line port: where sound goes out and audio comes in.

Called directly and at once: after `hold` or `clear` returns, no further sound of that voice leaves.
What the line has to say comes through `tell`. Rule: only the line knows what was really played, and
it says so in whole milliseconds counted from the voice's beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from duologue.core.leaves import ErrorClass

from .ears import Frame
from .sound import Sound


@dataclass(frozen=True, slots=True)
class Played:
    """So much of this voice has been heard. Told every 20 to 200 ms while it plays."""

    voice: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Finished:
    """All of this voice has been heard; `finish` was called before."""

    voice: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """Silent after `clear`, and this is what was heard."""

    voice: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Unplayable:
    """The line can't play this voice."""

    voice: int
    error: ErrorClass = ErrorClass.UNKNOWN


@dataclass(frozen=True, slots=True)
class Wobbled:
    """Interrupted, and may come back by itself."""


@dataclass(frozen=True, slots=True)
class Healed:
    """It came back by itself."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Gone. `hung_up`: the person ended the call; otherwise the connection broke."""

    hung_up: bool = False


LineEvent: TypeAlias = Frame | Played | Finished | Stopped | Unplayable | Wobbled | Healed | Closed


class Line(Protocol):
    """A phone call, a browser tab, a microphone and a loudspeaker."""

    async def open(self, tell: Callable[[LineEvent], None]) -> None:
        """Get ready; from here on the line may tell. Raises if there is no line to be had."""
        ...

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        """Queue one piece of this voice. Chunks of a voice are numbered from 1."""
        ...

    def finish(self, voice: int) -> None:
        """No more pieces: tell Finished when all is played."""
        ...

    def hold(self, voice: int) -> None:
        """Silence now; keep what is queued."""
        ...

    def resume(self, voice: int) -> None:
        """Go on from the very sample where it was held."""
        ...

    def clear(self, voice: int) -> None:
        """Silence now; drop what is queued; tell Stopped."""
        ...

    async def close(self) -> None: ...
