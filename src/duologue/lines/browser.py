"""A client at the other end of a socket that comes and goes: a browser, or anything that speaks the panel's protocol.

Sound is sent a little ahead of what the client says it has played, so that a stop never waits behind seconds of
audio; what was not heard yet is kept, so that a client that comes back gets what it has missed. Knows no
WebSocket: a `Wire` is whatever can send. Rule: what was heard is what the client says, and nothing of a voice
leaves after `hold` or `clear` has returned.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.ears import Frame
from duologue.ports.line import Closed, Finished, Healed, LineEvent, Played, Stopped, Unplayable, Wobbled
from duologue.ports.sound import Sound

OUTPUT_HZ = 24_000
PIECE_MS = 100
AHEAD_MS = 1_000  # sound that the client has and has not played
_PIECE = OUTPUT_HZ * PIECE_MS // 1000 * 2  # bytes


class Wire(Protocol):
    """One socket. Sending never waits."""

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None: ...

    def drop_sound(self, voice: int) -> None:
        """Whatever of this voice has not left yet stays here."""
        ...

    def send_play(self, action: str, voice: int, ms: int = 0) -> None: ...


class Position(NamedTuple):
    """How far a client is: so much of a voice was played, and this chunk of it came last."""

    voice: int
    ms: int
    chunk: int


class _Piece(NamedTuple):
    number: int
    end_ms: int
    pcm: bytes


class BrowserLine:
    """One conversation's way to its client, whichever socket that is on."""

    def __init__(self, rate_hz: int = 16_000) -> None:
        self.rate_hz = rate_hz
        self._wire: Wire | None = None
        self._tell: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005
        self._arrivals: list[asyncio.Future[None]] = []
        self._resampler = LiveResampler(OUTPUT_HZ, OUTPUT_HZ)
        self._source_hz = OUTPUT_HZ
        self._begin(0)

    def _begin(self, voice: int) -> None:
        self._voice = voice
        self._rest = b""  # less than a piece
        self._made_ms = 0.0
        self._pieces: deque[_Piece] = deque()  # not sent
        self._sent: deque[_Piece] = deque()  # sent, not played
        self._sent_ms = 0.0
        self._played_ms = 0
        self._number = 0
        self._is_complete = False
        self._is_finish_sent = False
        self._is_held = False
        self._is_cleared = False

    # -- The client comes and goes

    @property
    def is_attached(self) -> bool:
        return self._wire is not None

    def attach(self, wire: Wire, position: Position | None = None) -> None:
        """A client is here. One that was here before says how far it is."""
        self._wire = wire
        if self._voice and (position is None or position.voice == self._voice):
            self._catch_up(wire, position or Position(self._voice, self._played_ms, 0))
        elif position is not None:
            self._tell(Stopped(position.voice, position.ms))  # of an older voice: it knows best how much was heard
        for arrival in self._arrivals:
            if not arrival.done():
                arrival.set_result(None)
        self._arrivals.clear()
        self._tell(Healed())
        self._pump()

    def detach(self, wire: Wire) -> None:
        """This socket is gone. Another may have taken its place already."""
        if self._wire is wire:
            self._wire = None
            self._tell(Wobbled())

    def hang_up(self) -> None:
        """The person has left for good."""
        self._tell(Closed(hung_up=True))

    def _catch_up(self, wire: Wire, position: Position) -> None:
        """What the client has not got is sent again, and what it is to do is told again."""
        if self._is_cleared:
            self._tell(Stopped(position.voice, position.ms))
            return
        unseen = [piece for piece in self._sent if piece.number > position.chunk]
        for _ in unseen:
            self._sent.pop()
        self._pieces.extendleft(reversed(unseen))
        self._sent_ms = self._sent[-1].end_ms if self._sent else max(position.ms, self._played_ms)
        self._is_finish_sent = False
        if not position.chunk:  # a page that was loaded anew: it begins in the middle
            wire.send_play("begin", self._voice, self._played_ms)
        wire.send_play("hold" if self._is_held else "resume", self._voice)
        self.note_played(position.voice, position.ms)

    # -- The port

    async def open(self, tell: Callable[[LineEvent], None]) -> None:
        """Returns when there is a client."""
        self._tell = tell
        if self._wire is None:
            arrival = asyncio.get_running_loop().create_future()
            self._arrivals.append(arrival)
            await arrival

    def play(self, voice: int, chunk: int, sound: Sound) -> None:  # noqa: ARG002 - pieces come in order
        if voice != self._voice:
            self._begin(voice)
            self._source_hz = 0
        if sound.rate_hz != self._source_hz:
            self._source_hz = sound.rate_hz
            self._resampler = LiveResampler(sound.rate_hz, OUTPUT_HZ)
        pcm = sound.pcm or bytes(sound.rate_hz * sound.ms // 1000 * 2)
        self._cut(pcm if self._source_hz == OUTPUT_HZ else to_pcm(self._resampler.feed(to_samples(pcm))))
        self._pump()

    def finish(self, voice: int) -> None:
        if voice != self._voice:
            return
        if self._source_hz != OUTPUT_HZ:
            self._cut(to_pcm(self._resampler.finish()))
        if self._rest:
            self._add(self._rest)
            self._rest = b""
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
        if self._wire is None:  # nobody can say better; whoever comes back may
            asyncio.get_running_loop().call_soon(self._tell, Stopped(voice, self._played_ms))
            return
        self._wire.drop_sound(voice)
        self._wire.send_play("clear", voice)

    async def close(self) -> None:
        self._tell = lambda event: None  # noqa: ARG005
        for arrival in self._arrivals:
            arrival.cancel()
        self._arrivals.clear()
        self._begin(0)

    def _control(self, action: str, voice: int) -> None:
        if self._wire is not None:
            self._wire.send_play(action, voice)

    # -- Sending

    def _cut(self, pcm: bytes) -> None:
        """Pieces of at most PIECE_MS: the unit that a client counts."""
        data = self._rest + pcm
        whole = len(data) - len(data) % _PIECE
        for at in range(0, whole, _PIECE):
            self._add(data[at : at + _PIECE])
        self._rest = data[whole:]
        # The first words should not wait for a whole piece.
        if self._rest and not self._pieces and self._made_ms - self._played_ms < PIECE_MS:
            self._add(self._rest)
            self._rest = b""

    def _add(self, pcm: bytes) -> None:
        self._number += 1
        self._made_ms += len(pcm) * 500 / OUTPUT_HZ
        self._pieces.append(_Piece(self._number, round(self._made_ms), pcm))

    def _pump(self) -> None:
        """Send what the client should have by now."""
        if self._wire is None or self._is_held or self._is_cleared:
            return
        while self._pieces and self._sent_ms - self._played_ms < AHEAD_MS:
            piece = self._pieces.popleft()
            self._sent.append(piece)
            self._sent_ms = piece.end_ms
            self._wire.send_sound(self._voice, piece.number, piece.pcm)
        if self._is_complete and not self._pieces and not self._is_finish_sent:
            self._is_finish_sent = True
            self._wire.send_play("finish", self._voice)

    # -- What the client says

    def hear(self, pcm: bytes) -> None:
        """A frame of the microphone."""
        self._tell(Frame(pcm, self.rate_hz))

    def note_played(self, voice: int, ms: int) -> None:
        if voice != self._voice or self._is_cleared:
            return
        self._move_on(ms)
        self._tell(Played(voice, ms))
        self._pump()

    def note_finished(self, voice: int, ms: int) -> None:
        if voice == self._voice and self._is_complete:
            self._move_on(ms)
            self._tell(Finished(voice, ms))

    def note_stopped(self, voice: int, ms: int) -> None:
        self._tell(Stopped(voice, ms))

    def note_unplayable(self, voice: int) -> None:
        self._tell(Unplayable(voice))

    def _move_on(self, ms: int) -> None:
        """Never more than there was to play."""
        self._played_ms = max(self._played_ms, min(ms, round(self._made_ms)))
        while self._sent and self._sent[0].end_ms <= self._played_ms:
            self._sent.popleft()
