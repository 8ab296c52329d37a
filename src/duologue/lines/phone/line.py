"""The line of a phone call: sends sound in frames of 20 ms, and learns from marks how much of it was heard.

A voice is the sound of one utterance of the agent; a cue is a short signal. The carrier buffers sound, so sound is sent
only a little ahead of its playback. The message `clear` empties the buffer. A mark is sent about every 100 ms; the
carrier returns it when all sound before the mark has been played. Rule: only sound before a returned mark counts as
heard. Marks that were sent before a clear are forgotten: if they return later, they don't count. A cue and the ambient
sound are sent only while the carrier's buffer contains nothing of a voice, so clearing them never drops any sound of a
voice. The tones of keys that the agent sends come before everything else and are never cleared: a voice waits until
they are played.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from duologue.lines.ambient_loop import AmbientLoop
from duologue.lines.whole_sound import sound_at
from duologue.ports.ears import Frame
from duologue.ports.failure import classify
from duologue.ports.line import Closed, Finished, LineEvent, Played, Stopped, Unplayable
from duologue.ports.sound import Sound

from .carriers import Carrier, Marked, Media, Pressed, Started, media_writer, write_clear, write_mark
from .codecs import FRAME_MS, codec_of
from .frame_order import Order
from .frame_track import FrameTrack
from .played_sound import PlayedSound
from .tones import tones_of


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
    """How much sound the carrier may have in its buffer, and how often a mark is sent."""

    ahead_ms: int = 200  # sound that the carrier may buffer: enough for a slow network, and no more
    mark_ms: int = 100


class LineGone(ConnectionError):
    """The call has ended, so the line can't be opened, and nothing can be played on it."""


class _Mark(NamedTuple):
    """A mark that hasn't returned yet. `frames` is how many frames of the agent's current utterance were sent before
    the mark; 0 if the mark follows a cue or ambient sound. `sent` is how many frames of any kind were sent before the
    mark, since the call began."""

    frames: int
    sent: int


