"""The server that `duologue bench server` measures: real sockets, real conversations, scripted services.

Runs in its own process on its own core. Speech is detected by a real VAD or by a level threshold. STT, brain and TTS
answer immediately. Rule: the server measures itself and sends its figures on request. It doesn't judge them.
"""

from __future__ import annotations

import asyncio
import os
import resource
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from duologue.audio.frames import to_samples
from duologue.audio.levels import rms
from duologue.brains.scripted import ScriptedBrain
from duologue.ears.local import LocalEars
from duologue.observe import signals as sg
from duologue.ports.ears import Final, Frame, Heard, Incoming, Partial, PushedAudio, SpeechBegan, SpeechEnded
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.server.app import Server
from duologue.server.leases import Leases
from duologue.server.listening import bind_socket
from duologue.server.loaded_objects import loaded_objects_ignored
from duologue.server.processes.connection import Connections
from duologue.server.processes.link import ParentLink
from duologue.server.run import serving
from duologue.server.settings import Limits, ServerSettings, many_at_one_address
from duologue.server.siblings import ALONE
from duologue.store.sqlite import SqliteStore
from duologue.turns.endpoint import FixedSilence
from duologue.voice.scripted import ScriptedVoice

from .instant_text import SAID, InstantText
from .server_clients import WARM

ANSWER = "There is a table at seven. It is by the window and it is yours if you want it. Shall I book it for you?"
_LOUD = 0.01
_QUIET = 6  # speech ends after this many frames without sound
_WORDS = 10  # the partial text comes after this many frames of speech
_LAG_S = 0.01


class LoudEars:
    """Ears (STT and VAD) that detect speech by its level and always return the same text, to measure hearing without a
    model."""

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        number, loud, quiet = 0, 0, _QUIET
        async for item in audio:
            if not isinstance(item, Frame):
                continue
            if rms(to_samples(item.pcm)) > _LOUD:
                if quiet >= _QUIET:
                    number, loud = number + 1, 0
                    yield SpeechBegan(number)
                loud, quiet = loud + 1, 0
                if loud == _WORDS:
                    yield Partial(SAID, 1.0, number)
            elif quiet < _QUIET:
                quiet += 1
                if quiet == _QUIET:
                    yield SpeechEnded(number, quiet * 32)
                    yield Final(SAID, 1.0, number)


@dataclass
class CountingEars:
    """Wraps other ears. Each time these ears report that speech begins, records the index of the newest frame that they
    have got."""

    ears: Any
    onsets: list[int] = field(default_factory=list)

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        counted = _CountedAudio(audio)
        async for heard in self.ears.listen(counted):
            if isinstance(heard, SpeechBegan):
                self.onsets.append(counted.frames - 1)
            yield heard


@dataclass
class _CountedAudio:
    """Audio whose frames are counted."""

    audio: AsyncIterator[Incoming]
    frames: int = 0

    def __aiter__(self) -> _CountedAudio:
        return self

    async def __anext__(self) -> Incoming:
        item = await anext(self.audio)
        self.frames += isinstance(item, Frame)
        return item

    async def push_to(self, take: Callable[[Incoming], None]) -> None:
        assert isinstance(self.audio, PushedAudio)

        def counted(item: Incoming) -> None:
            self.frames += isinstance(item, Frame)
            take(item)

        await self.audio.push_to(counted)


@dataclass
class ServerFigures:
    """What the server process measures during the calls."""

    onsets: dict[str, list[int]] = field(default_factory=dict)  # by seat: the frames at which an onset was reported
    decided: dict[str, list[float]] = field(default_factory=dict)  # by seat: when each turn was judged to be over
    lags_ms: list[float] = field(default_factory=list)
    resident_kb: list[int] = field(default_factory=list)  # the memory of this process before each conversation

    def mb_per_session(self, resident_kb: int) -> float:
        """How many MB a conversation adds to the memory of this process on average. `resident_kb` is the memory of the
        process now."""
        count = len(self.resident_kb)
        first = WARM if count > 2 * WARM else 0  # the first conversations load code
        return (resident_kb - self.resident_kb[first]) / 1024 / (count - first) if count else 0.0


