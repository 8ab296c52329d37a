"""A session of the scripted Realtime server: its conversation, its voice detection and its responses.

Rule: the session sends the events that the protocol requires of a server, in the order of the protocol.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from array import array
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from .protocol_types import problems_of_client_event, problems_of_server_event
from .response import ScriptedResponse

if TYPE_CHECKING:
    from .server import RealtimeServer

MS_BYTES = 48
LOUD = 300  # mean amplitude of 16-bit samples


class ScriptedRealtimeSession:
    """The server's side of one client connection."""

    def __init__(self, server: RealtimeServer, connection: ServerConnection, number: int) -> None:
        self.server = server
        self.number = number
        self.items: list[dict[str, Any]] = []
        self.audio_ms: dict[str, int] = {}  # how much audio each assistant item has
        self.outputs: dict[str, int] = {}  # call id -> number of outputs
        self.responses: list[ScriptedResponse] = []
        self.settings: dict[str, Any] = {}
        self.heard_ms = 0  # how much audio arrived in total
        self._connection = connection
        self._ids = 0
        self._buffer_ms = 0
        self._speaking = ""  # id of the item that the user is speaking
        self._quiet_ms = 0
        self._held: dict[str, Any] | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        self.settings = {
            "type": "realtime",
            "object": "realtime.session",
            "id": self.name("sess"),
            "model": "gpt-realtime",
            "expires_at": int(time.time()) + self.server.session_s,
            "output_modalities": ["audio"],
        }
        await self.send("session.created", session=self.settings)
        with suppress(ConnectionClosed):
            async for message in self._connection:
                await self._take(json.loads(message))
        self.stop()

    def stop(self) -> None:
        for task in (*self._tasks, *(response.task for response in self.responses)):
            if task is not None:
                task.cancel()

    def name(self, kind: str) -> str:
        self._ids += 1
        return f"{kind}_{self.number}_{self._ids}"

    # -- Misbehaving on request

    async def expire(self) -> None:
        """End the session, because its time limit is reached."""
        await self.send_error("session_expired", "")
        await self._connection.close(1001, "session_expired")

    def hang_up(self) -> None:
        """Break the connection, without a closing handshake."""
        self._connection.transport.abort()

    def go_silent(self) -> None:
        """Stop reading and answering. Not even pings are answered."""
        self._connection.transport.pause_reading()
        self.stop()

    def come_back(self) -> None:
        """Read and answer again, after `go_silent`."""
        self._connection.transport.resume_reading()

    # -- Sending

    async def send(self, kind: str, **fields: Any) -> None:
        event = {"event_id": self.name("event"), "type": kind, **fields}
        problems = problems_of_server_event(event)
        assert not problems, problems
        await self.send_raw(event)

    async def send_raw(self, event: dict[str, Any]) -> None:
        """Send an event without checking it against the protocol. Scripted faults still apply."""
        kind = str(event.get("type"))
        fault = self.server.fault_of(kind, "dropped", "duplicate", "late", "slow")
        if fault is not None and fault.what == "dropped":
            return
        if fault is not None and fault.what == "late":
            self._held = event
            return
        if fault is not None and fault.what == "slow":
            await asyncio.sleep(fault.ms / 1000)
        held, self._held = self._held, None
        twice = fault is not None and fault.what == "duplicate"
        for each in (event, *((event,) if twice else ()), *((held,) if held else ())):
            with suppress(ConnectionClosed):
                await self._connection.send(json.dumps(each))
            self.server.note(each, is_sent=True)

    async def send_error(self, code: str, cause: str, kind: str = "invalid_request_error") -> None:
        error: dict[str, Any] = {"type": kind, "code": code, "message": f"scripted: {code}"}
        if cause:
            error["event_id"] = cause
        await self.send("error", error=error)

    # -- Receiving

    async def _take(self, event: dict[str, Any]) -> None:
        problems = problems_of_client_event(event)
        cause = str(event.get("event_id") or "")
        kind = str(event.get("type"))
        self.server.note(event, is_sent=False)
        if problems:
            self.server.problems += problems
            await self.send_error("invalid_value", cause)
            return
        fault = self.server.fault_of(kind, "refused")
        if fault is not None:
            await self.send_error(fault.code, cause)
            return
        match kind:
            case "session.update":
                self.settings = {**self.settings, **event["session"]}
                await self.send("session.updated", session=self.settings)
            case "input_audio_buffer.append":
                await self._hear(base64.b64decode(event["audio"]))
            case "input_audio_buffer.commit":
                await self._commit(cause)
            case "input_audio_buffer.clear":
                self._buffer_ms = 0
                await self.send("input_audio_buffer.cleared")
            case "conversation.item.create":
                await self._create_item(event["item"], cause)
            case "conversation.item.truncate":
                await self._truncate(event, cause)
            case "conversation.item.delete":
                await self._delete(event["item_id"], cause)
            case "response.create":
                await self._create_response(event.get("response") or {}, cause)
            case "response.cancel":
                await self._cancel(event.get("response_id") or "", cause)

    def _wrong(self, what: str) -> None:
        """Record a problem with a client event that is well-formed but not allowed at this point."""
        self.server.problems.append(what)

    async def _create_item(self, item: dict[str, Any], cause: str) -> None:
        if item["type"] == "function_call_output":
            call = item["call_id"]
            known = any(one["type"] == "function_call" and one["call_id"] == call for one in self.items)
            self.outputs[call] = self.outputs.get(call, 0) + 1
            if not known or self.outputs[call] > 1:
                self._wrong(f"{call} " + ("has two outputs" if known else "isn't a call of this conversation"))
                await self.send_error("invalid_value", cause)
                return
        await self.add_item({"id": self.name("item"), **item})

    async def add_item(self, item: dict[str, Any]) -> None:
        before = self.items[-1]["id"] if self.items else None
        self.items.append({"object": "realtime.item", "status": "completed", **item})
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self.send(kind, item=self.items[-1], previous_item_id=before)

    def item(self, name: str) -> dict[str, Any] | None:
        return next((item for item in self.items if item["id"] == name), None)

    async def _truncate(self, event: dict[str, Any], cause: str) -> None:
        name, end_ms = event["item_id"], event["audio_end_ms"]
        item = self.item(name)
        if item is None or item.get("role") != "assistant" or end_ms > self.audio_ms.get(name, 0):
            await self.send_error("invalid_value", cause)
            return
        self.audio_ms[name] = end_ms
        item["content"] = [{"type": "output_audio"}]  # the protocol removes the transcript
        await self.send("conversation.item.truncated", item_id=name, content_index=0, audio_end_ms=end_ms)

    async def _delete(self, name: str, cause: str) -> None:
        item = self.item(name)
        if item is None:
            await self.send_error("item_delete_invalid_item_id", cause)
            return
        self.items.remove(item)
        await self.send("conversation.item.deleted", item_id=name)

    # -- Responses

    @property
    def active(self) -> ScriptedResponse | None:
        """The response of the conversation that is running now; None if there is no such response."""
        return next((one for one in self.responses if one.is_active and not one.is_aside), None)

    async def _create_response(self, wanted: dict[str, Any], cause: str) -> None:
        is_aside = wanted.get("conversation") == "none"
        if self.active is not None and not is_aside:
            await self.send_error("conversation_already_has_active_response", cause)
            return
        self.respond(wanted, is_aside)

    def respond(self, wanted: dict[str, Any], is_aside: bool = False) -> None:
        response = ScriptedResponse(self, wanted, is_aside)
        self.responses.append(response)
        response.task = asyncio.get_running_loop().create_task(response.run())

    async def _cancel(self, name: str, cause: str) -> None:
        active = self.active if not name else next((one for one in self.responses if one.id == name), None)
        if active is None or not active.is_active:
            await self.send_error("response_cancel_not_active", cause)
            return
        await active.cancel()

    # -- The user

    async def _hear(self, pcm: bytes) -> None:
        """Take audio from the client. If the client has turned on turn detection, speech is detected by how loud the
        audio is."""
        ms = len(pcm) // MS_BYTES
        self._buffer_ms += ms
        self.heard_ms += ms
        detection = ((self.settings.get("audio") or {}).get("input") or {}).get("turn_detection")
        if not detection:
            return
        samples = array("h", pcm)
        is_loud = bool(samples) and sum(map(abs, samples)) / len(samples) > LOUD
        self._quiet_ms = 0 if is_loud else self._quiet_ms + ms
        if is_loud and not self._speaking:
            await self.begin_speech()
        elif self._speaking and self._quiet_ms >= detection.get("silence_duration_ms", 500):
            await self.end_speech(self.server.hears.pop(0) if self.server.hears else "hello")

    async def begin_speech(self) -> None:
        self._speaking = self.name("item")
        await self.send("input_audio_buffer.speech_started", audio_start_ms=self.heard_ms, item_id=self._speaking)

    async def end_speech(self, text: str) -> None:
        item, self._speaking = self._speaking, ""
        await self.send("input_audio_buffer.speech_stopped", audio_end_ms=self.heard_ms, item_id=item)
        await self._commit_as(item, text)
        if self.server.answers_by_itself and self.active is None:
            self.respond({})

    async def say(self, text: str) -> None:
        """Act as if the server had heard the user say this text. The audio is ignored."""
        await self.begin_speech()
        await self.end_speech(text)

    async def _commit(self, cause: str) -> None:
        if self._buffer_ms < 100:
            await self.send_error("input_audio_buffer_commit_empty", cause)
            return
        await self._commit_as(self.name("item"), self.server.hears.pop(0) if self.server.hears else "hello")

    async def _commit_as(self, item: str, text: str) -> None:
        self._buffer_ms = 0
        before = self.items[-1]["id"] if self.items else None
        await self.send("input_audio_buffer.committed", item_id=item, previous_item_id=before)
        content = [{"type": "input_audio", "transcript": text}]
        await self.add_item({"id": item, "type": "message", "role": "user", "content": content})
        if ((self.settings.get("audio") or {}).get("input") or {}).get("transcription") is not None:
            await self._transcribe(item, text)

    async def _transcribe(self, item: str, text: str) -> None:
        kind = "conversation.item.input_audio_transcription"
        for word in text.split():
            await self.send(f"{kind}.delta", item_id=item, content_index=0, delta=f"{word} ")
        usage = {"type": "duration", "seconds": 1.0}
        await self.send(f"{kind}.completed", item_id=item, content_index=0, transcript=text, usage=usage)