class PhoneLine:
    """The line of one call. `pressed` is called with each key that the caller presses. `sends` is the encoding and the
    sample rate of the sound that we send; None means the same as those of the carrier's sound. `may_hear` is called
    with the length of each piece of the caller's sound in ms, and returns whether the piece is passed on."""

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
        self.may_hear: Callable[[int], bool] = lambda ms: True  # noqa: ARG005
        self._carrier = carrier
        self._stream = started.stream
        self._write = media_writer(carrier, started.stream)
        self._wire = wire
        self._pace = pace or BufferPace()
        self._order = Order(self.codec.silence)
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._is_gone = False
        self._track: FrameTrack | None = None
        self._cue: FrameTrack | None = None
        self._ambient = AmbientLoop()
        self._music = AmbientLoop()  # what a person on hold hears
        self._tones: FrameTrack | None = None  # keys that are being sent
        self._buffered_until = 0.0  # when the carrier will have played everything that was sent
        self._beside_until = 0.0  # when it will have played the cue and the ambient sound that was sent
        self._marks: dict[str, _Mark] = {}  # marks that haven't returned yet
        self._played = PlayedSound(self.codec_out, self.codec.rate_hz)
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
            self._track = track = FrameTrack(voice, self.codec_out)
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
        """Pause this utterance of the agent, and empty the carrier's buffer. `resume` sends the part again that wasn't
        played."""
        track = self._track
        if track is not None and track.voice == voice and not track.is_held:
            track.is_held = True
            self._flush()
            track.rewind()
            self._pump()

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
            self._pump()
        asyncio.get_running_loop().call_soon(self._notify, Stopped(voice, heard_ms))

    def play_cue(self, cue: int, sound: Sound) -> None:
        track = self._track
        if self._is_gone or (track is not None and not track.is_held and track.has_more):
            return
        if self._cue is None or self._cue.voice != cue:
            self.stop_cue()
            self._cue = FrameTrack(cue, self.codec_out)
        self._cue.add(sound)
        self._cue.complete()
        self._pump()

    def stop_cue(self) -> None:
        self._cue = None
        self._silence_beside()
        self._pump()

    def set_ambient(self, sound: Sound | None) -> None:
        self._silence_beside()
        self._ambient = AmbientLoop(sound_at(sound, self.codec_out.rate_hz) if sound is not None else b"")
        self._pump()

    # -- What only a telephone can do

    def set_music(self, sound: Sound | None) -> None:
        """Play this sound to a person on hold, again and again, while the agent says nothing. None ends the music."""
        self._silence_beside()
        self._music = AmbientLoop(sound_at(sound, self.codec_out.rate_hz) if sound is not None else b"")
        self._pump()

    async def send_keys(self, digits: str) -> None:
        """Send these keys as tones, as soon as no sound of the agent's utterance is left in the carrier's buffer.
        Returns when the carrier has played the tones. Raises UnknownKeys if these keys can't be sent."""
        pcm = tones_of(digits, self.codec_out.rate_hz)
        loop = asyncio.get_running_loop()
        while self._tones is not None or (self._track is not None and not self._track.is_out):
            self._check()
            await asyncio.sleep(FRAME_MS / 1000)
        self._check()
        self._silence_beside()
        self._tones = tones = FrameTrack(0, self.codec_out)
        tones.add(Sound(len(pcm) * 500 // self.codec_out.rate_hz, pcm, self.codec_out.rate_hz))
        tones.complete()
        self._pump()
        while tones.has_more and not self._is_gone:
            await asyncio.sleep(FRAME_MS / 1000)
        await asyncio.sleep(max(0.0, self._buffered_until - loop.time()))
        self._tones = None
        if not self._is_gone:
            self._pump()

    async def close(self) -> None:
        """Hang up."""
        self._cancel_timer()
        self._track = self._cue = None
        if not self._is_gone:
            self._is_gone = self.has_hung_up = True
            self._wire.close()

    # -- What the carrier sends

    def hear(self, media: Media) -> None:
        """Pass on a piece of the caller's sound. If the piece is the agent's own sound, which some carriers send back,
        it is counted and dropped."""
        if not media.is_inbound:
            self.counts["outbound"] += 1
            return
        for payload in self._order.feed(media.chunk, media.payload):
            self._pass_on(payload)

    def _pass_on(self, payload: bytes) -> None:
        """Report a piece of the caller's sound, with the sound that was played to the caller at the same time. If the
        caller's sound arrives faster than real time, the piece is counted and dropped."""
        samples = len(payload) // self.codec.bytes_per_sample
        if not self.may_hear(-(-samples * 1000 // self.codec.rate_hz)):
            self.counts["too_fast"] += 1
            return
        pcm = self.codec.decode(payload)
        self._notify(Frame(pcm, self.codec.rate_hz, self._played.take(len(pcm) // 2)))

    def note_mark(self, marked: Marked) -> None:
        """Handle a mark that has returned: the caller has heard all sound before the mark. A mark that was sent before
        a clear is counted and otherwise ignored."""
        mark, track = self._marks.pop(marked.name, None), self._track
        if mark is None or (mark.frames and track is None):
            self.counts["flushed_marks"] += 1
            return
        self._played.confirm(mark.sent)
        if not mark.frames or track is None:
            return
        track.note_heard(mark.frames)
        if track.is_complete and track.heard == track.total:
            self._end_track(track)
        else:
            self._notify(Played(track.voice, track.heard_ms))
        if self._has_more_beside:
            self._pump_on(track.voice)  # the carrier's buffer may be free for them now

    def note_key(self, pressed: Pressed) -> None:
        """Pass on a key that the caller has pressed."""
        self.pressed(pressed.digit)

    def hung_up(self) -> None:
        """Report that the caller is gone, because the carrier has ended the call or has disconnected."""
        if self._is_gone:
            return
        for payload in self._order.finish():
            self._pass_on(payload)
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
        """Send as many frames as the carrier may buffer now, and set a timer for the rest."""
        loop, track = asyncio.get_running_loop(), self._track
        self._cancel_timer()
        while not self._is_gone and (send := self._sender()) is not None:
            ahead_ms = max(0.0, self._buffered_until - loop.time()) * 1000
            if ahead_ms + FRAME_MS > self._pace.ahead_ms + 0.5:
                wait_ms = ahead_ms + FRAME_MS - self._pace.ahead_ms
                voice = track.voice if track is not None and send == self._send_voice else 0
                self._alarm = loop.call_later(wait_ms / 1000, self._pump_on, voice)
                return
            send()
        if track is not None and not self._is_gone and not track.is_held and track.total and self._ends_here(track):
            self._mark(track)

    def _ends_here(self, track: FrameTrack) -> bool:
        """Must a mark be sent after the frames of the utterance that were sent so far? Yes, at the end of the
        utterance, or if a cue or an ambient sound waits until these frames are heard."""
        return track.is_all_sent or (not track.has_more and self._has_more_beside)

    @property
    def _has_more_beside(self) -> bool:
        """Is there a cue, music or an ambient sound to send, once no sound of an utterance is left in the carrier's
        buffer?"""
        return (self._cue is not None and self._cue.has_more) or bool(self._ambient or self._music)

    def _sender(self) -> Callable[[], None] | None:
        """The method that sends the next frame; None if nothing can be sent now. Key tones come first, then the agent's
        utterance, then the cue, then the ambient sound."""
        track, tones = self._track, self._tones
        if tones is not None:
            return self._send_tone if tones.has_more else None
        if track is not None and not track.is_held and track.has_more:
            return self._send_voice
        if track is not None and not track.is_held and not track.is_out:
            return None
        if self._cue is not None and self._cue.has_more:
            return self._send_cue
        return self._send_ambient if self._ambient or self._music else None

    def _send_voice(self) -> None:
        """Send a frame of the agent's utterance. If a cue is playing, it ends."""
        track = self._track
        assert track is not None
        self._cue = None
        self._silence_beside()
        self._send(track.next(), is_voice=True)
        if track.sent * FRAME_MS % self._pace.mark_ms == 0 or track.is_all_sent:
            self._mark(track)

    def _send_cue(self) -> None:
        cue = self._cue
        assert cue is not None
        self._send(cue.next(), is_voice=False)
        self._mark_beside(is_last=not cue.has_more)

    def _send_tone(self) -> None:
        tones = self._tones
        assert tones is not None
        self._send(tones.next(), is_voice=True)

    def _send_ambient(self) -> None:
        silence = self.codec_out.silence
        if self._music:
            silence = self.codec_out.encode(self._music.mix(self.codec_out.decode(silence), is_voice=False))
        self._send(silence, is_voice=False)
        self._mark_beside(is_last=False)

    def _send(self, frame: bytes, is_voice: bool) -> None:
        if self._ambient:
            frame = self.codec_out.encode(self._ambient.mix(self.codec_out.decode(frame), is_voice))
        self._wire.send(self._write(frame))
        self._played.add(frame)
        now = asyncio.get_running_loop().time()
        self._buffered_until = max(self._buffered_until, now) + FRAME_MS / 1000
        if not is_voice:
            self._beside_until = self._buffered_until

    def _mark_beside(self, is_last: bool) -> None:
        """Send a mark after a cue or ambient sound, if a mark is due. The returned mark shows when this sound was
        heard, so that its echo can be recognised."""
        sent = self._played.sent
        if is_last or sent * FRAME_MS % self._pace.mark_ms == 0:
            self._marks[f"beside.{sent}"] = _Mark(0, sent)
            self._wire.send(write_mark(self._carrier, self._stream, f"beside.{sent}"))

    def _silence_beside(self) -> None:
        """Empty the carrier's buffer if it still contains a cue or ambient sound. At this time, it contains no sound of
        an utterance that could be lost."""
        if self._beside_until > asyncio.get_running_loop().time():
            self._flush()

    def _pump_on(self, voice: int) -> None:
        """Called by a timer: do the same as `_pump`. If this fails, report an event, because a timer has no caller that
        could handle an exception."""
        try:
            self._pump()
        except OSError as problem:
            if voice:
                self._notify(Unplayable(voice, classify(problem)))

    def _mark(self, track: FrameTrack) -> None:
        name = f"{track.voice}.{track.take}.{track.sent}"
        if name not in self._marks and track.sent > track.heard:
            self._marks[name] = _Mark(track.sent, self._played.sent)
            self._wire.send(write_mark(self._carrier, self._stream, name))

    def _flush(self) -> None:
        self._marks.clear()
        if self._tones is not None:
            return  # nothing of a voice or a cue is in the carrier's buffer
        self._cancel_timer()
        self._played.clear()
        self._buffered_until = self._beside_until = 0.0
        if not self._is_gone:
            self._wire.send(write_clear(self._carrier, self._stream))

    def _end_track(self, track: FrameTrack) -> None:
        if self._track is track:
            self._track = None
            self._notify(Finished(track.voice, track.heard_ms))
            if self._has_more_beside:
                self._pump_on(0)

    def _cancel_timer(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None

    def _check(self) -> None:
        if self._is_gone:
            raise LineGone("the call has ended")
