"""A line for simulations and tests. It plays on the event loop's clock and logs every command.

Rule: the line is exact to the millisecond. After a hold it is silent immediately, after a clear it drops the rest of
the voice, and it never reports more sound as heard than it has played.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from duologue.ports.line import Closed, Finished, Healed, LineEvent, Played, Stopped, Wobbled
from duologue.ports.sound import Sound


class LineAct(NamedTuple):
    """One command that the conversation gave to the line, for tests to check."""

    at_ms: int
    what: str
    voice: int = 0
    chunk: int = 0


class Sounded(NamedTuple):
    """A span of time in which one utterance of the agent, or one cue, could be heard."""

    what: str  # voice, cue
    number: int
    start_ms: int
    end_ms: int


class RecordedSound(NamedTuple):
    """A span of time in which one voice or cue was played, and what was played: the pieces of its sound, each with its
    place in the whole sound in milliseconds. `from_ms` is the place at which this span begins."""

    what: str  # voice, cue
    number: int
    start_ms: int
    end_ms: int
    from_ms: int
    pieces: tuple[tuple[int, Sound], ...]


class _Track:
    """The playback of one voice (the sound of one utterance), or of one cue."""

    def __init__(self, voice: int) -> None:
        self.voice = voice
        self.pieces: list[tuple[int, Sound]] = []  # each with its place in the whole sound
        self.spans: list[tuple[int, int]] = []  # when its sound was heard
        self.total_ms = 0
        self.played_ms = 0  # up to the last pause
        self.since: float | None = None  # when playback last started; None while playback is paused
        self.no_more = False

    def add(self, sound: Sound) -> None:
        self.pieces.append((self.total_ms, sound))
        self.total_ms += sound.ms

    def heard_ms(self, now: float) -> int:
        running = round((now - self.since) * 1000) if self.since is not None else 0
        return min(self.total_ms, self.played_ms + running)

    def pause(self, now: float) -> None:
        self.spans = self.spans_until(now)
        self.played_ms = self.heard_ms(now)
        self.since = None

    def spans_until(self, now: float) -> list[tuple[int, int]]:
        """The spans of time in which this sound was heard so far. Spans without a gap between them are merged."""
        ms = self.heard_ms(now) - self.played_ms
        if self.since is None or not ms:
            return self.spans
        start = round(self.since * 1000)
        if self.spans and self.spans[-1][1] >= start:
            return [*self.spans[:-1], (self.spans[-1][0], start + ms)]
        return [*self.spans, (start, start + ms)]

    def left_ms(self, now: float) -> int:
        return self.total_ms - self.heard_ms(now)


class ScriptedLine:
    """Plays one utterance of the agent at a time, and reports every `ack_ms` how much of it was heard."""

    def __init__(self, ack_ms: int = 100, open_ms: int = 0) -> None:
        self.ack_ms = ack_ms
        self.open_ms = open_ms
        self.open_failures: list[BaseException] = []
        self.log: list[LineAct] = []
        self.connections: list[LineAct] = []  # when it was opened, and when it went away
        self.played: dict[int, int] = {}  # the milliseconds that were played, by voice
        self.ambient: Sound | None = None
        self.primed = True
        self.knows_heard = True  # False: after `drop`, the line doesn't know how much of the voice was heard
        self.is_open = False
        self.opens = 0
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._track: _Track | None = None
        self._cue: _Track | None = None
        self._recorded: list[RecordedSound] = []
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
        self.connections.append(LineAct(round(self._now() * 1000), "open"))

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self._note("play", voice, chunk)
        if self._track is None or self._track.voice != voice:
            self._end_track()
            self._track = _Track(voice)
            self._held = False
        self._advance()
        self._track.add(sound)
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
        is_current = self._track is not None and self._track.voice == voice
        heard_ms = self._end_track() if is_current else self.played.get(voice, 0)
        self._end_track()
        asyncio.get_running_loop().call_soon(self.tell, Stopped(voice, heard_ms, self.knows_heard or self.is_open))

    def play_cue(self, cue: int, sound: Sound) -> None:
        if not self.is_open or self.is_sounding:
            return
        self._note("play_cue", cue)
        if self._cue is None or self._cue.voice != cue:
            self._end_cue()
            self._cue = _Track(cue)
        self._cue.pause(self._now())
        self._cue.add(sound)
        self._cue.since = self._now()

    def stop_cue(self) -> None:
        self._note("stop_cue", self._cue.voice if self._cue is not None else 0)
        self._end_cue()

    def set_ambient(self, sound: Sound | None) -> None:
        self._note("set_ambient")
        self.ambient = sound

    async def close(self) -> None:
        self._note("close")
        self._end_track()
        self._end_cue()
        self._go_away()

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
        self._end_cue()
        self._go_away()
        self.tell(Closed())

    def _go_away(self) -> None:
        self.is_open = False
        self.connections.append(LineAct(round(self._now() * 1000), "away"))

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
    def sounded(self) -> list[Sounded]:
        """What was heard so far and when: voices and cues, without the ambient sound, in the order of time."""
        return [Sounded(one.what, one.number, one.start_ms, one.end_ms) for one in self.recorded]

    @property
    def recorded(self) -> list[RecordedSound]:
        """What was heard so far and when, together with the sound itself: voices and cues, in the order of time."""
        tracks = (("voice", self._track), ("cue", self._cue))
        now = [_recorded(what, track, self._now()) for what, track in tracks if track is not None]
        return sorted((*self._recorded, *(one for some in now for one in some)), key=lambda one: one.start_ms)

    @property
    def is_cue_sounding(self) -> bool:
        """Is a cue playing right now?"""
        return self._cue is not None and self._cue.left_ms(self._now()) > 0

    @property
    def heard_ms(self) -> int:
        return self._track.heard_ms(self._now()) if self._track is not None else 0

    # -- Playing

    def _advance(self) -> None:
        """Record how much was played so far. Must be called before more sound is added, so that a gap without sound
        isn't counted as played."""
        track = self._track
        if track is not None and track.since is not None:
            track.pause(self._now())

    def _go(self) -> None:
        track = self._track
        if track is None or self._held:
            return
        if track.since is None:
            track.since = self._now()
        left_ms = track.left_ms(self._now())
        self._cancel_timer()
        if left_ms > 0:
            self._end_cue()
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

    def _end_track(self) -> int:
        """Forget the current voice (utterance of the agent). Returns how much of it was heard, in ms; 0 if there is no
        voice."""
        now = self._now()
        heard_ms = self._track.heard_ms(now) if self._track is not None else 0
        if self._track is not None:
            self.played[self._track.voice] = heard_ms
            self._recorded += _recorded("voice", self._track, now)
        self._track = None
        self._cancel_timer()
        return heard_ms

    def _end_cue(self) -> None:
        if self._cue is not None:
            self._recorded += _recorded("cue", self._cue, self._now())
        self._cue = None

    def _cancel_timer(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _note(self, what: str, voice: int = 0, chunk: int = 0) -> None:
        self.log.append(LineAct(round(self._now() * 1000), what, voice, chunk))

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _recorded(what: str, track: _Track, now: float) -> list[RecordedSound]:
    found: list[RecordedSound] = []
    from_ms, pieces = 0, tuple(track.pieces)
    for start_ms, end_ms in track.spans_until(now):
        found.append(RecordedSound(what, track.voice, start_ms, end_ms, from_ms, pieces))
        from_ms += end_ms - start_ms
    return found
