"""Clients for `duologue bench server`: each speaks, listens, interrupts, and records the times.

They stream real speech at its own pace over real WebSockets and report what a page would have played. Rule: a client
does no more than a browser does, and as cheaply as possible, so that the numbers are about the server and not about the
clients.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from duologue.client.messages import SAMPLES_PER_MS, ServerSaid, VoiceChunk, read, written
from duologue.core.errors import DuologueError

from .light_socket import LightSocket

OPEN_S_MAX = 10.0
WARM = 10  # if there are many clients, this many get an answer before the others connect, so that the code is loaded
WARM_S = 6.0
FRAME_MS = 32
FRAME_BYTES = 1_024
ACK_S = 0.06


@dataclass
class ClientNotes:
    """What one client measured. Times are seconds of the monotonic clock."""

    seat: str
    sent_s: list[float] = field(default_factory=list)  # when each frame was sent
    holds_s: list[float] = field(default_factory=list)
    first_sound_s: list[float] = field(default_factory=list)  # when the first sound of each reply came
    turns_ms: list[float] = field(default_factory=list)  # from the last frame with speech to the first sound
    gaps_ms: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class PagePlayer:
    """Computes how much of the received sound a page would have played by now."""

    def __init__(self) -> None:
        self.voice = 0
        self._got_ms = 0.0
        self._played_ms = 0.0
        self._since: float | None = None
        self.is_complete = False
        self.is_held = False
        self.gap_ms = 0.0

    def add(self, voice: int, ms: float) -> None:
        """Add `ms` milliseconds of sound that arrived. If the sound belongs to a new voice (utterance of the agent),
        the sound of the old voice is dropped."""
        if voice != self.voice:
            self.__init__()  # type: ignore[misc]
            self.voice = voice
        self.move()
        self._got_ms += ms
        if self._since is None and not self.is_held:
            self._since = time.monotonic()

    def move(self) -> float:
        """Advance playback to now and return the milliseconds played so far. If playback has to wait for sound that
        hasn't arrived, `gap_ms` grows to the length of this gap, unless an earlier gap was longer."""
        now = time.monotonic()
        if self._since is not None and not self.is_held:
            wanted = self._played_ms + (now - self._since) * 1000
            if wanted > self._got_ms and not self.is_complete:
                self.gap_ms = max(self.gap_ms, wanted - self._got_ms)
            self._played_ms = min(wanted, self._got_ms)
            if wanted <= self._got_ms:
                self._since = now
            elif self.is_complete:
                self._since = None
        return self._played_ms

    def hold(self, is_held: bool) -> None:
        """Pause playback, or resume it."""
        self.move()
        self.is_held = is_held
        self._since = None if is_held else time.monotonic()

    @property
    def is_done(self) -> bool:
        return self.is_complete and self._played_ms >= self._got_ms


