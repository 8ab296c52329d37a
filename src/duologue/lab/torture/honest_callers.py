"""Honest callers of a hostile run: they type, speak and use a tool, one turn after another, and time each answer.

Each caller has a network address of its own, and starts a new conversation now and then. Rule: an answer is timed from
the caller's act (sending the message, or the last loud frame) to the first sound of the answer. An act counts for the
phase in which it began, no matter when and how it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from .hostile_agent import ANSWER, LOUD
from .plain_client import PlainClient

TURNS = (2, 6)  # of one call; then the caller hangs up and calls again. They differ, so that calls begin at any time
PAUSE_S = (0.2, 0.6)
AGAIN_S = 0.5
FRAME_MS = 20
SPEECH_FRAMES = 20
_LOUD = array("h", [2 * LOUD] * (16 * FRAME_MS)).tobytes()
_SILENT = bytes(len(_LOUD))
KINDS = ("type", "type", "tool", "speak")


@dataclass(slots=True)
class HonestNotes:
    """What honest callers found in one phase: the times in milliseconds, and what went wrong."""

    answer_ms: list[tuple[str, int]] = field(default_factory=list)  # the kind of turn, and the time to its first sound
    turn_ms: list[int] = field(default_factory=list)  # to the end of the answer
    start_ms: list[int] = field(default_factory=list)  # from opening a socket to an open floor
    refused: list[str] = field(default_factory=list)
    by_caller: dict[int, list[int]] = field(default_factory=dict)  # the times to the first sound, by caller's number
    open: int = 0  # acts that have begun and haven't ended


class _Noted(Exception):
    """An act failed, and the failure is in the notes."""


class HonestCaller:
    """One caller. `notes` is replaced at the beginning and at the end of a phase, so that each phase has its own
    notes."""

    def __init__(self, number: int, port: int, seed: int) -> None:
        self.notes = HonestNotes()
        self.number = number
        self._port = port
        self._kind = KINDS[number % len(KINDS)]
        self._dice = random.Random(f"{seed} {number}")
        self._calls = 0

    async def run(self) -> None:
        """Call again and again. Ends only when cancelled: whatever goes wrong is noted, and then the caller calls
        again."""
        while True:
            try:
                await self._call()
            except _Noted:
                await asyncio.sleep(AGAIN_S)
            except Exception as problem:  # noqa: BLE001 - a caller that ends without a word would hide a violation
                self.notes.refused.append(self._failure(problem))
                await asyncio.sleep(AGAIN_S)

    @contextlib.contextmanager
    def _act(self) -> Iterator[HonestNotes]:
        """One act of this caller. Yields the notes of the phase in which the act begins."""
        notes = self.notes
        notes.open += 1
        try:
            yield notes
        except Exception as problem:
            notes.refused.append(self._failure(problem))
            raise _Noted from problem
        finally:
            notes.open -= 1

    def _failure(self, problem: Exception) -> str:
        return f"caller {self.number} ({self._kind}): {str(problem) or type(problem).__name__}"

    async def _call(self) -> None:
        self._calls += 1
        client = await self._begin()
        try:
            for turn in range(self._dice.randint(*TURNS)):
                await asyncio.sleep(self._dice.uniform(*PAUSE_S))
                await self._turn(client, turn)
            await client.send("end")
        finally:
            await client.close()

    async def _begin(self) -> PlainClient:
        loop = asyncio.get_running_loop()
        with self._act() as notes:
            began_s = loop.time()
            client = await PlainClient.open(self._port, f"127.0.1.{self.number + 1}")
            try:
                await client.begin(f"honest {self.number} {self._calls}")
            except BaseException:
                await client.close()
                raise
            notes.start_ms.append(_ms_since(began_s))
            return client

    async def _turn(self, client: PlainClient, turn: int) -> None:
        loop = asyncio.get_running_loop()
        with self._act() as notes:
            sounds, finished, client.answer = client.sounds, client.finished, ""
            if self._kind == "speak":
                began_s = await self._speak(client)
            else:
                began_s = loop.time()
                text = "sleep 20" if self._kind == "tool" else f"turn {turn}"
                await client.send("type", text=text, id=f"{self._calls}-{turn}")
            await client.until(lambda: client.sounds > sounds, "an answer")
            took_ms = _ms_since(began_s)
            notes.answer_ms.append((self._kind, took_ms))
            notes.by_caller.setdefault(self.number, []).append(took_ms)
            await client.until(
                lambda: client.finished > finished and client.state == "listening" and bool(client.answer),
                "the end of an answer",
            )
            notes.turn_ms.append(_ms_since(began_s))
            if client.errors or client.warnings:
                raise ConnectionError(f"refused: {', '.join((*client.errors, *client.warnings))}")
            if client.answer != ANSWER:
                raise ConnectionError(f"the answer was {client.answer!r:.80}")

    async def _speak(self, client: PlainClient) -> float:
        """Send speech and then silence, in real time. Returns the time at which the speech ended."""
        loop = asyncio.get_running_loop()
        at_s = loop.time()
        for frame in range(SPEECH_FRAMES + 15):
            await client.send_raw(_LOUD if frame < SPEECH_FRAMES else _SILENT)
            at_s += FRAME_MS / 1000
            await asyncio.sleep(max(0.0, at_s - loop.time()))
        return at_s - 15 * FRAME_MS / 1000


def _ms_since(began_s: float) -> int:
    return round((asyncio.get_running_loop().time() - began_s) * 1000)
