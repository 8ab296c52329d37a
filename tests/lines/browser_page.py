"""A perfect client of the browser line: keeps what it is sent, plays it sample by sample, and says so.

Its socket can be cut without anybody noticing, and the page can be loaded anew. Rule: it believes the protocol and
checks it: a gap between two chunks is an error of whoever sent them.
"""

from __future__ import annotations

import array
import asyncio
from collections import defaultdict

from duologue.lines.browser import BrowserLine
from duologue.lines.playback.inputs import Position
from duologue.lines.playback.state import OUTPUT_HZ
from duologue.ports.sound import Sound

PER_MS = OUTPUT_HZ // 1000


def ramp(start: int, samples: int) -> bytes:
    """Samples whose values are their positions."""
    return array.array("h", ((at % 60_000) - 30_000 for at in range(start, start + samples))).tobytes()


def sound(start_ms: int, ms: int) -> Sound:
    """A part of a voice in which all samples differ."""
    return Sound(ms, ramp(start_ms * PER_MS, ms * PER_MS))


class Socket:
    """One socket of a page: the wire of the line."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log: list[tuple[str, int, int]] = []
        self.is_cut = False

    def send_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        self.log.append(("sound", voice, chunk))
        if not self.is_cut:
            self.page.take_sound(voice, chunk, pcm)

    def drop_sound(self, voice: int) -> None:
        self.log.append(("drop", voice, 0))

    def send_cue(self, cue: int, pcm: bytes) -> None:
        self.log.append(("cue", cue, len(pcm)))

    def stop_cue(self) -> None:
        self.log.append(("stop cue", 0, 0))

    def send_ambient(self, pcm: bytes) -> None:
        self.log.append(("ambient", 0, len(pcm)))

    def send_play(self, action: str, voice: int, ms: int = 0) -> None:
        self.log.append((action, voice, ms))
        if not self.is_cut:
            getattr(self.page, f"take_{action}")(voice, ms)


class Page:
    """Plays sound when a test advances its time."""

    def __init__(self, line: BrowserLine) -> None:
        self.line = line
        self.socket: Socket | None = None
        self.heard: defaultdict[int, bytearray] = defaultdict(bytearray)  # of each voice, over all loads
        self.stopped: list[tuple[int, int]] = []
        self.load()

    def load(self) -> None:
        """Reload the page: it remembers nothing."""
        self._forget(0)

    def _forget(self, voice: int) -> None:
        self.voice = voice
        self.chunk = 0
        self.queue = bytearray()
        self.played = 0  # samples of this voice
        self.is_held = False
        self.is_complete = False
        self.is_placed = True  # the next chunk has to follow the last

    # -- The socket

    def connect(self, anew: bool = False) -> Socket:
        """Send hello. A reloaded page has no position."""
        if anew:
            self.load()
        self.socket = Socket(self)
        position = None if anew or not self.voice else Position(self.voice, self.played // PER_MS, self.chunk)
        self.line.attach(self.socket, position)
        return self.socket

    def cut(self) -> None:
        """The connection is dead, and the server doesn't know yet."""
        assert self.socket is not None
        self.socket.is_cut = True

    def lose(self) -> None:
        """The socket is gone, and the server knows."""
        assert self.socket is not None
        gone, self.socket = self.socket, None
        gone.is_cut = True
        self.line.detach(gone)

    @property
    def is_connected(self) -> bool:
        return self.socket is not None and not self.socket.is_cut

    # -- What the server says

    def take_sound(self, voice: int, chunk: int, pcm: bytes) -> None:
        if voice < self.voice:
            return
        if voice > self.voice:
            self._forget(voice)
        if self.is_placed and chunk <= self.chunk:
            return
        assert chunk == self.chunk + 1 or not self.is_placed, f"chunk {chunk} after {self.chunk} of voice {voice}"
        self.chunk, self.is_placed = chunk, True
        self.queue += pcm

    def take_begin(self, voice: int, ms: int) -> None:
        self._forget(voice)
        self.played, self.is_placed = ms * PER_MS, False

    def take_hold(self, voice: int, ms: int) -> None:
        self._turn_to(voice)
        self.is_held = self.is_held or voice == self.voice

    def take_resume(self, voice: int, ms: int) -> None:
        self._turn_to(voice)
        self.is_held = self.is_held and voice != self.voice

    def _turn_to(self, voice: int) -> None:
        if voice > self.voice:
            self._forget(voice)

    def take_clear(self, voice: int, ms: int) -> None:
        heard_ms = self.played // PER_MS if voice == self.voice else 0
        if voice == self.voice:
            self.queue.clear()
            self.is_complete = False
        self.stopped.append((voice, heard_ms))
        asyncio.get_running_loop().call_soon(self.line.note_stopped, voice, heard_ms)

    def take_finish(self, voice: int, ms: int) -> None:
        self.is_complete = self.is_complete or voice == self.voice

    # -- Playing

    def play(self, ms: int, tells: bool = True) -> None:
        """Let this much time pass."""
        wanted = 0 if self.is_held else ms * PER_MS * 2
        taken = self.queue[:wanted]
        del self.queue[:wanted]
        self.heard[self.voice] += taken
        self.played += len(taken) // 2
        if tells and self.is_connected and self.voice:
            self._tell(bool(taken))

    def _tell(self, has_moved: bool) -> None:
        if self.is_complete and not self.queue and not self.is_held:
            self.is_complete = False
            self.line.note_finished(self.voice, self.played // PER_MS)
        elif has_moved:
            self.line.note_played(self.voice, self.played // PER_MS)

    async def live(self) -> None:
        while True:
            await asyncio.sleep(0.02)
            self.play(20)
