"""A response from the scripted Realtime server.

Rule: a response ends with exactly one `response.done`, whether it completes, fails or is cancelled.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

from .script import BreakDown, CallTool, FallSilent, ScriptPart, Speak, WriteText

if TYPE_CHECKING:
    from .session import ScriptedRealtimeSession

MS_BYTES = 48
_TONE = b"\x40\x06"  # one quiet, non-zero sample


class ScriptedResponse:
    """Sends the events of one response, in the order of its script, until the response ends or is cancelled. With
    `is_aside`, the response doesn't become part of the conversation."""

    def __init__(self, session: ScriptedRealtimeSession, wanted: dict[str, Any], is_aside: bool) -> None:
        self._session = session
        self._wanted = wanted
        self.is_aside = is_aside
        self.id = session.name("resp")
        self.is_active = True
        self.task: asyncio.Task[None] | None = None
        self._output: list[dict[str, Any]] = []
        self._script = self._parts()

    async def run(self) -> None:
        session = self._session
        await session.send("response.created", response=self._value("in_progress"))
        limits = [{"name": "requests", "limit": 1_000, "remaining": 999, "reset_seconds": 0.06}]
        await session.send("rate_limits.updated", rate_limits=limits)
        for part in self._script:
            match part:
                case Speak():
                    await self._say(part)
                case WriteText():
                    await self._write(part)
                case CallTool():
                    await self._call(part)
                case BreakDown():
                    await self._end("failed", error={"type": "server_error", "code": part.code})
                    return
                case FallSilent():
                    await asyncio.get_running_loop().create_future()
        await self._end("completed")

    def _parts(self) -> list[ScriptPart]:
        if not self.is_aside:
            return self._session.server.next_response(self._session.items)
        given = self._wanted["input"][0]["content"][0]["text"].rpartition("\n\n")[2]
        return [WriteText(f"In short: {given[:60]}") if "text" in self._modalities else Speak(given, ms=200)]

    @property
    def _modalities(self) -> list[str]:
        wanted: list[str] = self._wanted.get("output_modalities") or self._session.settings["output_modalities"]
        return wanted

    async def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()
        for item in self._output:
            if item["status"] == "in_progress":
                item["status"] = "incomplete"
                await self._session.send(
                    "response.output_item.done", response_id=self.id, output_index=0, item=_copy_of(item)
                )
        await self._end("cancelled", reason="client_cancelled")

    async def _end(self, status: str, **details: Any) -> None:
        self.is_active = False
        value = self._value(status)
        if details:
            value["status_details"] = {"type": status, **details}
        value["output"] = [_copy_of(item) for item in self._output]
        await self._session.send("response.done", response=value)

    def _value(self, status: str) -> dict[str, Any]:
        value: dict[str, Any] = {"id": self.id, "object": "realtime.response", "status": status, "output": []}
        value["output_modalities"] = self._modalities
        if self._wanted.get("metadata"):
            value["metadata"] = self._wanted["metadata"]
        return value

    # -- Parts

    async def _begin_item(self, item: dict[str, Any]) -> dict[str, str | int]:
        """Add an output item to the response. Returns the fields that all events about this item have in common."""
        whole = {"id": self._session.name("item"), "object": "realtime.item", "status": "in_progress", **item}
        self._output.append(whole)
        place = len(self._output) - 1
        if not self.is_aside:
            self._session.items.append(whole)
            await self._session.send("conversation.item.added", item=_copy_of(whole))
        await self._session.send(
            "response.output_item.added", response_id=self.id, output_index=place, item=_copy_of(whole)
        )
        return {"response_id": self.id, "item_id": str(whole["id"]), "output_index": place}

    async def _end_item(self) -> None:
        item = self._output[-1]
        item["status"] = "completed"
        place = len(self._output) - 1
        await self._session.send(
            "response.output_item.done", response_id=self.id, output_index=place, item=_copy_of(item)
        )
        if not self.is_aside:
            await self._session.send("conversation.item.done", item=_copy_of(item))

    async def _say(self, part: Speak) -> None:
        session = self._session
        where = await self._begin_item({"type": "message", "role": "assistant", "content": []})
        item = self._output[-1]
        at = {**where, "content_index": 0}
        await session.send("response.content_part.added", **at, part={"type": "audio", "transcript": ""})
        chunks = max(1, part.ms // part.chunk_ms)
        words = [f"{word} " for word in part.text.split()]
        for number in range(chunks):
            first, last = number * len(words) // chunks, (number + 1) * len(words) // chunks
            if first < last:
                text = "".join(words[first:last])
                await session.send("response.output_audio_transcript.delta", **at, delta=text)
            pcm = _TONE * (part.chunk_ms * MS_BYTES // 2)
            session.audio_ms[item["id"]] = session.audio_ms.get(item["id"], 0) + part.chunk_ms
            await session.send("response.output_audio.delta", **at, delta=base64.b64encode(pcm).decode())
            if part.paced:
                await asyncio.sleep(part.chunk_ms / 1000)
        item["content"] = [{"type": "output_audio", "transcript": part.text}]
        await session.send("response.output_audio.done", **at)
        await session.send("response.output_audio_transcript.done", **at, transcript=part.text)
        done = {"type": "audio", "transcript": part.text}
        await session.send("response.content_part.done", **at, part=done)
        await self._end_item()

    async def _write(self, part: WriteText) -> None:
        where = await self._begin_item({"type": "message", "role": "assistant", "content": []})
        at = {**where, "content_index": 0}
        self._output[-1]["content"] = [{"type": "output_text", "text": part.text}]
        for word in part.text.split():
            await self._session.send("response.output_text.delta", **at, delta=f"{word} ")
        await self._session.send("response.output_text.done", **at, text=part.text)
        await self._end_item()

    async def _call(self, part: CallTool) -> None:
        arguments = json.dumps(part.arguments)
        call = part.call_id or self._session.name("call")
        item = {"type": "function_call", "name": part.name, "arguments": "", "call_id": call}
        where = await self._begin_item(item)
        await self._session.send("response.function_call_arguments.delta", **where, call_id=call, delta=arguments)
        done = {"call_id": call, "name": part.name, "arguments": arguments}
        await self._session.send("response.function_call_arguments.done", **where, **done)
        self._output[-1]["arguments"] = arguments
        await self._end_item()


def _copy_of(item: dict[str, Any]) -> dict[str, Any]:
    """A deep copy of the item, so that later changes don't change events that were sent."""
    return json.loads(json.dumps(item))  # type: ignore[no-any-return]
