"""The scenarios that every framework plays: `tools/bench_peers.py` runs them through one adapter for each framework.

A framework gets scripted services that answer at once: STT and VAD events are pushed by a scenario, the LLM has its
answer ready, and the TTS gives two seconds of sound in chunks of 20 ms. Everything else is the framework's own. Rule:
the standard library only, because each framework has an environment of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

RATE_HZ = 16_000
PIECE_MS = 20
PIECE_BYTES = RATE_HZ * PIECE_MS // 1000 * 2
REPLY_MS = 2_000
ANSWER = "It is sunny today."
WAIT_S_MAX = 12.0
QUIET = bytes(PIECE_BYTES)

TURNS = 8
BARGE_INS = 6
COUGHS = ((0, 300), (100, 300), (400, 300), (0, 700), (100, 700), (400, 700))  # begin after the text, length: ms
SESSIONS = 10
LOAD_S = 10.0
TURN_S = 5.0  # a user's turn begins this often, and its answer is heard before the next one
SPEECH_S = 1.2
TEXT_AFTER_S = 0.3
HARNESS_S = 3.0


class Setup(NamedTuple):
    """How a session is set up. `filters`: the framework's own filters against false interruptions are on. `vad`: the
    framework's Silero VAD hears the audio; else the scenario reports speech."""

    filters: bool = False
    vad: bool = False
    reply_ms: int = REPLY_MS


@dataclass
class Wire:
    """What a session has sent to its user. Adapters report it, scenarios read it. `is_paced`: chunks arrive at the pace
    of real time, as they are played."""

    is_paced: bool = False
    requests: int = 0
    sent: list[tuple[float, float, int]] = field(default_factory=list)  # wall, CPU, milliseconds
    stops: list[float] = field(default_factory=list)
    wholes: list[float] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(self) -> None:
        """The LLM got a request."""
        self.requests += 1

    def send(self, ms: int) -> None:
        """Sound was sent."""
        self.sent.append((time.perf_counter(), time.process_time(), ms))
        self.changed.set()

    def stop(self) -> None:
        """The framework has told the wire to be silent: pause, or drop the rest."""
        self.stops.append(time.perf_counter())
        self.changed.set()

    def finish(self) -> None:
        """An answer was played to its end."""
        self.wholes.append(time.perf_counter())
        self.changed.set()

    async def until(self, happened: Callable[[], bool], what: str) -> None:
        """Wait for this."""
        async with asyncio.timeout(WAIT_S_MAX):
            try:
                while not happened():
                    self.changed.clear()
                    await self.changed.wait()
            except asyncio.CancelledError:
                sys.stderr.write(f"waited too long for: {what}\n")
                raise


class Session(Protocol):
    """One conversation with a framework."""

    async def hear(self, pcm: bytes) -> None:
        """20 ms from the user's microphone."""
        ...

    async def begin_speech(self) -> None:
        """The VAD reports speech."""
        ...

    async def end_speech(self) -> None: ...

    async def write(self, text: str) -> None:
        """The STT writes the final text of the turn, which is over."""
        ...

    async def close(self) -> None: ...


class Framework(Protocol):
    """A framework, and how a session with it is opened."""

    async def open(self, wire: Wire, setup: Setup) -> Session: ...


# -- One session


@asynccontextmanager
async def _session(framework: Framework, setup: Setup) -> AsyncIterator[tuple[Session, Wire]]:
    wire = Wire()
    session = await framework.open(wire, setup)
    hearing = asyncio.ensure_future(_hear_quiet(session))
    try:
        await asyncio.sleep(0.3)
        yield session, wire
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)
        await session.close()


async def _hear_quiet(session: Session) -> None:
    while True:
        await session.hear(QUIET)
        await asyncio.sleep(PIECE_MS / 1000)


async def _say(session: Session, text: str = "what is the weather like") -> None:
    await session.begin_speech()
    await asyncio.sleep(0.25)
    await session.end_speech()
    await asyncio.sleep(0.1)
    await session.write(text)


