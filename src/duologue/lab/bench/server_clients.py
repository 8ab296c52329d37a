"""Clients for `duologue bench server`: each speaks, listens, interrupts, and records the times.

They stream real speech at its own pace over real WebSockets and report what a page would have played. Rule: a client
does no more than a browser does, so that the numbers are about the server and not about the clients.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from duologue.client import ConnectionFailed, ProtocolSocket, VoiceChunk
from duologue.client.messages import SAMPLES_PER_MS

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


class BenchClient:
    """One client: speaks, listens to the answer, and speaks over every other answer."""

    def __init__(self, port: int, seat: str, speech: bytes, dice: random.Random) -> None:
        self._url = f"ws://127.0.0.1:{port}/ws"
        self._speech = [speech[at : at + FRAME_BYTES] for at in range(0, len(speech) - FRAME_BYTES + 1, FRAME_BYTES)]
        self._dice = dice
        self._player = PagePlayer()
        self._spoke_s = 0.0
        self._is_answered = asyncio.Event()
        self._is_over = asyncio.Event()
        self.noted = ClientNotes(seat)
        self.is_ready = asyncio.Event()

    async def run(self, until_s: float) -> ClientNotes:
        """Connect and talk until the time `until_s` of the monotonic clock. Failures are listed in the returned notes
        instead of being raised."""
        try:
            socket = await ProtocolSocket.open(self._url, max_queue=None)
            await self._say(socket, "hello", version=1, seat=self.noted.seat)
            await self._say(socket, "start")
        except (ConnectionFailed, ConnectionError) as problem:
            self.noted.failures.append(str(problem))
            return self.noted
        work = [
            asyncio.create_task(self._listen(socket)),
            asyncio.create_task(self._acknowledge(socket)),
            asyncio.create_task(self._talk(socket)),
        ]
        done, rest = await asyncio.wait(work, timeout=until_s - time.monotonic(), return_when=asyncio.FIRST_EXCEPTION)
        self.noted.failures += [repr(task.exception()) for task in done if task.exception()]
        for task in rest:
            task.cancel()
        await socket.close()
        return self.noted

    async def _say(self, socket: ProtocolSocket, kind: str, **payload: Any) -> None:
        if not await socket.send(kind, **payload):
            raise ConnectionError(f"the server has closed the socket: {socket.close_code} {socket.close_reason}")

    # -- Speaking

    async def _talk(self, socket: ProtocolSocket) -> None:
        silence = bytes(FRAME_BYTES)
        clock = _Pace(self._dice.random() * FRAME_MS / 1000)
        await self._stream(socket, clock, [silence] * self._dice.randint(10, 60))
        self.is_ready.set()
        overlaps = self._dice.random() < 0.5
        while True:
            self._is_answered.clear()
            self._is_over.clear()
            await self._stream(socket, clock, self._speech)
            self._spoke_s = self.noted.sent_s[-1]
            while not self._is_answered.is_set():
                await self._stream(socket, clock, [silence])
            if overlaps:  # next, speak over the answer
                await self._stream(socket, clock, [silence] * 30)
            else:
                while not self._is_over.is_set():
                    await self._stream(socket, clock, [silence])
                await self._stream(socket, clock, [silence] * self._dice.randint(10, 40))
            overlaps = not overlaps

    async def _stream(self, socket: ProtocolSocket, clock: _Pace, frames: list[bytes]) -> None:
        for frame in frames:
            await clock.wait()
            self.noted.sent_s.append(time.monotonic())
            if not await socket.send_raw(frame):
                raise ConnectionError(f"the server has closed the socket: {socket.close_code} {socket.close_reason}")

    # -- Listening

    async def _listen(self, socket: ProtocolSocket) -> None:
        async for received in socket:
            if isinstance(received, VoiceChunk):
                self._hear(received)
            elif received.kind == "play":
                await self._obey(socket, received.payload)
            elif received.kind == "error":
                self.noted.failures.append(str(received.payload))

    def _hear(self, chunk: VoiceChunk) -> None:
        voice = chunk.number
        if voice != self._player.voice:
            now = time.monotonic()
            self.noted.first_sound_s.append(now)
            if self._spoke_s:
                self.noted.turns_ms.append((now - self._spoke_s) * 1000)
                self._spoke_s = 0.0
            self.noted.gaps_ms.append(self._player.gap_ms)
        self._player.add(voice, chunk.samples / SAMPLES_PER_MS)
        self._is_answered.set()

    async def _obey(self, socket: ProtocolSocket, command: dict[str, Any]) -> None:
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
                await self._say(socket, "stopped", voice=player.voice, ms=round(player.move()))
                player.is_complete = player.is_held = True
                self._is_over.set()

    async def _acknowledge(self, socket: ProtocolSocket) -> None:
        """Report progress and the end of playback, as a page does."""
        finished = 0
        while True:
            await asyncio.sleep(ACK_S)
            player = self._player
            if not player.voice or player.is_held:
                continue
            ms = round(player.move())
            if player.is_done and finished != player.voice:
                finished = player.voice
                await self._say(socket, "finished", voice=player.voice, ms=ms)
                self._is_over.set()
            elif finished != player.voice:
                await self._say(socket, "played", voice=player.voice, ms=ms)


class _Pace:
    """The pace at which frames are sent: `wait` returns every FRAME_MS, without drift."""

    def __init__(self, offset_s: float) -> None:
        self._due_s = time.monotonic() + offset_s

    async def wait(self) -> None:
        self._due_s += FRAME_MS / 1000
        await asyncio.sleep(max(0.0, self._due_s - time.monotonic()))


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
    until_s = time.monotonic() + connecting_s + seconds
    callers = [BenchClient(port, f"seat-{number}", speech, random.Random(number)) for number in range(count)]
    tasks = []
    for caller in callers:
        tasks.append(asyncio.create_task(caller.run(until_s)))
        await asyncio.sleep(0.015 + dice.random() * 0.005)
    waiting = [asyncio.create_task(caller.is_ready.wait()) for caller in callers]
    await asyncio.wait([*waiting, *tasks], return_when=asyncio.ALL_COMPLETED, timeout=connecting_s + 3)
    pipe.send("ready")
    pipe.send(await asyncio.gather(*tasks))
