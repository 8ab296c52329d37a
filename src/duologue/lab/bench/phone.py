"""Measures how late frames are and how fast interruptions are, with many telephone calls at once on one core.

The server runs in a separate process on one core, with scripted brains and voices, without ears, and with the whole
phone line: sockets, codecs, marks. This process plays the role of the carriers, on another core, and measures what
arrives. Rule: playback of a sound starts with its first frame. Every frame must arrive AHEAD_MS before the time at
which its own playback ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import statistics
import time
import urllib.request
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from duologue.core.errors import DuologueError
from duologue.lines.phone.carriers import CARRIERS
from duologue.lines.phone.line import BufferPace

from .budget import Budget
from .light_socket import LightSocket
from .timed_server import TimedServer, timed_server

FRAME_MS = 20
LATE_MS = 40
AHEAD_MS = BufferPace().ahead_ms
WARM_S = 5.0
BUDGETS: tuple[Budget, ...] = (
    Budget("late_frames", f"frames that came more than {LATE_MS} ms late", 0, "frames"),
    Budget("frame_late_ms_max", "the latest frame", LATE_MS, "ms"),
    Budget("cpu_share", "CPU of all calls", 1, "cores"),
    Budget("clear_ms_p95", "interrupting key → clear, 95 %", 100, "ms"),
)
NOTE = (
    "The server has one core, the carriers another. Every call sends 50 frames a second. Every eight seconds it "
    "requests a long answer, interrupts it after three seconds, and hears a short one. So the agents speak more than "
    "half of the time. The carriers measure lateness, over real WebSockets on 127.0.0.1. core_taken_share is how long "
    "other processes had the server's core while the server could have run. If that isn't near 0, measure again."
)


def bench_phone(calls: int = 100, seconds: float = 20.0, progress: Callable[[str], None] = lambda what: None) -> Any:  # noqa: ARG005
    """Measure `calls` calls at once for this many seconds."""
    with timed_server("phone") as server:
        progress(f"{calls} calls")
        result: dict[str, Any] = asyncio.run(_measure(server, calls, seconds))
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    taken = f"{result['core_taken_share']:.0%} of the time"
    rows = [budget.row(result) for budget in BUDGETS]
    return [("calls at once", str(result["calls"]), ""), *rows, ("other processes had the server's core", taken, "")]


async def _measure(server: TimedServer, calls: int, seconds: float) -> dict[str, Any]:
    callers = [BenchCaller(number, calls) for number in range(calls)]
    async with AsyncExitStack() as stack:
        for caller in callers:
            await caller.connect(server.url)
            stack.callback(caller.hang_up)
        await asyncio.sleep(WARM_S)
        before, began = server.times(), time.monotonic()
        for caller in callers:
            caller.figures = PhoneFigures()
        await asyncio.sleep(seconds)
        figures = [caller.figures for caller in callers]
        after, lasted_s = server.times(), time.monotonic() - began
        lost = sum(caller.is_lost for caller in callers)
    if lost:
        raise DuologueError(f"{lost} of {calls} calls were cut off")
    late = [ms for each in figures for ms in each.late_ms]
    clears = sorted(ms for each in figures for ms in each.clear_ms)
    if not late or not clears:
        raise DuologueError("no sound was measured: use a larger value for --seconds")
    return {
        "calls": calls,
        "seconds": round(lasted_s, 1),
        "frames": len(late),
        "late_frames": sum(ms > LATE_MS for ms in late),
        "frame_late_ms_max": round(max(late), 1),
        "frame_late_ms_p99": round(statistics.quantiles(late, n=100)[98], 1),
        "cpu_share": round((after.cpu_s - before.cpu_s) / lasted_s, 3),
        "core_taken_share": round((after.waited_s - before.waited_s) / lasted_s, 3),
        "clears": len(clears),
        "clear_ms_p50": round(statistics.median(clears), 1),
        "clear_ms_p95": round(clears[int(len(clears) * 0.95)], 1),
    }


# -- A carrier with little overhead


@dataclass
class PhoneFigures:
    """What one caller measured, in milliseconds: how late each frame was, and how long each interruption took."""

    late_ms: list[float] = field(default_factory=list)
    clear_ms: list[float] = field(default_factory=list)


class BenchCaller(LightSocket):
    """One call of the benchmark."""

    EVERY_S = 8.0  # between two requests for a long answer
    CUTS_S = 3.0  # from a request to its interruption

    def __init__(self, number: int, calls: int) -> None:
        super().__init__()
        self._stream = f"MZ{number:05d}"
        self._share = number / calls  # spreads the callers over time
        self._chunk = 0
        self._sound: tuple[float, int] = (0.0, 0)  # when its first frame came, and how many frames came
        self._marks: dict[str, asyncio.TimerHandle] = {}
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        self._pressed_at = 0.0
        self.figures = PhoneFigures()
        payload = base64.b64encode(b"\xff" * 160).decode()
        media = f'"media":{{"track":"inbound","chunk":"%d","timestamp":"%d","payload":"{payload}"}}'
        self._media = f'{{"event":"media","sequenceNumber":"%d","streamSid":"{self._stream}",{media}}}'

    async def connect(self, url: str) -> None:
        """Connect as a carrier does: request the webhook, open the WebSocket, send the start message. Then begin to
        stream."""
        token = await asyncio.to_thread(_token, url)
        await self.open(url, "/phone/twilio/stream")
        carrier = CARRIERS["twilio"]
        form = {"encoding": "audio/x-mulaw", carrier.sample_rate: 8000}
        start = {carrier.call_id: "CA", carrier.parameters: {"token": token}, carrier.media_format: form}
        self.send(json.dumps({"event": "start", carrier.stream_id: self._stream, "start": start}))
        now = self._loop.time()
        self._alarms["frame"] = self._loop.call_at(now + self._share * FRAME_MS / 1000, self._send_frame, now)
        self._alarms["key"] = self._loop.call_at(now + (0.3 + self._share) * self.EVERY_S, self._ask)

    def hang_up(self) -> None:
        self._cancel_alarms()
        self.close()

    def _cancel_alarms(self) -> None:
        for alarm in (*self._alarms.values(), *self._marks.values()):
            alarm.cancel()

    # -- Sending

    def _send_frame(self, began: float) -> None:
        self._chunk += 1
        self.send(self._media % (self._chunk, self._chunk, self._chunk * FRAME_MS))
        due = began + (self._chunk + self._share) * FRAME_MS / 1000
        self._alarms["frame"] = self._loop.call_at(due, self._send_frame, began)

    def _ask(self) -> None:
        self._press("1")
        self._alarms["cut"] = self._loop.call_later(self.CUTS_S, self._press, "2")
        self._alarms["key"] = self._loop.call_later(self.EVERY_S, self._ask)

    def _press(self, digit: str) -> None:
        for key in (digit, "#"):
            self.send(f'{{"event":"dtmf","streamSid":"{self._stream}","dtmf":{{"digit":"{key}"}}}}')
        self._pressed_at = self._loop.time()
        began, frames = self._sound
        if began + frames * FRAME_MS / 1000 < self._pressed_at:  # the previous sound was played to its end
            self._sound = (0.0, 0)

    def _return(self, name: str) -> None:
        self._marks.pop(name, None)
        self.send(f'{{"event":"mark","streamSid":"{self._stream}","mark":{{"name":"{name}"}}}}')

    # -- Receiving

    def take(self, content: bytes) -> None:
        if content.startswith(b'{"event": "media"'):
            self._note_frame()
        elif content.startswith(b'{"event": "mark"'):
            name = json.loads(content)["mark"]["name"]
            began, frames = self._sound
            self._marks[name] = self._loop.call_at(began + frames * FRAME_MS / 1000, self._return, name)
        elif content.startswith(b'{"event": "clear"'):
            self._note_clear()

    def _note_frame(self) -> None:
        """Record how late this frame is. Playback starts with the first frame of a sound. Every frame must arrive
        AHEAD_MS before the time at which its own playback ends."""
        now = self._loop.time()
        began, frames = self._sound
        began = began if frames else now
        due = began + max(0, (frames + 1) * FRAME_MS - AHEAD_MS) / 1000
        self.figures.late_ms.append(max(0.0, (now - due) * 1000))
        self._sound = (began, frames + 1)

    def _note_clear(self) -> None:
        self.figures.clear_ms.append((self._loop.time() - self._pressed_at) * 1000)
        self._sound = (0.0, 0)
        for name, alarm in list(self._marks.items()):
            alarm.cancel()
            self._return(name)

    def note_lost(self) -> None:
        self._cancel_alarms()


def _token(url: str) -> str:
    request = urllib.request.Request(f"{url}/phone/twilio/voice", b"CallSid=CA", method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        parameter = ElementTree.fromstring(answer.read()).find("Connect/Stream/Parameter")
    assert parameter is not None
    return parameter.attrib["value"]
