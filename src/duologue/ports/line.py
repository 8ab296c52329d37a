"""The line port: the connection to the user, which plays the agent's sound and delivers the user's audio.

A voice is the sound of one reply of the agent, and has a number. The methods of a line act immediately: after `hold` or
`clear` returns, no more sound of that voice is sent. The line reports events through the callback `notify`. Rule: only
the line knows how much was actually played. It reports this in whole milliseconds from the beginning of the voice. Cues
and ambient sound aren't voices: they are played, but never reported.
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
    """`heard_ms` milliseconds of this voice (the sound of one reply) have been heard so far. A line must send this
    every 20 to 200 ms while the voice plays."""

    voice: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Finished:
    """This voice (the sound of one reply) was heard to its end. A line must not send this before `finish` was
    called."""

    voice: int
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """Playback has stopped after `clear`. Until then, `heard_ms` milliseconds of the reply's sound had been heard.
    `is_exact` is False if the client can't be reached: then this is the client's last report, and more may have been
    heard."""

    voice: int
    heard_ms: int
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Unplayable:
    """The line can't play the voice (the sound of one reply) with this number."""

    voice: int
    error: ErrorClass = ErrorClass.UNKNOWN


@dataclass(frozen=True, slots=True)
class Wobbled:
    """The connection is interrupted and may come back by itself."""


@dataclass(frozen=True, slots=True)
class Healed:
    """The connection came back by itself."""


@dataclass(frozen=True, slots=True)
class Closed:
    """The connection is closed. `hung_up` is True if the person ended the call, and False if the connection broke."""

    hung_up: bool = False


LineEvent: TypeAlias = Frame | Played | Finished | Stopped | Unplayable | Wobbled | Healed | Closed


class Line(Protocol):
    """A connection for audio: a phone call, a browser tab, or a microphone with a loudspeaker."""

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        """Connect. From now on, the line may call `notify`. Raises an exception if the line can't connect."""
        ...

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        """Queue one chunk of this voice (the sound of one reply). The chunks of a voice are numbered from 1."""
        ...

    def finish(self, voice: int) -> None:
        """Note that no more chunks of this voice (the sound of one reply) follow. When all chunks are played, the line
        must send Finished."""
        ...

    def hold(self, voice: int) -> None:
        """Pause playback now, and keep the queued audio."""
        ...

    def resume(self, voice: int) -> None:
        """Continue from the exact sample at which playback was held."""
        ...

    def clear(self, voice: int) -> None:
        """Stop playback now, and drop the queued audio. The line must then send Stopped."""
        ...

    def play_cue(self, cue: int, sound: Sound) -> None:
        """Play the sound of a cue (a short signal) now, such as a sound for waiting. Sound with the same cue number is
        played after it; sound with another number replaces it. A cue is not a voice, so no event is sent for it. The
        cue stops as soon as a reply is heard, whether that begins or is resumed. If the line can't play the cue now, it
        drops the cue."""
        ...

    def stop_cue(self) -> None:
        """Silence the cue now, if there is one."""
        ...

    def set_ambient(self, sound: Sound | None) -> None:
        """From now on, repeat this sound quietly in the background, and even more quietly while a reply is played. None
        ends the sound. No event is sent for ambient sound."""
        ...

    async def close(self) -> None: ...