def run_served(
    pipe: Connection,
    core: int | None,
    vad: bool,
    sessions_max: int,
    store: str = "",
    link: ParentLink | None = None,
    measures_lag: bool = True,
) -> None:
    """The main function of the server process. If `link` is given, a parent process passes connections on to this
    server. Otherwise the server listens on a port of its own, and sends the port through `pipe`. In both cases it then
    answers the commands `begin` (start measuring) and `figures` (send the results) until the command `stop` comes.
    `store` is the path of an SQLite file. If it is empty, nothing is stored. `measures_lag` says whether to measure the
    lag of the event loop; this wakes the process a hundred times a second."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    _run(_served(pipe, vad, sessions_max, store, link, measures_lag))


def _run(work: Any) -> None:
    try:
        import uvloop
    except ModuleNotFoundError:
        asyncio.run(work)
    else:
        uvloop.run(work)


async def _served(
    pipe: Connection, vad: bool, sessions_max: int, store: str, link: ParentLink | None, measures_lag: bool
) -> None:
    ears = LocalEars(stt=InstantText(), judges_turns=False, cancels_echo=False) if vad else LoudEars()
    if isinstance(ears, LocalEars):
        ears.load()
    figures = ServerFigures()
    limits = many_at_one_address(Limits(conversations_max=2 * sessions_max, drain_s_max=0.1), sessions_max)
    voice, endpoint = ScriptedVoice(), FixedSilence()

    def make() -> Agent:
        return Agent(
            ScriptedBrain(otherwise=ANSWER), ears=CountingEars(ears), voice=voice, endpoint=endpoint, profile="confirm"
        )

    leases = Leases(SqliteStore(store), f"measured-{os.getpid()}") if store else None
    server = Server(make, ServerSettings(port=0, limits=limits), leases=leases, siblings=link or ALONE)
    _watch(server, figures)
    lagging = asyncio.create_task(_measure_lag(figures)) if measures_lag else None
    async with _connected(server, pipe, link):
        loop = asyncio.get_running_loop()
        cpu_s = wall_s = sound_mb = 0.0
        while (command := await loop.run_in_executor(None, pipe.recv)) != "stop":
            if command == "begin":
                figures.lags_ms.clear()
                cpu_s, wall_s = time.process_time(), time.monotonic()
                idle_kb, sound_mb = resident_kb(), _sound_mb(server)
                pipe.send(len(server.conversations.served))
            else:
                pipe.send(
                    {
                        "cpu_share": (time.process_time() - cpu_s) / (time.monotonic() - wall_s),
                        "mb_per_session": figures.mb_per_session(idle_kb),
                        "sound_mb_per_session": sound_mb,
                        "resident_mb": resident_kb() / 1024,
                        "lags_ms": figures.lags_ms,
                        "onsets": figures.onsets,
                        "decided": figures.decided,
                    }
                )
        if lagging is not None:
            lagging.cancel()
        for served in tuple(server.conversations.served.values()):
            await served.end("measured")


@asynccontextmanager
async def _connected(server: Server, pipe: Connection, link: ParentLink | None) -> AsyncIterator[None]:
    """Serve while the `with` block runs. Without `link`, the server listens on a new port and sends the port through
    `pipe`. With `link`, it serves the connections that the parent process passes on."""
    leases = server.conversations.leases
    if leases is not None:
        await leases.open(server.conversations)
    listening = bind_socket("127.0.0.1", 0) if link is None else None
    async with serving(server, listening) as running:
        if listening is not None:
            pipe.send(listening.getsockname()[1])
        if link is not None:
            link.open(server, lambda: None)
            link.take_connections(Connections(running), ())
        with loaded_objects_ignored():  # as `duologue serve` does
            yield
    if link is not None:
        link.close()
    if leases is not None:
        await leases.close()


def _watch(server: Server, figures: ServerFigures) -> None:
    """From now on, record in `figures` the speech onsets and the ends of turns of every new conversation."""
    watch = server.conversations.watch

    def watched(conversation: Conversation) -> None:
        figures.resident_kb.append(resident_kb())
        watch(conversation)
        served = server.conversations.served[conversation.id]
        ears = conversation.agent.ears
        assert isinstance(ears, CountingEars)
        figures.onsets[served.seat] = ears.onsets
        times = figures.decided.setdefault(served.seat, [])
        conversation.on(
            sg.Decided, lambda found: times.append(time.monotonic()) if found.decision == "end_of_turn" else None
        )

    server.conversations.watch = watched  # type: ignore[method-assign]


async def _measure_lag(figures: ServerFigures) -> None:
    """Start a timer again and again, and record how late it fires. This delay is the lag of the event loop, which
    delays every other timer and every frame in the same way."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _LAG_S
        await asyncio.sleep(_LAG_S)
        figures.lags_ms.append((loop.time() - due) * 1000)


def _sound_mb(server: Server) -> float:
    """How many MB of sound a conversation keeps on average, because its client hasn't played it yet."""
    kept = [served.line.sound_bytes for served in server.conversations.served.values()]
    return sum(kept) / 1024**2 / len(kept) if kept else 0.0


def resident_kb() -> int:
    """The resident memory of this process in kB. Works only on Linux."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() // 1024
