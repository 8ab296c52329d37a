"""The line of a phone call: sends sound in frames of 20 ms, and learns from marks how much of it was heard.

The carrier buffers sound, so only a little is sent ahead of playback, and a clear empties the buffer. A mark is sent
about every 100 ms; the carrier returns it when all sound before the mark has been played. Rule: only sound before a
returned mark counts as heard. A mark that returns after a clear doesn't count: its name was forgotten at the clear.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.ears import Frame
from duologue.ports.failure import classify
from duologue.ports.line import Closed, Finished, LineEvent, Played, Stopped, Unplayable
from duologue.ports.sound import Sound

from .carriers import Carrier, Marked, Media, Pressed, Started, media_writer, write_clear, write_mark
from .codecs import FRAME_MS, Codec, codec_of
from .frame_order import Order


class CarrierWire(Protocol):
    """The sending side of the carrier's socket."""

    def send(self, text: str) -> None:
        """Send this text. Never waits, and keeps the order."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


@dataclass(frozen=True, slots=True)
class BufferPace:
    """How far the carrier's buffer is filled, and how often a mark is sent."""

    ahead_ms: int = 200  # sound that the carrier may buffer: enough for a slow network, and no more
    mark_ms: int = 100


class LineGone(ConnectionError):
    """The call has ended, so the line can't be opened or played on."""


