"""Measures the CPU time of a server of the Realtime protocol, from a client's event to the server's event that answers
it.

The socket is in memory and the clock is simulated, so only Duologue's own CPU time is measured: checking the rate of
messages, reading and checking the event, translating it, the work of the conversation machine, and writing the answer.
Rule: the label of a number says which work the number includes.
"""

from __future__ import annotations

import asyncio
import base64
import json
import statistics
import time
from typing import Any

from duologue.brains.scripted import ScriptedBrain
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.app import Server
from duologue.server.realtime.routes import SOCKETS, realtime_routes
from duologue.server.settings import ServerSettings
from duologue.turns.endpoint import FixedSilence
from duologue.voice.scripted import ScriptedVoice

from .measured_server import ANSWER, LoudEars

FRAME_MS = 20
BRAIN_MS = 50  # of simulated time until the first token: an answer doesn't wait for it
SILENCE = base64.b64encode(bytes(24 * FRAME_MS * 2)).decode()
ANSWERED = {
    "session.update": "session.updated",
    "conversation.item.create": "conversation.item.added",
    "response.create": "response.created",
    "conversation.item.truncate": "conversation.item.truncated",
    "conversation.item.retrieve": "conversation.item.retrieved",
}
"""Each event that is measured, and the event that answers it."""


class MemorySocket:
    """An ASGI WebSocket in memory. It measures the CPU time until an answer is sent."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._inbox.put_nowait({"type": "websocket.connect"})
        self._watched = ""
        self._began_ns = 0
        self._answered: asyncio.Future[int] | None = None
        self.events: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        return await self._inbox.get()

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] != "websocket.send":
            return
        spent_ns = time.process_time_ns() - self._began_ns
        event = json.loads(message["text"])
        self.events.append(event)
        if event["type"] == self._watched and self._answered is not None and not self._answered.done():
            self._answered.set_result(spent_ns)

    def give(self, **event: Any) -> None:
        """Queue an event from the client for the server."""
        self._inbox.put_nowait({"type": "websocket.receive", "text": json.dumps(event)})

    def leave(self) -> None:
        self._inbox.put_nowait({"type": "websocket.disconnect"})

    async def ask(self, answer: str, **event: Any) -> int:
        """Queue an event. Returns the CPU time in nanoseconds until its answer was sent."""
        self._watched, self._answered = answer, asyncio.get_running_loop().create_future()
        self._began_ns = time.process_time_ns()
        self.give(**event)
        return await self._answered

    def newest(self, kind: str) -> dict[str, Any]:
        return next(event for event in reversed(self.events) if event["type"] == kind)


def event_cpu_ms(turns: int) -> dict[str, Any]:
    """Measure this many turns. Returns CPU milliseconds: the median and the 95th percentile over all events, the median
    for an audio frame, and the median for each kind of event."""
    spent = run_simulated(_talk(turns))
    answers = sorted(ns for kind in ANSWERED for ns in spent[kind])
    return {
        "event_cpu_ms_p50": statistics.median(answers) / 1e6,
        "event_cpu_ms_p95": answers[len(answers) * 95 // 100] / 1e6,
        "frame_cpu_ms_p50": statistics.median(spent["input_audio_buffer.append"]) / 1e6,
        "by_event_cpu_ms_p50": {kind: round(statistics.median(spent[kind]) / 1e6, 3) for kind in ANSWERED},
    }


async def _talk(turns: int) -> dict[str, list[int]]:
    brain = ScriptedBrain(otherwise=ANSWER, first_ms=BRAIN_MS)
    agent = Agent(brain, ears=LoudEars(), voice=ScriptedVoice(), endpoint=FixedSilence(), profile="confirm")
    server = Server(agent, ServerSettings())
    server.add_routes(realtime_routes(server))
    socket, scope = MemorySocket(), {"type": "websocket", "path": SOCKETS[0], "headers": [], "query_string": b""}
    serving = asyncio.ensure_future(server.app({**scope, "client": ("127.0.0.1", 1)}, socket.receive, socket.send))
    spent: dict[str, list[int]] = {kind: [] for kind in (*ANSWERED, "input_audio_buffer.append")}
    for _ in range(turns):
        await _play_turn(socket, spent)
    socket.leave()
    await serving
    return spent


async def _play_turn(socket: MemorySocket, spent: dict[str, list[int]]) -> None:
    """Play one turn: configure the session, send a text, receive the beginning of the answer, send a second of silence,
    and truncate the answer."""

    async def ask(kind: str, **event: Any) -> None:
        spent[kind].append(await socket.ask(ANSWERED[kind], type=kind, **event))

    await ask("session.update", session={"type": "realtime", "instructions": "Be brief."})
    content = [{"type": "input_text", "text": "Is there a table?"}]
    await ask("conversation.item.create", item={"type": "message", "role": "user", "content": content})
    await ask("response.create")
    await asyncio.sleep(0.2)
    for _ in range(1_000 // FRAME_MS):
        began_ns = time.process_time_ns()
        socket.give(type="input_audio_buffer.append", audio=SILENCE)
        await asyncio.sleep(FRAME_MS / 1000)
        spent["input_audio_buffer.append"].append(time.process_time_ns() - began_ns)
    item = socket.newest("response.output_audio.delta")["item_id"]
    await ask("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=700)
    await asyncio.sleep(1)
    await ask("conversation.item.retrieve", item_id=item)
