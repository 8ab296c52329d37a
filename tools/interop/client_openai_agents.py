"""The package `openai-agents`: its realtime session truncates and runs tools by itself."""

from __future__ import annotations

import asyncio
import os

from agents import function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner

from spoken import report, speak, until


@function_tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return "sunny" if city else "unknown"


async def main() -> None:
    agent = RealtimeAgent(name="interop", instructions="Be kind.", tools=[get_weather])
    runner = RealtimeRunner(agent)
    url = os.environ["URL"].replace("http", "ws", 1) + "/realtime?model=interop"
    session = await runner.run(model_config={"url": url, "api_key": os.environ["KEY"]})
    seen: list[str] = []
    raw: list[str] = []
    said: list[str] = []
    errors: list[str] = []
    async with session:

        async def read() -> None:
            async for event in session:
                seen.append(event.type)
                if event.type == "error":
                    errors.append(str(event.error))
                if event.type == "raw_model_event" and event.data.type == "raw_server_event":
                    data = event.data.data
                    raw.append(data["type"])
                    if data["type"] == "response.output_audio_transcript.done":
                        said.append(data["transcript"])

        reading = asyncio.ensure_future(read())
        await speak(session.send_audio)
        await until(lambda: "audio" in seen, "sound of the story")
        await asyncio.sleep(0.8)
        await speak(session.send_audio)
        await until(lambda: "audio_interrupted" in seen, "the interruption")
        await until(lambda: len(said) >= 2, "the answer to the interruption")
        await asyncio.sleep(1.5)
        await speak(session.send_audio)
        await until(lambda: "tool_end" in seen, "the tool")
        await until(lambda: "The tool says sunny." in said, "the tool's output")
        report(said=said[1:], truncated="conversation.item.truncated" in raw, errors=errors)
        reading.cancel()


asyncio.run(main())
