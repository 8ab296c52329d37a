"""A session of the scripted Gemini Live server: its turns, the user's activity, the answers, and the handles for
resuming it.

Rule: the session sends what the protocol requires of a server. A client message that isn't allowed at this point is
recorded as a problem.
"""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from duologue.testing.realtime.script import BreakDown, CallTool, FallSilent, ScriptPart, Speak

from .protocol_types import in_camel_case, problems_of_client_message, problems_of_server_message

if TYPE_CHECKING:
    from .server import GeminiServer

IN_MS_BYTES, OUT_MS_BYTES = 32, 48  # 16 kHz and 24 kHz
_TONE = b"\x40\x06"  # one quiet, non-zero sample


class ScriptedGeminiSession:
    """The server's side of one client connection. `turns` is the conversation so far: the turns of the user and of the
    model."""

    def __init__(self, server: GeminiServer, connection: ServerConnection, number: int) -> None:
        self.server = server
        self.number = number
        self.setup: dict[str, Any] | None = None
        self.turns: list[dict[str, Any]] = []
        self.waiting: dict[str, str] = {}  # calls without a response: id -> function
        self.heard_ms = 0
        self.is_active = False  # has an activity begun?
        self._connection = connection
        self._answer: asyncio.Task[None] | None = None
        self._owes_end = False  # the end of a turn isn't sent yet, because its sound counts as still playing
        self._ids = 0
        self._handles = 0

    async def run(self) -> None:
        with suppress(ConnectionClosed):
            async for message in self._connection:
                await self._take(in_camel_case(json.loads(message)))
        self.stop()

    def stop(self) -> None:
        if self._answer is not None:
            self._answer.cancel()

    @property
    def reads_aloud(self) -> bool:
        """Was this connection opened only to read a text aloud?"""
        return self.setup is not None and "inputAudioTranscription" not in self.setup

    # -- Misbehaving on request

    def hang_up(self) -> None:
        """Break the connection, without a closing handshake."""
        self._connection.transport.abort()

    async def close(self, code: int, reason: str) -> None:
        await self._connection.close(code, reason)

    def go_silent(self) -> None:
        """Stop reading and answering. Not even pings are answered."""
        self._connection.transport.pause_reading()
        self.stop()

    async def go_away(self, left: str = "10s") -> None:
        """Announce to the client that the connection will be closed after the time `left`."""
        await self.send({"goAway": {"timeLeft": left}})

    # -- Sending

    async def send(self, message: dict[str, Any]) -> None:
        problems = problems_of_server_message(message)
        assert not problems, problems
        await self.send_raw(json.dumps(message))
        self.server.note(message, is_sent=True)

    async def send_raw(self, text: str | bytes) -> None:
        """Send this message without checking it."""
        with suppress(ConnectionClosed):
            await self._connection.send(text)

    async def offer_handle(self) -> None:
        """Send the client a handle with which it can resume the session at this point. Does nothing if the client
        didn't ask for handles."""
        assert self.setup is not None
        if "sessionResumption" not in self.setup:
            return
        self._handles += 1
        handle = f"handle-{self.number}-{self._handles}"
        self.server.resumable[handle] = [dict(turn) for turn in self.turns]
        await self.send({"sessionResumptionUpdate": {"newHandle": handle, "resumable": True}})

    # -- Receiving

    async def _take(self, message: dict[str, Any]) -> None:
        self.server.note(message, is_sent=False)
        problems = problems_of_client_message(message)
        if not problems and ("setup" in message) is (self.setup is not None):
            problems = ["a setup must be the first message, and come once"]
        if problems:
            self.server.note_problems(problems)
            await self.close(1007, "Request contains an invalid argument.")
            return
        ((kind, value),) = message.items()
        match kind:
            case "setup":
                await self._begin(value)
            case "clientContent":
                await self._take_content(value)
            case "realtimeInput":
                await self._take_input(value)
            case "toolResponse":
                await self._take_responses(value["functionResponses"])
            case "contextUpdate":
                self.setup = {**(self.setup or {}), **value}

    def _wrong(self, what: str) -> None:
        """Record a problem with a client message that is well-formed but not allowed at this point."""
        self.server.note_problems([what])

    async def _begin(self, setup: dict[str, Any]) -> None:
        if self.server.closes:
            await self.close(*self.server.closes.pop(0))
            return
        detection = (setup.get("realtimeInputConfig") or {}).get("automaticActivityDetection") or {}
        if not detection.get("disabled"):
            self._wrong("setup.realtimeInputConfig: the client must decide about turns")
        handle = (setup.get("sessionResumption") or {}).get("handle")
        if handle is not None and handle not in self.server.resumable:
            await self.close(1008, "BidiGenerateContent session not found")
            return
        self.turns = [dict(turn) for turn in self.server.resumable.get(handle or "", [])]
        self.setup = setup
        await self.send({"setupComplete": {"sessionId": f"session-{self.number}"}})

    async def _take_content(self, content: dict[str, Any]) -> None:
        if self.is_active:
            self._wrong("clientContent inside an activity: the order of the two is undefined")
        await self._interrupt()
        for turn in content.get("turns") or ():
            if turn.get("role") not in ("user", "model"):
                self._wrong(f"clientContent: role {turn.get('role')!r}")
            self.turns += [{"role": turn["role"], "text": part["text"]} for part in turn["parts"]]
        if content.get("turnComplete"):
            self._generate()

    async def _take_input(self, given: dict[str, Any]) -> None:
        if len(given) != 1:
            self._wrong("realtimeInput must have exactly one part")
        if "activityStart" in given:
            if self.is_active:
                self._wrong("a second activityStart without activityEnd")
            await self._interrupt()
            self.is_active = True
            self.turns.append({"role": "user", "audio_ms": 0})
            return
        if not self.is_active:
            self._wrong(f"{next(iter(given))} outside an activity")
            return
        turn = self.turns[-1]
        if "audio" in given:
            if given["audio"]["mimeType"] != "audio/pcm;rate=16000":
                self._wrong(f"audio is {given['audio']['mimeType']}")
            ms = len(base64.b64decode(given["audio"]["data"])) // IN_MS_BYTES
            self.heard_ms += ms
            turn["audio_ms"] += ms
        elif "text" in given:
            turn["text"] = f"{turn.get('text', '')}\n{given['text']}".strip()
        elif "activityEnd" in given:
            self.is_active = False
            await self._transcribe()
            self._generate()

    async def _transcribe(self) -> None:
        text = self.server.hears.pop(0) if self.server.hears else ""
        for word in text.split():
            await self.send({"serverContent": {"inputTranscription": {"text": f" {word}"}}})

    async def _take_responses(self, responses: list[dict[str, Any]]) -> None:
        for response in responses:
            if self.waiting.pop(response.get("id", ""), None) != response["name"]:
                self._wrong(f"a response to {response['name']}, for which the server doesn't wait")
            self.turns.append({"role": "user", "output": response["response"]})
        if not self.waiting:
            self._generate()

    # -- Answering

    async def _interrupt(self) -> None:
        """Stop the answer, and cancel the tool calls that wait for a response, because the client sent a message that
        interrupts."""
        if self.waiting:
            await self.send({"toolCallCancellation": {"ids": [*self.waiting]}})
            self.waiting.clear()
        is_running = self._answer is not None and not self._answer.done()
        self.stop()
        self._answer = None
        if is_running or self._owes_end:
            self._owes_end = False
            if is_running:
                await self.send({"serverContent": {"interrupted": True}})
            await self._end_turn()

    def _generate(self) -> None:
        parts: list[ScriptPart] = [Speak(self.turns[-1]["text"], ms=200)] if self.reads_aloud else []
        parts = parts or self.server.next_answer()
        self._answer = asyncio.get_running_loop().create_task(self._run(parts))

    async def _run(self, parts: list[ScriptPart]) -> None:
        if self._owes_end:
            self._owes_end = False
            await self._end_turn()
        calls: list[dict[str, Any]] = []
        for part in parts:
            match part:
                case Speak():
                    await self._say(part)
                case CallTool():
                    self._ids += 1
                    name = part.call_id or f"call-{self.number}-{self._ids}"
                    calls.append({"id": name, "name": part.name, "args": part.arguments})
                case BreakDown():
                    await self.close(1011, part.code)
                    return
                case FallSilent():
                    await asyncio.get_running_loop().create_future()
        if calls:
            self.waiting = {call["id"]: call["name"] for call in calls}
            self.turns.append({"role": "model", "calls": calls})
            await self.send({"toolCall": {"functionCalls": calls}})
            return
        await self.send({"serverContent": {"generationComplete": True}})
        if self.server.plays:
            self._owes_end = True
        else:
            await self._end_turn()
        await self.offer_handle()

    async def _end_turn(self) -> None:
        usage = {"promptTokenCount": 100, "responseTokenCount": 20, "totalTokenCount": 120}
        await self.send({"serverContent": {"turnComplete": True}, "usageMetadata": usage})

    async def _say(self, part: Speak) -> None:
        turn = {"role": "model", "text": "", "audio_ms": 0}
        self.turns.append(turn)
        chunks = max(1, part.ms // part.chunk_ms)
        words = [f"{word} " for word in part.text.split()]
        for number in range(chunks):
            text = "".join(words[number * len(words) // chunks : (number + 1) * len(words) // chunks])
            data = base64.b64encode(_TONE * (part.chunk_ms * OUT_MS_BYTES // 2)).decode()
            blob = {"mimeType": "audio/pcm;rate=24000", "data": data}
            turn["text"] = f"{turn['text']}{text}"
            if text:
                await self.send({"serverContent": {"outputTranscription": {"text": text}}})
            await self.send({"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": blob}]}}})
            if part.paced:
                await asyncio.sleep(part.chunk_ms / 1000)
