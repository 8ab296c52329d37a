"""LiveKit's OpenAI realtime plugin: its session, with a player that notes what it has played."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

import aiohttp
from livekit import rtc
from livekit.agents import llm
from livekit.agents.llm import function_tool
from livekit.plugins.openai import realtime

from spoken import RATE_HZ, SAMPLES, report, speak, until


@function_tool
async def get_weather(city: str) -> str:
    """The weather in a city."""
    return "sunny" if city else "unknown"


async def main() -> None:
    async with aiohttp.ClientSession() as http:
        model = realtime.RealtimeModel(
            model="interop", base_url=os.environ["URL"], api_key=os.environ["KEY"], http_session=http
        )
        session = model.session()
        said: list[str] = []
        errors: list[str] = []
        playing: dict[str, list[float]] = {}
        tasks: list[asyncio.Task[Any]] = []
        truncated: list[int] = []
        await session.update_instructions("Be kind.")
        await session.update_tools([get_weather])

        async def message(one: Any) -> None:
            async def sound() -> None:
                async for frame in one.audio_stream:
                    played = playing.setdefault(one.message_id, [time.monotonic(), 0.0])
                    played[1] += frame.duration * 1000

            listening = asyncio.ensure_future(sound())
            said.append("".join([str(text) async for text in one.text_stream]))
            await listening

        async def generation(event: Any) -> None:
            async def calls() -> None:
                async for call in event.function_stream:
                    context = session.chat_ctx.copy()
                    context.items.append(
                        llm.FunctionCallOutput(call_id=call.call_id, name=call.name, output="sunny", is_error=False)
                    )
                    await session.update_chat_ctx(context)
                    tasks.append(asyncio.ensure_future(_await(session.generate_reply())))

            calling = asyncio.ensure_future(calls())
            async for one in event.message_stream:
                await message(one)
            await calling

        async def _await(future: Any) -> None:
            await future

        def interrupted(_: Any) -> None:
            if playing:
                item, (began, sent_ms) = playing.popitem()
                truncated.append(int(min(sent_ms, (time.monotonic() - began) * 1000)))
                session.truncate(message_id=item, modalities=["audio"], audio_end_ms=truncated[-1])

        session.on("generation_created", lambda event: tasks.append(asyncio.ensure_future(generation(event))))
        session.on("input_speech_started", interrupted)
        session.on("error", lambda error: errors.append(str(error)))

        async def send(pcm: bytes) -> None:
            session.push_audio(rtc.AudioFrame(pcm, RATE_HZ, 1, SAMPLES))

        await speak(send)
        await until(lambda: bool(playing), "sound of the story")
        await asyncio.sleep(0.8)
        await speak(send)
        await until(lambda: len(said) >= 2, "the answer to the interruption")
        playing.clear()
        await asyncio.sleep(1.5)
        await speak(send)
        await until(lambda: any("The tool says sunny." in text for text in said), "the tool's output")
        report(said=said[1:], truncated=bool(truncated), errors=errors)
        await session.aclose()


asyncio.run(main())
