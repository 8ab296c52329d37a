"""Measures how late frames are and how fast interruptions are, with many telephone calls at once on one core.

The server runs in its own process on one core, with scripted brains and voices, without ears, and with the whole phone
line: sockets, codecs, marks. This process plays the carriers on another core and measures what arrives. Rule: playback
of a sound starts with its first frame. Every frame is due AHEAD_MS before its playback ends.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from duologue.core.errors import DuologueError
from duologue.lines.phone.carriers import CARRIERS
from duologue.lines.phone.line import BufferPace

from .budget import Budget

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
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    server = _Server(cores[0] if len(cores) > 1 else None)
    try:
        if len(cores) > 1:
            os.sched_setaffinity(0, {cores[1]})
        progress(f"{calls} calls")
        result: dict[str, Any] = asyncio.run(_measure(server, calls, seconds))
    finally:
        server.stop()
        if cores:
            os.sched_setaffinity(0, set(cores))
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget). The budget may be empty."""
    taken = f"{result['core_taken_share']:.0%} of the time"
    rows = [budget.row(result) for budget in BUDGETS]
    return [("calls at once", str(result["calls"]), ""), *rows, ("other processes had the server's core", taken, "")]


class _Server:
    """The server's process. It answers every line that it gets with its CPU time and its waiting time."""

    def __init__(self, core: int | None) -> None:
        command = [sys.executable, "-m", "duologue.lab.bench.phone_server", *([str(core)] if core is not None else [])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self._read().strip()
        if not self.url.startswith("http"):
            raise DuologueError(
                "the server didn't start; are its packages missing? pip install 'duologue[server,speech]'"
            )

    def times(self) -> tuple[float, float]:
        """The server's CPU time so far, and how long it has waited for its core so far, in seconds."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        cpu_s, waited_s = map(float, self._read().split())
        return cpu_s, waited_s

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


async def _measure(server: _Server, calls: int, seconds: float) -> dict[str, Any]:
    callers = [BenchCaller(number, calls) for number in range(calls)]
    async with AsyncExitStack() as stack:
        for caller in callers:
            await caller.connect(server.url)
            stack.callback(caller.hang_up)
        await asyncio.sleep(WARM_S)
        (cpu_s, waited_s), began = server.times(), time.monotonic()
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
        raise DuologueError("no sound was measured: use more --seconds")
    return {
        "calls": calls,
        "seconds": round(lasted_s, 1),
        "frames": len(late),
        "late_frames": sum(ms > LATE_MS for ms in late),
        "frame_late_ms_max": round(max(late), 1),
        "frame_late_ms_p99": round(statistics.quantiles(late, n=100)[98], 1),
        "cpu_share": round((after[0] - cpu_s) / lasted_s, 3),
        "core_taken_share": round((after[1] - waited_s) / lasted_s, 3),
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


class BenchCaller(asyncio.Protocol):
    """One call of the benchmark. It has its own minimal WebSocket code, because the measuring side must be faster than
    the server."""

    EVERY_S = 8.0  # between two requests for a long answer
    CUTS_S = 3.0  # from a request to its interruption

    def __init__(self, number: int, calls: int) -> None:
        self._stream = f"MZ{number:05d}"
        self._share = number / calls  # spreads the callers over time
        self._loop = asyncio.get_running_loop()
        self._data = b""
        self._upgraded = self._loop.create_future()
        self._chunk = 0
        self._sound: tuple[float, int] = (0.0, 0)  # when its first frame came, and how many frames came
        self._marks: dict[str, asyncio.TimerHandle] = {}
        self._alarms: dict[str, asyncio.TimerHandle] = {}
        self._pressed_at = 0.0
        self._is_over = False
        self.is_lost = False
        self.figures = PhoneFigures()
        payload = base64.b64encode(b"\xff" * 160).decode()
        media = f'"media":{{"track":"inbound","chunk":"%d","timestamp":"%d","payload":"{payload}"}}'
        self._media = f'{{"event":"media","sequenceNumber":"%d","streamSid":"{self._stream}",{media}}}'

    async def connect(self, url: str) -> None:
        """Connect as a carrier does: request the webhook, open the WebSocket, send the start message. Then begin to
        stream."""
        token = await asyncio.to_thread(_token, url)
        place = urlsplit(url)
        self._transport, _ = await self._loop.create_connection(lambda: self, "127.0.0.1", place.port or 80)
        self._transport.write(
            f"GET /phone/twilio/stream HTTP/1.1\r\nHost: {place.netloc}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        await self._upgraded
        carrier = CARRIERS["twilio"]
        form = {"encoding": "audio/x-mulaw", carrier.sample_rate: 8000}
        start = {carrier.call_id: "CA", carrier.parameters: {"token": token}, carrier.media_format: form}
        self._send(json.dumps({"event": "start", carrier.stream_id: self._stream, "start": start}))
        now = self._loop.time()
        self._alarms["frame"] = self._loop.call_at(now + self._share * FRAME_MS / 1000, self._send_frame, now)
        self._alarms["key"] = self._loop.call_at(now + (0.3 + self._share) * self.EVERY_S, self._ask)

    def hang_up(self) -> None:
        self._is_over = True
        for alarm in (*self._alarms.values(), *self._marks.values()):
            alarm.cancel()
        self._transport.close()

    # -- Sending

    def _send_frame(self, began: float) -> None:
        self._chunk += 1
        self._send(self._media % (self._chunk, self._chunk, self._chunk * FRAME_MS))
        due = began + (self._chunk + self._share) * FRAME_MS / 1000
        self._alarms["frame"] = self._loop.call_at(due, self._send_frame, began)

    def _ask(self) -> None:
        self._press("1")
        self._alarms["cut"] = self._loop.call_later(self.CUTS_S, self._press, "2")
        self._alarms["key"] = self._loop.call_later(self.EVERY_S, self._ask)

    def _press(self, digit: str) -> None:
        for key in (digit, "#"):
            self._send(f'{{"event":"dtmf","streamSid":"{self._stream}","dtmf":{{"digit":"{key}"}}}}')
        self._pressed_at = self._loop.time()
        began, frames = self._sound
        if began + frames * FRAME_MS / 1000 < self._pressed_at:  # the previous sound was played to its end
            self._sound = (0.0, 0)

    def _return(self, name: str) -> None:
        self._marks.pop(name, None)
        self._send(f'{{"event":"mark","streamSid":"{self._stream}","mark":{{"name":"{name}"}}}}')

    def _send(self, text: str) -> None:
        self._write(0x81, text.encode())

    def _write(self, kind: int, data: bytes) -> None:
        """Write one WebSocket frame (RFC 6455). Its mask is zero, so the data is sent unchanged."""
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
        self._transport.write(bytes([kind]) + size + b"\0\0\0\0" + data)

    # -- Receiving

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self._upgraded.done():
            _, found, rest = self._data.partition(b"\r\n\r\n")
            if not found:
                return
            self._data = rest
            self._upgraded.set_result(None)
        while len(self._data) >= 2:
            size, at = self._data[1], 2
            if size == 126:
                size, at = int.from_bytes(self._data[2:4], "big"), 4
            if len(self._data) < at + size:
                return
            kind, content, self._data = self._data[0], self._data[at : at + size], self._data[at + size :]
            self._take(kind, content)

    def _take(self, kind: int, content: bytes) -> None:
        if kind == 0x89:
            self._write(0x8A, content)
        elif content.startswith(b'{"event": "media"'):
            self._note_frame()
        elif content.startswith(b'{"event": "mark"'):
            name = json.loads(content)["mark"]["name"]
            began, frames = self._sound
            self._marks[name] = self._loop.call_at(began + frames * FRAME_MS / 1000, self._return, name)
        elif content.startswith(b'{"event": "clear"'):
            self._note_clear()

    def _note_frame(self) -> None:
        """Record how late this frame is. Playback starts with the first frame of a sound, and a frame is due AHEAD_MS
        before its playback ends."""
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

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.is_lost = not self._is_over
        if not self._upgraded.done():
            self._upgraded.set_exception(DuologueError("the server closed a call before its WebSocket was open"))
        for alarm in (*self._alarms.values(), *self._marks.values()):
            alarm.cancel()


def _token(url: str) -> str:
    request = urllib.request.Request(f"{url}/phone/twilio/voice", b"CallSid=CA", method="POST")
    with urllib.request.urlopen(request, timeout=20) as answer:
        parameter = ElementTree.fromstring(answer.read()).find("Connect/Stream/Parameter")
    assert parameter is not None
    return parameter.attrib["value"]