class _Track:
    """The sound of one voice (one utterance of the agent), as encoded frames. A frame is retained until it was
    heard."""

    def __init__(self, voice: int, codec: Codec) -> None:
        self.voice = voice
        self.take = 1  # counted up when sound is sent again after a hold
        self.sent = self.heard = 0  # frames
        self.is_held = self.is_complete = False
        self.began = 0.0  # when the first frame would have started to play, if playback had had no gap
        self.samples = 0
        self.resampler = LiveResampler(codec.rate_hz, codec.rate_hz)
        self.from_hz = codec.rate_hz
        self._codec = codec
        self._frames: list[bytes] = []
        self._gone = 0  # frames that were heard and removed
        self._rest = b""

    @property
    def total(self) -> int:
        return self._gone + len(self._frames)

    @property
    def is_all_sent(self) -> bool:
        return self.is_complete and self.sent == self.total

    @property
    def heard_ms(self) -> int:
        """How much was heard, without the silence that fills up the last frame."""
        return min(self.heard * FRAME_MS, self.samples * 1000 // self._codec.rate_hz)

    def add(self, sound: Sound) -> None:
        codec = self._codec
        if not sound.pcm:  # simulated sound has only a length
            self._cut(codec.encode(bytes(2 * (codec.rate_hz * sound.ms // 1000))))
            return
        if sound.rate_hz != self.from_hz:
            self.finish_resampling()
            self.from_hz = sound.rate_hz
            self.resampler = LiveResampler(sound.rate_hz, codec.rate_hz)
        self._cut(codec.encode(to_pcm(self.resampler.feed(to_samples(sound.pcm)))))

    def finish_resampling(self) -> None:
        self._cut(self._codec.encode(to_pcm(self.resampler.finish())))

    def complete(self) -> None:
        """The voice has ended. Fill up its last frame with silence, because carriers may refuse a shorter frame."""
        self.finish_resampling()
        if self._rest:
            self._frames.append((self._rest + self._codec.silence)[: self._codec.frame_bytes])
            self._rest = b""
        self.is_complete = True

    def _cut(self, coded: bytes) -> None:
        self.samples += len(coded) // self._codec.bytes_per_sample
        coded, size = self._rest + coded, self._codec.frame_bytes
        whole = len(coded) - len(coded) % size
        self._frames += [coded[at : at + size] for at in range(0, whole, size)]
        self._rest = coded[whole:]

    def next(self) -> bytes:
        """The next frame to send."""
        frame = self._frames[self.sent - self._gone]
        self.sent += 1
        return frame

    def note_heard(self, frames: int) -> None:
        self.heard = max(self.heard, frames)
        del self._frames[: self.heard - self._gone]
        self._gone = self.heard

    def rewind(self) -> None:
        """Go back to the first frame that was not heard: `next` returns that frame."""
        self.take += 1
        self.sent = self.heard


class PhoneLine:
    """The line of one call. `pressed` is called with each key that the caller presses. `sends` is the encoding and
    the sample rate of the sound that we send; None means the same as the carrier's."""

    def __init__(
        self,
        carrier: Carrier,
        started: Started,
        wire: CarrierWire,
        pressed: Callable[[str], None] = lambda digit: None,  # noqa: ARG005
        pace: BufferPace | None = None,
        sends: tuple[str, int] | None = None,
    ) -> None:
        self.codec = codec_of(carrier, started.encoding, started.rate_hz)  # of the sound that the carrier sends
        self.codec_out = codec_of(carrier, *sends) if sends is not None else self.codec
        self.counts: Counter[str] = Counter()
        self.has_hung_up = False  # has the agent ended the call?
        self.pressed = pressed
        self._carrier = carrier
        self._stream = started.stream
        self._write = media_writer(carrier, started.stream)
        self._wire = wire
        self._pace = pace or BufferPace()
        self._order = Order(self.codec.silence)
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._is_gone = False
        self._track: _Track | None = None
        self._marks: dict[str, int] = {}  # marks that haven't returned yet, with the number of frames before each
        self._alarm: asyncio.TimerHandle | None = None

    # -- The port

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        if self._is_gone:
            raise LineGone("the call has ended")
        self._notify = notify

    def play(self, voice: int, chunk: int, sound: Sound) -> None:  # noqa: ARG002 - pieces come in order
        self._check()
        track = self._track
        if track is None or track.voice != voice:
            if track is not None:
                self._flush()
            self._track = track = _Track(voice, self.codec_out)
        track.add(sound)
        self._pump()

    def finish(self, voice: int) -> None:
        track = self._track
        if track is None or track.voice != voice:
            return
        track.complete()
        self._pump()
        if track.heard == track.total:  # nothing is left to wait for
            asyncio.get_running_loop().call_soon(self._end_track, track)

    def hold(self, voice: int) -> None:
        """Empty the carrier's buffer. `resume` sends the unplayed sound again."""
        track = self._track
        if track is not None and track.voice == voice and not track.is_held:
            track.is_held = True
            self._flush()
            track.rewind()

    def resume(self, voice: int) -> None:
        """Continue from the last returned mark. Sound that was played after the mark, up to 100 ms, is heard twice."""
        track = self._track
        if track is not None and track.voice == voice and track.is_held:
            track.is_held = False
            self._pump()

    def clear(self, voice: int) -> None:
        track = self._track
        heard_ms = 0
        if track is not None and track.voice == voice:
            heard_ms = track.heard_ms
            self._flush()
            self._track = None
        asyncio.get_running_loop().call_soon(self._notify, Stopped(voice, heard_ms))

    async def close(self) -> None:
        """Hang up."""
        self._cancel_timer()
        self._track = None
        if not self._is_gone:
            self._is_gone = self.has_hung_up = True
            self._wire.close()

    # -- What the carrier sends

    def hear(self, media: Media) -> None:
        """Pass on a piece of the caller's sound. Sound of the other direction is only counted."""
        if not media.is_inbound:
            self.counts["outbound"] += 1
            return
        for payload in self._order.feed(media.chunk, media.payload):
            self._notify(Frame(self.codec.decode(payload), self.codec.rate_hz))

    def note_mark(self, marked: Marked) -> None:
        """A mark has returned: note that the caller has heard all sound before it. A mark from before a clear is only
        counted."""
        frames, track = self._marks.pop(marked.name, None), self._track
        if frames is None or track is None:
            self.counts["flushed_marks"] += 1
            return
        track.note_heard(frames)
        if track.is_complete and track.heard == track.total:
            self._end_track(track)
        else:
            self._notify(Played(track.voice, track.heard_ms))

    def note_key(self, pressed: Pressed) -> None:
        """The caller has pressed a key."""
        self.pressed(pressed.digit)

    def hung_up(self) -> None:
        """The carrier has ended the call or has disconnected: report that the caller is gone."""
        if self._is_gone:
            return
        for payload in self._order.finish():
            self._notify(Frame(self.codec.decode(payload), self.codec.rate_hz))
        self._is_gone = True
        self._cancel_timer()
        self._notify(Closed(hung_up=True))

    @property
    def facts(self) -> dict[str, int]:
        """Counts of irregular frames and marks, for the log."""
        order = self._order
        return {"lost": order.lost, "dropped": order.dropped, "reordered": order.reordered, **self.counts}

    # -- Sending

    def _pump(self) -> None:
        """Send what may be sent now, and set a timer for the rest."""
        track, loop = self._track, asyncio.get_running_loop()
        self._cancel_timer()
        if track is None or track.is_held or self._is_gone:
            return
        now = loop.time()
        while track.sent < track.total:
            ahead_ms = track.sent * FRAME_MS - (now - track.began) * 1000
            if ahead_ms < 0:  # the carrier had nothing left to play: the gap doesn't count as sound
                track.began = now - track.sent * FRAME_MS / 1000
            elif ahead_ms + FRAME_MS > self._pace.ahead_ms + 0.5:
                wait_ms = ahead_ms + FRAME_MS - self._pace.ahead_ms
                self._alarm = loop.call_later(wait_ms / 1000, self._pump_on, track.voice)
                return
            self._wire.send(self._write(track.next()))
            if track.sent * FRAME_MS % self._pace.mark_ms == 0 or track.is_all_sent:
                self._mark(track)
        if track.is_all_sent and track.total:
            self._mark(track)

    def _pump_on(self, voice: int) -> None:
        """The timer's callback. A failure becomes an event, because a timer has no caller that could handle it."""
        try:
            self._pump()
        except OSError as problem:
            self._notify(Unplayable(voice, classify(problem)))

    def _mark(self, track: _Track) -> None:
        name = f"{track.voice}.{track.take}.{track.sent}"
        if name not in self._marks and track.sent > track.heard:
            self._marks[name] = track.sent
            self._wire.send(write_mark(self._carrier, self._stream, name))

    def _flush(self) -> None:
        self._cancel_timer()
        self._marks.clear()
        if not self._is_gone:
            self._wire.send(write_clear(self._carrier, self._stream))

    def _end_track(self, track: _Track) -> None:
        if self._track is track:
            self._track = None
            self._notify(Finished(track.voice, track.heard_ms))

    def _cancel_timer(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _check(self) -> None:
        if self._is_gone:
            raise LineGone("the call has ended")