async def answers(framework: Framework, turns: int = TURNS) -> dict[str, Any]:
    """CPU and wall milliseconds from the final text to the first chunk of the answer."""
    cpu_ms, wall_ms = [], []
    async with _session(framework, Setup(reply_ms=300)) as (session, wire):
        for _ in range(turns):
            before, whole = len(wire.sent), len(wire.wholes)
            await session.begin_speech()
            await asyncio.sleep(0.25)
            await session.end_speech()
            await asyncio.sleep(0.1)
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            await session.write("what is the weather like")
            await wire.until(lambda: len(wire.sent) > before, "the first chunk of an answer")  # noqa: B023
            cpu_ms.append((wire.sent[before][1] - cpu) * 1000)
            wall_ms.append((wire.sent[before][0] - wall) * 1000)
            await wire.until(lambda: len(wire.wholes) > whole, "the end of an answer")  # noqa: B023
            await asyncio.sleep(0.1)
    return {
        "answer_cpu_ms": statistics.median(cpu_ms[1:]),
        "answer_first_cpu_ms": cpu_ms[0],
        "answer_wall_ms": statistics.median(wall_ms[1:]),
    }


async def barge_ins(framework: Framework, filters: bool, times: int = BARGE_INS) -> dict[str, float]:
    """Wall milliseconds from the user's onset until the wire is told to be silent, and the chunks heard in between."""
    stop_ms, chunks = [], []
    async with _session(framework, Setup(filters=filters)) as (session, wire):
        before = len(wire.sent)
        await _say(session)
        for number in range(times):
            await wire.until(lambda: len(wire.sent) > before, "an answer to talk over")  # noqa: B023
            await asyncio.sleep(0.4 + 0.013 * number)  # at different moments between two chunks
            sent, stops = len(wire.sent), len(wire.stops)
            onset = time.perf_counter()
            await session.begin_speech()
            await wire.until(lambda: len(wire.stops) > stops, "the stop")  # noqa: B023
            took_ms = (wire.stops[stops] - onset) * 1000
            stop_ms.append(took_ms)
            await asyncio.sleep(0.25)
            over_ms = sum(one[2] for one in wire.sent[sent:] if one[0] > onset)
            chunks.append(over_ms / PIECE_MS if wire.is_paced else took_ms // PIECE_MS)
            await session.end_speech()
            await asyncio.sleep(0.1)
            before = len(wire.sent)
            await session.write("stop, what about tomorrow then")
    return {"ms": statistics.median(stop_ms), "chunks": statistics.median(chunks)}


async def cough(framework: Framework, after_ms: int, for_ms: int) -> dict[str, float]:
    """A noise without words after the user's turn: how much later the answer has been heard, and what it cost."""
    async with _session(framework, Setup(filters=True)) as (session, wire):
        await _say(session)
        began = time.perf_counter()
        await asyncio.sleep(after_ms / 1000)
        await session.begin_speech()
        await asyncio.sleep(for_ms / 1000)
        await session.end_speech()
        try:
            await wire.until(lambda: bool(wire.wholes), "the answer after a cough")
            delay_ms = (wire.wholes[0] - began) * 1000 - REPLY_MS
        except TimeoutError:
            delay_ms = WAIT_S_MAX * 1000
        await asyncio.sleep(0.3)
        return {"for_ms": for_ms, "delay_ms": max(0.0, delay_ms), "requests": wire.requests}


async def coughs(framework: Framework) -> dict[str, Any]:
    """All coughs, each in a session of its own, side by side."""
    each = await asyncio.gather(*(cough(framework, after_ms, for_ms) for after_ms, for_ms in COUGHS))
    found: dict[str, Any] = {}
    for for_ms in sorted({for_ms for _, for_ms in COUGHS}):
        own = [one for one in each if one["for_ms"] == for_ms]
        found[f"cough_{for_ms}_delay_ms"] = statistics.median(one["delay_ms"] for one in own)
        found[f"cough_{for_ms}_requests"] = statistics.mean(one["requests"] for one in own)
    return found


# -- Load


def microphone(speech: bytes, seconds: float, place: int) -> list[bytes]:
    """What the microphone of one session gives: speech at the beginning of each turn, faint noise else."""
    noise = random.Random(place)
    quiet = b"".join(noise.randint(-6, 6).to_bytes(2, "little", signed=True) for _ in range(RATE_HZ))
    pieces, turn = int(seconds * 1000) // PIECE_MS, int(TURN_S * 1000) // PIECE_MS
    spoken = int(SPEECH_S * 1000) // PIECE_MS
    heard = []
    for piece in range(pieces):
        audio = speech if piece % turn < spoken else quiet
        at = (piece % turn + 97 * place) * PIECE_BYTES % (len(audio) // PIECE_BYTES * PIECE_BYTES)
        heard.append(audio[at : at + PIECE_BYTES])
    return heard


async def _talk(session: Session, pieces: list[bytes], vad: bool, delay_s: float) -> None:
    """One user: 20 ms at a time at the pace of real time, with a turn every few seconds."""
    now = asyncio.get_running_loop().time
    begun = now() + delay_s
    turn, spoken = int(TURN_S * 1000) // PIECE_MS, int(SPEECH_S * 1000) // PIECE_MS
    written = spoken + int(TEXT_AFTER_S * 1000) // PIECE_MS
    for place, pcm in enumerate(pieces):
        await asyncio.sleep(max(0.0, begun + place * PIECE_MS / 1000 - now()))
        at = place % turn
        if at == 0 and not vad:
            await session.begin_speech()
        elif at == spoken and not vad:
            await session.end_speech()
        elif at == written:
            await session.write("what is the weather like")
        await session.hear(pcm)


async def load(framework: Framework, speech: bytes, vad: bool, seconds: float = LOAD_S) -> dict[str, float]:
    """CPU milliseconds for a second of one session, with ten sessions side by side, and answers for each turn."""
    wires = [Wire() for _ in range(SESSIONS)]
    sessions = [await framework.open(wire, Setup(vad=vad)) for wire in wires]
    heard = [microphone(speech, seconds, place) for place in range(SESSIONS)]
    await asyncio.sleep(0.5)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    stagger_s = TURN_S / SESSIONS
    talking = [_talk(sessions[place], heard[place], vad, place * stagger_s / 10) for place in range(SESSIONS)]
    await asyncio.gather(*talking)
    spent_ms = (time.process_time() - cpu) * 1000
    took_s = time.perf_counter() - wall
    await asyncio.gather(*(session.close() for session in sessions))
    turns = SESSIONS * seconds / TURN_S
    return {
        "cpu_ms": spent_ms / (SESSIONS * seconds),
        "late_s": took_s - seconds,
        "answered": sum(wire.requests for wire in wires) / turns,
        "heard": sum(min(len(wire.wholes), seconds // TURN_S) for wire in wires) / turns,
    }


class Nothing:
    """A framework that does nothing: what is left is the cost of the scenario itself."""

    async def open(self, wire: Wire, setup: Setup) -> Session:  # noqa: ARG002
        return self

    async def hear(self, pcm: bytes) -> None: ...

    async def begin_speech(self) -> None: ...

    async def end_speech(self) -> None: ...

    async def write(self, text: str) -> None: ...

    async def close(self) -> None: ...


# -- All of them


async def play_all(framework: Framework, speech: bytes, only: str) -> dict[str, Any]:
    """Play the scenarios and return the figures, by name. `only`: the ones whose names begin with this."""
    figures: dict[str, Any] = {}
    if "answer".startswith(only):
        figures |= await answers(framework)
    if "barge".startswith(only):
        for name, filters in (("barge_in", False), ("barge_in_filtered", True)):
            found = await barge_ins(framework, filters, BARGE_INS // 2 if filters else BARGE_INS)
            figures |= {f"{name}_{key}": value for key, value in found.items()}
    if "cough".startswith(only):
        figures |= await coughs(framework)
    if "load".startswith(only):
        figures["load_harness_cpu_ms"] = (await load(Nothing(), speech, vad=False, seconds=HARNESS_S))["cpu_ms"]
        for name, vad in (("load", False), ("load_vad", True)):
            found = await load(framework, speech, vad)
            figures |= {f"{name}_{key}": value for key, value in found.items()}
    return figures


def run(framework: Framework) -> None:
    """The main function of an adapter: plays the scenarios and prints one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--speech", type=Path, required=True, help="16-bit mono PCM at 16 kHz: someone who talks")
    parser.add_argument("--only", default="", help="answer, barge, cough or load")
    given = parser.parse_args()
    figures = asyncio.run(play_all(framework, given.speech.read_bytes(), given.only))
    sys.stdout.write(json.dumps({"figures": figures}) + "\n")
    sys.stdout.flush()
