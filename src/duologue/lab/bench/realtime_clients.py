"""Measures many clients of the Realtime protocol on one core, and the CPU time from an event to its answer.

The server runs in a separate process on one core, with a scripted brain and voice, and with ears that recognize speech
by its level. This process plays the role of the clients, on another core, and measures what arrives. Rule: playback of
an answer starts with its first sound, and a piece of sound is late if everything before it has already been played when
it arrives.
"""

from __future__ import annotations

import asyncio
import base64
import json
import statistics
import time
from array import array
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

from duologue.core.errors import DuologueError

from .budget import Budget
from .light_socket import LightSocket
from .realtime_events import FRAME_MS, SILENCE, event_cpu_ms
from .timed_server import TimedServer, timed_server

WARM_S = 4.0
PATIENCE = 10  # how many times as long is measured until there is sound
BUDGETS: tuple[Budget, ...] = (
    Budget("late_frames", "pieces of sound that came after everything before was played", 0, "pieces"),
    Budget("answered_share", "turns that were answered", 0.9, "", at_least=True),
    Budget("clients_per_core", "clients that a core carries, by CPU", 100, "", at_least=True),
    Budget("event_cpu_ms_p50", "event → answer on the wire, CPU, median", 1, "ms"),
    Budget("event_cpu_ms_p95", "event → answer on the wire, CPU, 95 %", 1, "ms"),
)
NOTE = (
    "The server has one core, the clients another. Every client sends 50 frames a second, speaks every eight seconds, "
    "and speaks over the answer after three. VAD is off: ears recognize speech by its level. Event → answer is "
    "measured in memory, without the socket. If turns are left unanswered, the server can't keep up, and a client's "
    "second costs more CPU than measured. core_taken_share is how long other processes had the server's core while "
    "the server could have run. If that isn't near 0, the number of late pieces says nothing about the server, but CPU "
    "still does."
)


def bench_realtime_clients(
    clients: int = 100,
    seconds: float = 20.0,
    turns: int = 30,
    progress: Callable[[str], None] = lambda what: None,  # noqa: ARG005
) -> dict[str, Any]:
    """Measure a server with `clients` clients at once for `seconds` seconds. Also measure `turns` turns of a single
    client whose socket is in memory."""
    progress("event → answer")
    result = event_cpu_ms(turns)
    with timed_server("realtime") as server:
        progress(f"{clients} clients")
        result |= asyncio.run(_measure(server, clients, seconds))
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    shown = [
        ("CPU of a client's second", f"{result['cpu_ms_per_client_s']:.1f} ms", ""),
        ("20 ms of microphone, CPU, median", f"{result['frame_cpu_ms_p50']:.3f} ms", ""),
        *((f"{kind} → answer, CPU, median", f"{ms:.3f} ms", "") for kind, ms in result["by_event_cpu_ms_p50"].items()),
        ("answers, of them interrupted", f"{result['answers']}, {result['interruptions']}", ""),
        ("other processes had the server's core", f"{result['core_taken_share']:.0%} of the time", ""),
    ]
    return [("clients at once", str(result["clients"]), ""), *(budget.row(result) for budget in BUDGETS), *shown]


