"""Measures what local ears cost while people talk in real time: CPU time per second of a session, and the event loop's
lag.

Each session sends 20 ms of sound at a time. The sessions don't send at the same moments, and each speaker talks nearly
all the time. For CPU times, STT is scripted, so that the number shows only the cost of voice detection. Rule: each run
measures three things: sessions with ears, the voice detection model alone, and sessions without ears. A busy computer
makes all three slower, so they can still be compared.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import numpy as np

from duologue.audio.frames import Samples, to_pcm
from duologue.ears.local import LocalEars
from duologue.ears.silero import FRAME_SAMPLES, SileroVad, VadMemory
from duologue.ports.ears import Commit, Final, Frame, Incoming
from duologue.server.loaded_objects import loaded_objects_ignored

from .instant_text import InstantText

RATE_HZ = 16_000
PIECE_MS = 20
SESSIONS = 10
TICK_S = 0.005
_PIECE = PIECE_MS * RATE_HZ // 1000
_APART = 85  # how many pieces apart in the recording the speakers are

Speaker: TypeAlias = Callable[[AsyncIterator[Incoming], list[Incoming]], Awaitable[None]]
"""A function that processes the audio of a session. Markers that it adds to the list are sent to the ears with the next
piece of audio."""


def ears_load(audio: Samples, seconds: float) -> dict[str, float]:
    """The CPU milliseconds that one second of a session costs. There are six numbers: for the ears, for the model alone
    and for lines without ears, each with one session and with ten sessions."""
    ears = LocalEars(InstantText(), judges_turns=False, cancels_echo=False)
    ears.load()
    result, pieces = {}, pieces_of(audio)
    for sessions in (1, SESSIONS):
        line = _cpu_ms(sessions, seconds, play_frames(pieces, sessions, seconds, _ignore))
        heard = _cpu_ms(sessions, seconds, play_frames(pieces, sessions, seconds, _listener(ears)))
        result[f"ears_cpu_ms_{sessions}"] = round(max(0.0, heard - line), 2)
        result[f"ears_model_cpu_ms_{sessions}"] = round(_cpu_ms(sessions, seconds, _bare(audio, sessions, seconds)), 2)
        result[f"ears_line_cpu_ms_{sessions}"] = round(line, 2)
    return result


def talking_lag_ms(ears: LocalEars | None, audio: Samples, seconds: float) -> float:
    """The 99th percentile of the event loop's lag in milliseconds, while ten people talk to these ears. If `ears` is
    None, the lag is measured while nothing happens."""
    with loaded_objects_ignored():  # as in a server
        return asyncio.run(_lag_ms(ears, audio, seconds))


def _cpu_ms(sessions: int, seconds: float, work: Awaitable[None]) -> float:
    async def main() -> None:
        await work

    with loaded_objects_ignored():  # as in a server
        began = time.process_time()
        asyncio.run(main())
        return (time.process_time() - began) * 1000 / (sessions * seconds)


# -- Lines


def pieces_of(audio: Samples) -> list[Frame]:
    """The audio, cut into the pieces that a line sends."""
    return [Frame(to_pcm(audio[at : at + _PIECE])) for at in range(0, audio.size - _PIECE + 1, _PIECE)]


async def play_frames(pieces: list[Frame], sessions: int, seconds: float, speaker: Speaker) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(sessions):
            sent: list[Incoming] = []
            own = pieces[number * _APART % len(pieces) :] + pieces
            line = _line(own, number * PIECE_MS / 1000 / sessions, seconds, sent)
            group.create_task(_run(speaker(line, sent)))


async def _run(work: Awaitable[None]) -> None:
    await work


async def _line(pieces: list[Frame], offset_s: float, seconds: float, sent: list[Incoming]) -> AsyncIterator[Incoming]:
    """Yield the pieces of a session's audio at the pace of real time. Everything that has been added to the list `sent`
    meanwhile is yielded before the next piece."""
    now = asyncio.get_running_loop().time
    begun = now() + offset_s
    for place in range(int(seconds * 1000 / PIECE_MS)):
        await asyncio.sleep(max(0.0, begun + place * PIECE_MS / 1000 - now()))
        while sent:
            yield sent.pop(0)
        yield pieces[place % len(pieces)]


async def _ignore(audio: AsyncIterator[Incoming], sent: list[Incoming]) -> None:  # noqa: ARG001
    async for _ in audio:
        pass


def _listener(ears: LocalEars) -> Speaker:
    async def listen(audio: AsyncIterator[Incoming], sent: list[Incoming]) -> None:
        async for heard in ears.listen(audio):
            if isinstance(heard, Final):
                sent.append(Commit(heard.utterance))

    return listen


async def _bare(audio: Samples, sessions: int, seconds: float) -> None:
    """Run the model alone, at the pace of real time. Each call of the model processes one frame of every session."""
    vad, memories = SileroVad(), [VadMemory() for _ in range(sessions)]
    frames = audio[: audio.size // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)
    now = asyncio.get_running_loop().time
    begun = now()
    for place in range(int(seconds * RATE_HZ / FRAME_SAMPLES)):
        await asyncio.sleep(max(0.0, begun + place * FRAME_SAMPLES / RATE_HZ - now()))
        vad.probabilities([frames[(place + 50 * number) % len(frames)] for number in range(sessions)], memories)


# -- Lag


async def _lag_ms(ears: LocalEars | None, audio: Samples, seconds: float) -> float:
    lags: list[float] = []

    async def tick() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK_S)
            lags.append((time.perf_counter() - before - TICK_S) * 1000)

    ticking = asyncio.ensure_future(tick())
    if ears is None:
        await asyncio.sleep(seconds)
    else:
        await play_frames(pieces_of(audio), SESSIONS, seconds, _listener(ears))
    ticking.cancel()
    return float(np.percentile(lags, 99))
