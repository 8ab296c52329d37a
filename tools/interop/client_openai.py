"""The Python package `openai`: the application itself notes what it plays and truncates."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from typing import Any

from openai import AsyncOpenAI

from spoken import report, speak, until

TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}


async def main() -> None:
    client = AsyncOpenAI(api_key=os.environ["KEY"], base_url=os.environ["URL"])
    said: list[str] = []
    errors: list[str] = []
    playing: dict[str, Any] = {}
    seen: list[str] = []
    async with client.realtime.connect(model="interop") as connection:
        turns: Any = {"type": "server_vad", "silence_duration_ms": 200}
        await connection.session.update(
            session={"type": "realtime", "tools": [TOOL], "audio": {"input": {"turn_detection": turns}}}
        )

        async def read() -> None:
            async for event in connection:
                seen.append(event.type)
                if event.type == "response.output_audio.delta":
                    if event.item_id not in playing:
                        playing.clear()
                        playing[event.item_id] = [time.monotonic(), 0]
                    playing[event.item_id][1] += len(base64.b64decode(event.delta)) // 48
                elif event.type == "input_audio_buffer.speech_started" and playing:
                    item, (began, sent_ms) = playing.popitem()
                    ms = min(sent_ms, int((time.monotonic() - began) * 1000))
                    await connection.conversation.item.truncate(item_id=item, content_index=0, audio_end_ms=ms)
                elif event.type == "response.output_audio_transcript.done":
                    said.append(event.transcript)
                elif event.type == "response.function_call_arguments.done":
                    await connection.conversation.item.create(
                        item={"type": "function_call_output", "call_id": event.call_id, "output": "sunny"}
                    )
                    await connection.response.create()
                elif event.type == "error":
                    errors.append(event.error.message)

        reading = asyncio.ensure_future(read())

        async def send(pcm: bytes) -> None:
            await connection.input_audio_buffer.append(audio=base64.b64encode(pcm).decode())

        await speak(send)
        await until(lambda: bool(playing), "sound of the story")
        await asyncio.sleep(0.8)
        await speak(send)
        await until(lambda: len(said) >= 2, "the answer to the interruption")
        await asyncio.sleep(1.5)
        await speak(send)
        await until(lambda: "The tool says sunny." in said, "the tool's output")
        report(said=said[1:], truncated="conversation.item.truncated" in seen, errors=errors)
        reading.cancel()


asyncio.run(main())
