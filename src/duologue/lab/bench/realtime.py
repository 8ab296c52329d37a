"""Measures the CPU time of the client of a Realtime model, from a server event to the client event that answers it.

The connection is in memory and the clock is simulated, so only Duologue's own CPU time is measured: parsing the event,
finding its handler, the work of the ears and of the conversation machine, making and writing the request. Rule: the
label of a number says which work the number includes.
"""

from __future__ import annotations

import asyncio
import base64
import json
import statistics
import time
from array import array
from collections.abc import Callable
from itertools import count
from typing import Any

from duologue.brains.realtime import RealtimeModel
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Frame
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated

from .budget import Budget

BUDGETS: tuple[Budget, ...] = (
    Budget("final_to_request_cpu_ms_p50", "final transcript → core → response.create on the wire, median", 1, "ms"),
    Budget("final_to_request_cpu_ms_p95", "final transcript → core → response.create on the wire, 95 %", 1, "ms"),
    Budget("delta_to_line_cpu_ms_p50", "first audio delta (100 ms of sound) → core → the line, median", 1, "ms"),
    Budget("onset_to_cancel_cpu_ms_p50", "speech_started → core → response.cancel on the wire, median", 1, "ms"),
    Budget(
        "frame_cpu_ms_p50", "20 ms of microphone at 16 kHz → input_audio_buffer.append on the wire, median", 1, "ms"
    ),
)
NOTE = (
    "CPU of this process, from the text of a server event to the text of the client event that answers it; the "
    "socket and the server are not included. `duologue bench core` shows the share of the core."
)
_DELTA = base64.b64encode(bytes(4_800)).decode()
_FRAME = Frame(array("h", [500, -500] * 160).tobytes(), 16_000)


class _Wire:
    """A connection in memory, with a simulated server at its other end. It also measures CPU time."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[str] = asyncio.Queue()
        self._numbers = count(1)
        self._watched = ""
        self._began_ns = 0
        self.spent_ns: dict[str, list[int]] = {}
        self.give(type="session.created", session={"type": "realtime"})

    def give(self, **event: Any) -> None:
        """Queue an event from the server for the client."""
        self._inbox.put_nowait(json.dumps({"event_id": f"event_{next(self._numbers)}", **event}))

    def watch(self, kind: str) -> None:
        """Start the clock. It stops at the next client event of the type `kind`. If `kind` is `play`, it stops at the
        next sound on the line."""
        self._watched, self._began_ns = kind, time.process_time_ns()

    def note(self, kind: str) -> None:
        """If the clock waits for this kind of event, stop it and record the time."""
        if self._watched and kind == self._watched:
            self.spent_ns.setdefault(kind, []).append(time.process_time_ns() - self._began_ns)
            self._watched = ""

    async def recv(self) -> str:
        return await self._inbox.get()

    async def send(self, text: str) -> None:
        kind = text[text.index('"type":"') + 8 :].partition('"')[0]
        self.note(kind)
        if kind == "session.update":
            self.give(type="session.updated", session={"type": "realtime"})
        elif kind == "response.create":
            self.metadata = json.loads(text)["response"]["metadata"]

    async def ping(self) -> None:
        return

    async def close(self) -> None:
        return


class _NotingLine(ScriptedLine):
    """A line that tells the wire when sound is played."""

    def __init__(self, wire: Callable[[], _Wire]) -> None:
        super().__init__()
        self._wire = wire

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self._wire().note("play")
        super().play(voice, chunk, sound)


def bench_realtime(turns: int = 60) -> dict[str, Any]:
    """Measure everything over this many turns."""
    spent = run_simulated(_talk(turns))
    requested = sorted(spent["response.create"])
    result: dict[str, Any] = {
        "final_to_request_cpu_ms_p50": statistics.median(requested) / 1e6,
        "final_to_request_cpu_ms_p95": requested[len(requested) * 95 // 100] / 1e6,
        "delta_to_line_cpu_ms_p50": statistics.median(spent["play"]) / 1e6,
        "onset_to_cancel_cpu_ms_p50": statistics.median(spent["response.cancel"]) / 1e6,
        "frame_cpu_ms_p50": statistics.median(spent["input_audio_buffer.append"]) / 1e6,
        "turns": turns,
    }
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget)."""
    return [budget.row(result) for budget in BUDGETS]


async def _talk(turns: int) -> dict[str, list[int]]:
    """Play turns and return the CPU times in nanoseconds, by the kind of event. Each turn is answered, and the next
    turn interrupts the answer while it is still being made."""
    wires: list[_Wire] = []

    async def dial(url: str, headers: dict[str, str]) -> _Wire:  # noqa: ARG001
        wires.append(_Wire())
        return wires[-1]

    model = RealtimeModel(url="ws://bench", wire=dial)
    line = _NotingLine(lambda: wires[-1])
    agent = Agent(model, profile="immediate", instructions="Be brief.", phrases=Phrases())
    conversation = Conversation(agent, line, seats=Seats())
    await conversation.start()
    for turn in range(1, turns + 1):
        await _play_turn(wires[-1], line, turn)
    await conversation.end()
    spent = wires[-1].spent_ns
    assert all(len(spent[kind]) >= turns - 1 for kind in ("response.create", "play", "response.cancel")), spent
    return spent


async def _play_turn(wire: _Wire, line: _NotingLine, turn: int) -> None:
    item, kind = f"item_{turn}", "conversation.item.input_audio_transcription"
    if turn > 1:
        wire.watch("response.cancel")
    wire.give(type="input_audio_buffer.speech_started", audio_start_ms=0, item_id=item)
    await asyncio.sleep(0.5)
    if turn > 1:
        wire.give(type="response.done", response={"id": f"resp_{turn - 1}", "status": "cancelled", "output": []})
    wire.watch("input_audio_buffer.append")
    line.tell(_FRAME)
    await asyncio.sleep(0.5)
    wire.give(type="input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=item)
    wire.give(type="input_audio_buffer.committed", item_id=item)
    await asyncio.sleep(0.2)
    wire.watch("response.create")
    wire.give(type=f"{kind}.completed", item_id=item, content_index=0, transcript=f"what about day {turn}")
    await asyncio.sleep(0.3)
    response = f"resp_{turn}"
    wire.give(type="response.created", response={"id": response, "metadata": wire.metadata})
    said = {"id": f"said_{turn}", "type": "message"}
    wire.give(type="response.output_item.added", response_id=response, output_index=0, item=said)
    where = {"response_id": response, "item_id": said["id"], "output_index": 0, "content_index": 0}
    wire.give(type="response.output_audio_transcript.delta", **where, delta="It is going to be sunny. ")
    await asyncio.sleep(0.1)
    wire.watch("play")
    wire.give(type="response.output_audio.delta", **where, delta=_DELTA)
    await asyncio.sleep(0.05)
    for _ in range(20):
        wire.give(type="response.output_audio.delta", **where, delta=_DELTA)
    await asyncio.sleep(1)