class BenchClient(LightSocket):
    """One client: speaks, listens to the answer, and speaks over every other answer."""

    def __init__(self, port: int, seat: str, speech: bytes, dice: random.Random) -> None:
        super().__init__()
        self._url = f"http://127.0.0.1:{port}"
        self.speech = [speech[at : at + FRAME_BYTES] for at in range(0, len(speech) - FRAME_BYTES + 1, FRAME_BYTES)]
        self._dice = dice
        self._player = PagePlayer()
        self._spoke_s = 0.0
        self._is_answered = False
        self._is_heard = False  # the answer, to its end or until it was stopped
        self._finished = 0  # the voice whose end was reported
        self._failed = asyncio.get_running_loop().create_future()
        self.noted = ClientNotes(seat)
        self.is_ready = asyncio.Event()

    async def run(self, until_s: float) -> ClientNotes:
        """Connect and talk until the time `until_s` of the monotonic clock. Failures are listed in the returned notes
        instead of being raised."""
        try:
            async with asyncio.timeout(OPEN_S_MAX):
                await self.open(self._url, "/ws")
        except (OSError, TimeoutError, DuologueError) as problem:
            self.noted.failures.append(f"no connection to {self._url}: {type(problem).__name__}: {problem}")
            return self.noted
        self._say("hello", version=1, seat=self.noted.seat)
        self._say("start")
        frames = self.frames()
        speaking = SteadyTimer(FRAME_MS / 1000, lambda: self.speak(next(frames)), self._dice.random() * FRAME_MS / 1000)
        acknowledging = SteadyTimer(ACK_S, self.acknowledge)
        await asyncio.wait([self._failed], timeout=until_s - time.monotonic())
        speaking.stop()
        acknowledging.stop()
        self.close()
        return self.noted

    def note_lost(self) -> None:
        if self.is_lost and not self._failed.done():
            self.noted.failures.append(f"the server has closed the socket: {self.close_reason}")
            self._failed.set_result(None)

    def _say(self, kind: str, **payload: Any) -> None:
        self.send(written(kind, payload))

    # -- Speaking

    def speak(self, frame: bytes) -> None:
        self.noted.sent_s.append(time.monotonic())
        self.send_sound(frame)

    def frames(self) -> Iterator[bytes]:
        """Yield the frames that the microphone hears: speech, then silence until the next speech, and so on."""
        silence = bytes(FRAME_BYTES)
        yield from [silence] * self._dice.randint(10, 60)
        self.is_ready.set()
        overlaps = self._dice.random() < 0.5
        while True:
            self._is_answered = self._is_heard = False
            yield from self.speech
            self._spoke_s = self.noted.sent_s[-1]
            while not self._is_answered:
                yield silence
            if overlaps:  # next, speak over the answer
                yield from [silence] * 30
            else:
                while not self._is_heard:
                    yield silence
                yield from [silence] * self._dice.randint(10, 40)
            overlaps = not overlaps

    # -- Listening

    def take(self, content: bytes) -> None:
        """Handle a message. To save time, only messages that may be playback commands or errors are parsed."""
        if b"duologue.play" in content or b"duologue.error" in content:
            said = read(content.decode())
            assert isinstance(said, ServerSaid)
            if said.kind == "play":
                self._obey(said.payload)
            elif said.kind == "error":
                self.noted.failures.append(str(said.payload))

    def take_sound(self, content: bytes) -> None:
        chunk = read(content)
        assert isinstance(chunk, VoiceChunk)
        voice = chunk.number
        if voice != self._player.voice:
            now = time.monotonic()
            self.noted.first_sound_s.append(now)
            if self._spoke_s:
                self.noted.turns_ms.append((now - self._spoke_s) * 1000)
                self._spoke_s = 0.0
            self.noted.gaps_ms.append(self._player.gap_ms)
        self._player.add(voice, chunk.samples / SAMPLES_PER_MS)
        self._is_answered = True

    def _obey(self, command: dict[str, Any]) -> None:
        player = self._player
        if command["voice"] != player.voice:
            return
        match command["action"]:
            case "hold":
                self.noted.holds_s.append(time.monotonic())
                player.hold(True)
            case "resume":
                player.hold(False)
            case "finish":
                player.is_complete = True
            case "clear":
                self._say("stopped", voice=player.voice, ms=round(player.move()))
                player.is_complete = player.is_held = True
                self._is_heard = True

    def acknowledge(self) -> None:
        """Report progress and the end of playback, as a page does."""
        player = self._player
        if not player.voice or player.is_held or self._finished == player.voice:
            return
        ms = round(player.move())
        if player.is_done:
            self._finished = player.voice
            self._say("finished", voice=player.voice, ms=ms)
            self._is_heard = True
        else:
            self._say("played", voice=player.voice, ms=ms)


class SteadyTimer:
    """Calls a function again and again, every `every_s` seconds without drift, until `stop`. The first call is
    `every_s` plus `offset_s` seconds from now."""

    def __init__(self, every_s: float, act: Callable[[], object], offset_s: float = 0.0) -> None:
        self._every_s = every_s
        self._act = act
        self._due_s = time.monotonic() + offset_s
        self._plan()

    def _plan(self) -> None:
        self._due_s += self._every_s
        left_s = max(0.0, self._due_s - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(left_s, self._tick)

    def _tick(self) -> None:
        self._plan()
        self._act()

    def stop(self) -> None:
        self._timer.cancel()


def run_callers(pipe: Connection, core: int | None, port: int, count: int, speech: bytes, seconds: float) -> None:
    """The main function of the clients' process: connects `count` clients, sends `ready` through `pipe`, lets the
    clients talk for `seconds`, and sends their notes."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        import uvloop
    except ModuleNotFoundError:
        asyncio.run(_call(pipe, port, count, speech, seconds))
    else:
        uvloop.run(_call(pipe, port, count, speech, seconds))


async def _call(pipe: Connection, port: int, count: int, speech: bytes, seconds: float) -> None:
    dice = random.Random(7)
    connecting_s = 1 + count * 0.02
    warm_s = WARM_S if count > 2 * WARM else 0.0
    until_s = time.monotonic() + warm_s + connecting_s + seconds
    callers = [BenchClient(port, f"seat-{number}", speech, random.Random(number)) for number in range(count)]
    tasks = []
    for number, caller in enumerate(callers):
        if number == WARM:
            await asyncio.sleep(warm_s)
        tasks.append(asyncio.create_task(caller.run(until_s)))
        await asyncio.sleep(0.015 + dice.random() * 0.005)
    waiting = [asyncio.create_task(caller.is_ready.wait()) for caller in callers]
    await asyncio.wait([*waiting, *tasks], return_when=asyncio.ALL_COMPLETED, timeout=connecting_s + 3)
    pipe.send("ready")
    pipe.send(await asyncio.gather(*tasks))
