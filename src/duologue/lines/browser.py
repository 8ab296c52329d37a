"""The line to a client on a socket that may reconnect: a browser, or any program that uses the panel's protocol.

Sound is sent only a little ahead of what the client reports as played, so that a stop never waits behind much audio.
Sound that wasn't heard yet is retained, so that a reconnecting client gets what it missed. A voice is the sound of one
utterance of the agent, with a number. This module doesn't know WebSockets: it sends through a `ClientWire`. Rule: only
what the client reports counts as heard, and no sound of a voice is sent after `hold` or `clear`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

from duologue.audio.frames import UnusableAudio, to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.ears import Frame
from duologue.ports.line import Closed, Finished, Healed, LineEvent, Played, Stopped, Unplayable, Wobbled
from duologue.ports.sound import Sound

OUTPUT_HZ = 24_000
PIECE_MS = 100
AHEAD_MS = 1_000  # at most this much sound is sent before the client plays it
LOW_MS = 200  # if the client has less than this left to play, a piece that isn't full is sent too
LOST_MS = 2_500  # after this long without a client, the line counts as closed
_SAMPLES_PER_MS = OUTPUT_HZ // 1000
_PIECE = PIECE_MS * _SAMPLES_PER_MS * 2  # bytes


class ClientWire(Protocol):
    """The sending side of one socket. Sending never waits."""

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        """Send a chunk of sound."""
        ...

    def drop_sound(self, voice: int) -> None:
        """Remove the sound of this voice from the queue, so that it isn't sent."""
        ...

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        """Send a playback command: begin, hold, resume, clear or finish."""
        ...


class Position(NamedTuple):
    """A client's playback position: how much of a voice it has played, and the last chunk that it received."""

    voice: int
    ms: int
    chunk: int


class _Piece(NamedTuple):
    """A piece of sound. Positions are counted in samples, because rounded milliseconds would drift within a minute."""

    number: int
    start: int
    pcm: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.pcm) // 2

    def after(self, start: int) -> _Piece:
        """The part of this piece from sample `start` of the voice on."""
        return _Piece(self.number, start, self.pcm[(start - self.start) * 2 :])


