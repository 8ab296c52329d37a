"""Honest callers of a hostile run: they type, speak and use a tool, one turn after another, and time each answer.

Each caller has a network address of its own, and starts a new conversation now and then. Rule: an answer is timed from
the caller's act (sending the message, or the last loud frame) to the first sound of the answer.
"""

from __future__ import annotations

import asyncio
import random
from array import array
from dataclasses import dataclass, field

from .hostile_agent import LOUD
from .plain_client import NoAnswer, PlainClient

TURNS_MAX = 6  # then the caller hangs up and calls again
PAUSE_S = (0.2, 0.6)
FRAME_MS = 20
SPEECH_FRAMES = 20
_LOUD = array("h", [2 * LOUD] * (16 * FRAME_MS)).tobytes()
_SILENT = bytes(len(_LOUD))
KINDS = ("type", "type", "tool", "speak")


@dataclass(slots=True)
class HonestNotes:
    """What honest callers found in one phase: the time of each answer, and what went wrong."""

    answer_ms: list[tuple[str, int]] = field(default_factory=list)  # the kind of turn, and its time
    refused: list[str] = field(default_factory=list)


class HonestCaller:
    """One caller. `notes` is replaced at the beginning and at the end of a phase, so that each phase has its own
    notes."""

    def __init__(self, number: int, port: int, seed: int) -> None:
        self.notes = HonestNotes()
        self._number = number
        self._port = port
        self._kind = KINDS[number % len(KINDS)]
        self._dice = random.Random(f"{seed} {number}")
        self._calls = 0

    async def run(self) -> None:
        """Call again and again. Ends only when cancelled."""
        while True:
            try:
                await self._call()
            except (NoAnswer, OSError) as problem:
                self.notes.refused.append(f"caller {self._number} ({self._kind}): {problem}")
                await asyncio.sleep(0.5)

    async def _call(self) -> None:
        self._calls += 1
        client = await PlainClient.open(self._port, f"127.0.1.{self._number + 1}")
        try:
            await client.begin(f"honest {self._number} {self._calls}")
            for turn in range(TURNS_MAX):
                await asyncio.sleep(self._dice.uniform(*PAUSE_S))
                await self._turn(client, turn)
                if client.errors:
                    raise NoAnswer(f"refused: {', '.join(client.errors)}")
            await client.send("end")
        finally:
            await client.close()

    async def _turn(self, client: PlainClient, turn: int) -> None:
        notes, loop = self.notes, asyncio.get_running_loop()
        sounds, finished = client.sounds, client.finished
        if self._kind == "speak":
            began_s = await self._speak(client)
        else:
            began_s = loop.time()
            text = "sleep 20" if self._kind == "tool" else f"turn {turn}"
            await client.send("type", text=text, id=f"{self._calls}-{turn}")
        await client.until(lambda: client.sounds > sounds, "an answer")
        notes.answer_ms.append((self._kind, round((loop.time() - began_s) * 1000)))
        await client.until(lambda: client.finished > finished and client.state == "listening", "the end of an answer")

    async def _speak(self, client: PlainClient) -> float:
        """Send speech and then silence, in real time. Returns the time at which the speech ended."""
        loop = asyncio.get_running_loop()
        at_s = loop.time()
        for frame in range(SPEECH_FRAMES + 15):
            await client.send_raw(_LOUD if frame < SPEECH_FRAMES else _SILENT)
            at_s += FRAME_MS / 1000
            await asyncio.sleep(max(0.0, at_s - loop.time()))
        return at_s - 15 * FRAME_MS / 1000
