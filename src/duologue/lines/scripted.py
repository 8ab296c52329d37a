"""A line for simulations and tests. It plays on the event loop's clock and logs every command.

Rule: the line is exact to the millisecond. A hold is silent immediately, a clear drops the rest, and all that is
reported as heard was played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from duologue.ports.line import Closed, Finished, Healed, LineEvent, Played, Stopped, Wobbled
from duologue.ports.sound import Sound


class LineAct(NamedTuple):
    """One command that the line got."""

    at_ms: int
    what: str
    voice: int = 0
    chunk: int = 0


class _Track:
    """The playback of one voice: the sound of one utterance."""

    def __init__(self, voice: int) -> None:
        self.voice = voice
        self.total_ms = 0
        self.played_ms = 0  # up to the last pause
        self.since: float | None = None  # when playback last started; None while playback is paused
        self.no_more = False

    def heard_ms(self, now: float) -> int:
        running = round((now - self.since) * 1000) if self.since is not None else 0
        return min(self.total_ms, self.played_ms + running)

    def pause(self, now: float) -> None:
        self.played_ms = self.heard_ms(now)
        self.since = None


class ScriptedLine:
    """Plays one voice at a time, and reports every `ack_ms` how much of it was heard."""

    def __init__(self, ack_ms: int = 100, open_ms: int = 0) -> None:
        self.ack_ms = ack_ms
        self.open_ms = open_ms
        self.open_failures: list[BaseException] = []
        self.log: list[LineAct] = []
        self.played: dict[int, int] = {}  # the milliseconds that were played, by voice
        self.primed = True
        self.is_open = False
        self.opens = 0
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._track: _Track | None = None
        self._held = False
        self._alarm: asyncio.TimerHandle | None = None
        self._reachable = asyncio.Event()
        self._reachable.set()

    # -- The port

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        self.opens += 1
        if self.open_ms:
            await asyncio.sleep(self.open_ms / 1000)
        await self._reachable.wait()
        if self.open_failures:
            raise self.open_failures.pop(0)
        self._notify = notify
        self.is_open = True

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self._note("play", voice, chunk)
        if self._track is None or self._track.voice != voice:
            self._end_track()
            self._track = _Track(voice)
            self._held = False
        self._advance()
        self._track.total_ms += sound.ms
        self._go()

    def finish(self, voice: int) -> None:
        self._note("finish", voice)
        if self._track is not None and self._track.voice == voice:
            self._advance()
            self._track.no_more = True
            self._go()

    def hold(self, voice: int) -> None:
        self._note("hold", voice)
        if self._track is not None and self._track.voice == voice:
            self._held = True
            self._track.pause(self._now())
            self._cancel_timer()

    def resume(self, voice: int) -> None:
        self._note("resume", voice)
        if self._track is not None and self._track.voice == voice:
            self._held = False
            self._go()

    def clear(self, voice: int) -> None:
        self._note("clear", voice)
        heard_ms = self.heard_ms if self._track is not None and self._track.voice == voice else 0
        self._end_track()
        asyncio.get_running_loop().call_soon(self.tell, Stopped(voice, heard_ms))

    async def close(self) -> None:
        self._note("close")
        self._end_track()
        self.is_open = False

    # -- For scripts

    def tell(self, event: LineEvent) -> None:
        """Send this event to the conversation, as if it had happened on the line."""
        self._notify(event)

    def hang_up(self) -> None:
        """Simulate that the caller hangs up."""
        self.tell(Closed(hung_up=True))

    def wobble(self) -> None:
        """Simulate that the connection is interrupted and may come back."""
        self.tell(Wobbled())

    def heal(self) -> None:
        """Simulate that the connection is back after a `wobble`."""
        self.tell(Healed())

    def drop(self) -> None:
        """Simulate that the connection breaks and doesn't come back by itself."""
        self._end_track()
        self.is_open = False
        self.tell(Closed())

    def block(self) -> None:
        """Make `open` wait until `unblock` is called."""
        self._reachable.clear()

    def unblock(self) -> None:
        self._reachable.set()

    @property
    def is_sounding(self) -> bool:
        """Is sound playing right now?"""
        track = self._track
        return track is not None and track.since is not None and track.heard_ms(self._now()) < track.total_ms

    @property
    def heard_ms(self) -> int:
        return self._track.heard_ms(self._now()) if self._track is not None else 0

    # -- Playing

    def _advance(self) -> None:
        """Count what was played so far. Must be called before more sound is added, so that a gap without sound isn't
        counted."""
        track = self._track
        if track is not None and track.since is not None:
            track.pause(self._now())

    def _go(self) -> None:
        track = self._track
        if track is None or self._held:
            return
        if track.since is None:
            track.since = self._now()
        left_ms = track.total_ms - track.heard_ms(self._now())
        self._cancel_timer()
        if left_ms > 0 or track.no_more:
            wait_ms = min(left_ms, self.ack_ms)
            self._alarm = asyncio.get_running_loop().call_later(wait_ms / 1000, self._acknowledge)

    def _acknowledge(self) -> None:
        track = self._track
        if track is None or self._held:
            return
        heard_ms = track.heard_ms(self._now())
        if heard_ms >= track.total_ms and track.no_more:
            self._end_track()
            self.tell(Finished(track.voice, heard_ms))
            return
        self.tell(Played(track.voice, heard_ms))
        if self._track is track and not self._held:
            self._go()

    def _end_track(self) -> None:
        if self._track is not None:
            self.played[self._track.voice] = self.heard_ms
        self._track = None
        self._cancel_timer()

    def _cancel_timer(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _note(self, what: str, voice: int = 0, chunk: int = 0) -> None:
        self.log.append(LineAct(round(self._now() * 1000), what, voice, chunk))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