class BrowserLine:
    """The line of one conversation. `attach` sets the client's current socket, and `detach` removes it."""

    def __init__(self, rate_hz: int = 16_000) -> None:
        self.rate_hz = rate_hz
        self._wire: ClientWire | None = None
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._arrivals: list[asyncio.Future[None]] = []
        self._resampler = LiveResampler(OUTPUT_HZ, OUTPUT_HZ)
        self._source_hz = OUTPUT_HZ
        self._patience: asyncio.TimerHandle | None = None
        self._stopped: Stopped | None = None
        self._voice = self._sent_to = 0
        self._begin(0)

    def _begin(self, voice: int) -> None:
        self._former = (self._voice, self._sent_ms)  # the previous voice, and how much of it was sent
        self._voice = voice
        self._rest = b""  # sound that doesn't fill a piece yet
        self._made = 0  # samples in pieces so far
        self._pieces: deque[_Piece] = deque()  # not sent yet
        self._sent: deque[_Piece] = deque()  # sent, but not played yet
        self._sent_to = 0  # the client has everything before this sample
        self._played_ms = 0
        self._number = 0
        self._is_complete = False
        self._is_finish_sent = False
        self._is_held = False
        self._is_cleared = False

    @property
    def _sent_ms(self) -> int:
        """How much of the voice was sent, in ms. Rounded up, so that a client that heard everything isn't reported to
        have heard less."""
        return -(-self._sent_to // _SAMPLES_PER_MS)

    # -- The client connects and disconnects

    @property
    def is_attached(self) -> bool:
        """Is a client connected?"""
        return self._wire is not None

    def attach(self, wire: ClientWire, position: Position | None = None) -> None:
        """A client has connected: send it the sound that it doesn't have. If it reconnects, `position` says how much it
        has played."""
        former, self._wire = self._wire, wire
        if former is not None and former is not wire:
            former.drop_sound(self._voice)  # the new client gets this sound
        self._stop_waiting()
        if position is not None and position.voice:
            self._note_position(wire, position)
        if self._voice and not self._is_cleared:
            has_some = position is not None and position.voice == self._voice
            self._catch_up(wire, position if has_some else None)
        for arrival in self._arrivals:
            if not arrival.done():
                arrival.set_result(None)
        self._arrivals.clear()
        self._notify(Healed())
        self._pump()

    def detach(self, wire: ClientWire) -> None:
        """This socket is gone: report that, and wait LOST_MS for a client before the line counts as closed. Does
        nothing if another socket has taken its place."""
        if self._wire is wire:
            self._wire = None
            self._stop_waiting()
            self._patience = asyncio.get_running_loop().call_later(LOST_MS / 1000, self._give_up)
            self._notify(Wobbled())

    def hang_up(self) -> None:
        """Report that the user has ended the conversation."""
        self._notify(Closed(hung_up=True))

    def _give_up(self) -> None:
        """No client has connected in time: report the line as closed. The earlier `Wobbled` is not enough, because a
        conversation ignores it while its link is being prepared, renewed or restored. If `open` is waiting, report
        nothing: the conversation already knows that no client is connected."""
        self._patience = None
        if self._wire is None and not self._arrivals:
            self._notify(Closed())

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _note_position(self, wire: ClientWire, position: Position) -> None:
        """If the client still plays a voice that has ended on the server: stop it, and note how much was heard."""
        if position.voice != self._voice or self._is_cleared:
            self.note_stopped(position.voice, position.ms)
            wire.send_play("clear", position.voice)

    def _catch_up(self, wire: ClientWire, position: Position | None) -> None:
        """Send what the client doesn't have: the missing sound, and whether playback is held."""
        chunk = position.chunk if position is not None else 0
        while self._sent and self._sent[-1].number > chunk:
            self._pieces.appendleft(self._sent.pop())
        played = self._played_ms * _SAMPLES_PER_MS
        if not chunk and self._pieces and self._pieces[0].start < played:  # a reloaded page: skip what was heard
            self._pieces.appendleft(self._pieces.popleft().after(played))
        following = self._pieces[0].number if self._pieces else self._number + 1
        self._sent_to = self._pieces[0].start if self._pieces else self._made
        self._is_finish_sent = False
        if following != chunk + 1:
            wire.send_play("begin", self._voice, self._sent_to // _SAMPLES_PER_MS)
        wire.send_play("hold" if self._is_held else "resume", self._voice)
        if position is not None:
            self.note_played(position.voice, position.ms)

    # -- The port

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        """Report the last stopped voice, if any, to `notify`. Then wait until a client is connected."""
        self._notify = notify
        if self._stopped is not None:
            notify(self._stopped)
        if self._wire is None:
            arrival = asyncio.get_running_loop().create_future()
            self._arrivals.append(arrival)
            await arrival

    def play(self, voice: int, chunk: int, sound: Sound) -> None:  # noqa: ARG002 - pieces come in order
        if voice != self._voice:
            self._begin(voice)
            self._resampler.finish()
        if self._is_cleared:
            return
        pcm = sound.pcm or bytes(sound.rate_hz * sound.ms // 1000 * 2)
        if len(pcm) % 2:
            raise UnusableAudio(f"16-bit audio must have an even number of bytes, not {len(pcm)}")
        if sound.rate_hz != self._source_hz:
            resampler = LiveResampler(sound.rate_hz, OUTPUT_HZ)
            self._cut(to_pcm(self._resampler.finish()))
            self._resampler, self._source_hz = resampler, sound.rate_hz
        self._cut(pcm if self._source_hz == OUTPUT_HZ else to_pcm(self._resampler.feed(to_samples(pcm))))
        self._pump()

    def finish(self, voice: int) -> None:
        if voice != self._voice or self._is_cleared:
            return
        self._cut(to_pcm(self._resampler.finish()))
        self._add_rest()
        self._is_complete = True
        self._pump()

    def hold(self, voice: int) -> None:
        if voice == self._voice:
            self._is_held = True
            self._control("hold", voice)

    def resume(self, voice: int) -> None:
        if voice == self._voice:
            self._is_held = False
            self._control("resume", voice)
            self._pump()

    def clear(self, voice: int) -> None:
        if voice != self._voice:
            return
        self._is_cleared = True
        self._pieces.clear()
        self._sent.clear()
        self._rest = b""
        if self._wire is None:  # the last known position; a client that reconnects may correct it
            asyncio.get_running_loop().call_soon(self._notify, Stopped(voice, self._played_ms))
            return
        self._wire.drop_sound(voice)
        self._wire.send_play("clear", voice)

    async def close(self) -> None:
        self._notify = lambda event: None  # noqa: ARG005
        self._wire = None
        self._stop_waiting()
        for arrival in self._arrivals:
            arrival.cancel()
        self._arrivals.clear()
        self._begin(0)

    def _control(self, action: str, voice: int) -> None:
        if self._wire is not None:
            self._wire.send_play(action, voice)

    # -- Sending

    def _cut(self, pcm: bytes) -> None:
        """Cut sound into numbered pieces of PIECE_MS, which the client calls chunks. What doesn't fill a piece waits
        for more sound."""
        data = self._rest + pcm
        whole = len(data) - len(data) % _PIECE
        for at in range(0, whole, _PIECE):
            self._add(data[at : at + _PIECE])
        self._rest = data[whole:]

    def _add(self, pcm: bytes) -> None:
        self._number += 1
        self._pieces.append(_Piece(self._number, self._made, pcm))
        self._made += len(pcm) // 2

    def _add_rest(self) -> None:
        if self._rest:
            self._add(self._rest)
            self._rest = b""

    def _pump(self) -> None:
        """Send sound until the client has AHEAD_MS that it hasn't played yet. After the last piece of a voice, send
        `finish`."""
        if self._wire is None or self._is_held or self._is_cleared:
            return
        while self._sent_ms - self._played_ms < AHEAD_MS:
            if not self._pieces and self._sent_ms - self._played_ms < LOW_MS:
                self._add_rest()  # the start and the end of a sentence don't wait for a full piece
            if not self._pieces:
                break
            piece = self._pieces.popleft()
            self._sent.append(piece)
            self._sent_to = piece.end
            self._wire.send_sound(self._voice, piece.number, piece.pcm)
        if self._is_complete and not self._pieces and not self._is_finish_sent:
            self._is_finish_sent = True
            self._wire.send_play("finish", self._voice)

    # -- What the client sends

    def hear(self, pcm: bytes) -> None:
        """Pass on a frame of the client's microphone."""
        self._notify(Frame(pcm, self.rate_hz))

    def note_played(self, voice: int, ms: int) -> None:
        """The client reports that it has played `ms` of a voice."""
        if voice != self._voice or self._is_cleared:
            return
        before = self._played_ms
        if self._move_on(ms) > before:  # a repeated report isn't passed on
            self._notify(Played(voice, self._played_ms))
            self._pump()

    def note_finished(self, voice: int, ms: int) -> None:
        """The client reports that it has played a voice to its end."""
        if voice != self._voice:
            return
        if self._is_cleared:  # the voice ended while the clear was on its way
            self.note_stopped(voice, ms)
        elif self._is_finish_sent:
            self._notify(Finished(voice, self._move_on(ms)))
        else:
            self.note_played(voice, ms)

    def note_stopped(self, voice: int, ms: int) -> None:
        """The client reports that it has stopped a voice after a clear."""
        former, former_ms = self._former
        if voice == former or (voice == self._voice and self._is_cleared):
            self._stopped = Stopped(voice, min(ms, former_ms) if voice == former else self._move_on(ms))
            self._notify(self._stopped)
        else:  # this voice was not cleared
            self.note_played(voice, ms)

    def note_unplayable(self, voice: int) -> None:
        """The client reports that it can't play a voice."""
        self._notify(Unplayable(voice))

    def _move_on(self, ms: int) -> int:
        """Update how much was heard, and return it: never less than before, and never more than was sent."""
        self._played_ms = max(self._played_ms, min(ms, self._sent_ms))
        while self._sent and self._sent[0].end <= self._played_ms * _SAMPLES_PER_MS:
            self._sent.popleft()
        return self._played_ms