async def _measure(server: TimedServer, count: int, seconds: float) -> dict[str, Any]:
    clients = [RealtimeBenchClient(number / count) for number in range(count)]
    async with AsyncExitStack() as stack:
        for client in clients:
            await client.connect(server.url)
            stack.callback(client.hang_up)
        await asyncio.sleep(WARM_S)
        before, began = server.times(), time.monotonic()
        for client in clients:
            client.figures = ClientFigures()
        for _ in range(PATIENCE):  # a machine that is busy with other work may not have answered in time
            await asyncio.sleep(seconds)
            if any(client.figures.gaps_ms for client in clients):
                break
        after, lasted_s = server.times(), time.monotonic() - began
        figures = [client.figures for client in clients]
        lost = sum(client.is_lost for client in clients)
    if lost:
        raise DuologueError(f"{lost} of {count} clients were disconnected")
    gaps = [ms for each in figures for ms in each.gaps_ms]
    if not gaps:
        raise DuologueError("no sound was measured: use a larger value for --seconds")
    turns = max(1, sum(each.turns for each in figures))
    cpu_share = (after.cpu_s - before.cpu_s) / lasted_s
    return {
        "clients": count,
        "seconds": round(lasted_s, 1),
        "pieces": len(gaps),
        "late_frames": sum(ms > 0 for ms in gaps),
        "gap_ms_max": round(max(gaps), 1),
        "gap_ms_p50_early": round(-statistics.median(gaps), 1),
        "cpu_share": round(cpu_share, 3),
        "clients_per_core": int(count / max(cpu_share, 0.001)),
        "cpu_ms_per_client_s": round(cpu_share * 1000 / count, 2),
        "core_taken_share": round((after.waited_s - before.waited_s) / lasted_s, 3),
        "turns": sum(each.turns for each in figures),
        "answers": sum(each.answers for each in figures),
        "answered_share": round(min(1.0, sum(each.answers for each in figures) / turns), 2),
        "interruptions": sum(each.interruptions for each in figures),
    }


@dataclass
class ClientFigures:
    """What one client has measured. A gap is the time from the moment at which all earlier sound has been played to the
    arrival of the next sound. It is negative if the next sound came earlier than that."""

    gaps_ms: list[float] = field(default_factory=list)
    turns: int = 0
    answers: int = 0
    interruptions: int = 0


class RealtimeBenchClient(LightSocket):
    """One client of the benchmark. `share` (from 0 to 1) shifts the times at which it sends, so that the clients don't
    all send at once."""

    EVERY_S = 8.0  # between two turns
    CUTS_S = 3.0  # from a turn to its interruption
    SPEAKS_MS = 500

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share
        self._frames = 0
        self._loud_until = 0
        self._ends_at = 0.0  # when everything that came is played
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        self.figures = ClientFigures()

    async def connect(self, url: str) -> None:
        await self.open(url, "/v1/realtime")
        now = self._loop.time()
        self._alarms["frame"] = self._loop.call_at(now + self._share * FRAME_MS / 1000, self._send_frame, now)
        self._alarms["turn"] = self._loop.call_at(now + (0.1 + self._share) * self.EVERY_S, self._ask)

    def hang_up(self) -> None:
        self.note_lost()
        self.close()

    def note_lost(self) -> None:
        for alarm in self._alarms.values():
            alarm.cancel()

    # -- Sending

    def _send_frame(self, began: float) -> None:
        self._frames += 1
        self.send(_LOUD if self._frames <= self._loud_until else _QUIET)
        due = began + (self._frames + self._share) * FRAME_MS / 1000
        self._alarms["frame"] = self._loop.call_at(due, self._send_frame, began)

    def _ask(self) -> None:
        self._speak()
        self._alarms["cut"] = self._loop.call_later(self.CUTS_S, self._speak)
        self._alarms["turn"] = self._loop.call_later(self.EVERY_S, self._ask)

    def _speak(self) -> None:
        self.figures.turns += 1
        self._loud_until = self._frames + self.SPEAKS_MS // FRAME_MS

    # -- Receiving

    def take(self, content: bytes) -> None:
        if content.startswith(b'{"type": "response.output_audio.delta"'):
            self._note_sound(json.loads(content))
        elif content.startswith(b'{"type": "input_audio_buffer.speech_started"'):
            self.figures.interruptions += self._ends_at > self._loop.time()
            self._ends_at = 0.0
        elif content.startswith(b'{"type": "response.created"'):
            self.figures.answers += 1
            self._ends_at = 0.0

    def _note_sound(self, event: dict[str, Any]) -> None:
        now = self._loop.time()
        if self._ends_at:
            self.figures.gaps_ms.append((now - self._ends_at) * 1000)
        self._ends_at = max(now, self._ends_at) + len(event["delta"]) * 3 / 4 / 48_000


def _append(audio: str) -> str:
    return json.dumps({"type": "input_audio_buffer.append", "audio": audio})


_QUIET = _append(SILENCE)
_LOUD = _append(base64.b64encode(array("h", [4_000, -4_000] * (12 * FRAME_MS)).tobytes()).decode())
