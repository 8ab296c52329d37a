"""Pipecat's OpenAI Realtime service, in a pipeline whose transport is this script."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from pipecat.adapters.schemas.function_schema import FunctionSchema
from pipecat.adapters.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterruptionFrame,
    LLMContextFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService

from spoken import RATE_HZ, report, speak, until

WEATHER = FunctionSchema("get_weather", "The weather in a city.", {"city": {"type": "string"}}, [])


class Sink(FrameProcessor):
    """Notes what comes out of the service."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.text = ""
        self.errors: list[str] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        self.seen.append(type(frame).__name__)
        if isinstance(frame, TTSTextFrame):
            self.text += frame.text
        if isinstance(frame, ErrorFrame):
            self.errors.append(frame.error)
        await self.push_frame(frame, direction)


async def main() -> None:
    url = os.environ["URL"].replace("http", "ws", 1) + "/realtime"
    service = OpenAIRealtimeLLMService(api_key=os.environ["KEY"], base_url=url)
    called: list[Any] = []

    async def weather(params: Any) -> None:
        called.append(params.arguments)
        await params.result_callback("sunny")

    service.register_function("get_weather", weather)
    context = LLMContext([], ToolsSchema(standard_tools=[WEATHER]))
    pair = LLMContextAggregatorPair(context)
    sink = Sink()
    task = PipelineTask(
        Pipeline([pair.user(), service, sink, pair.assistant()]),
        params=PipelineParams(audio_in_sample_rate=RATE_HZ, audio_out_sample_rate=RATE_HZ),
    )
    running = asyncio.ensure_future(PipelineRunner(handle_sigint=False).run(task))
    await task.queue_frame(LLMContextFrame(context))

    async def send(pcm: bytes) -> None:
        await task.queue_frame(InputAudioRawFrame(pcm, RATE_HZ, 1))

    await until(lambda: TTSAudioRawFrame.__name__ in sink.seen, "the greeting", 40)
    await asyncio.sleep(2)
    sink.seen.clear()
    await speak(send)
    await until(lambda: TTSAudioRawFrame.__name__ in sink.seen, "sound of the story")
    await asyncio.sleep(0.8)
    await speak(send)
    await until(lambda: "You said stop" in sink.text, "the answer to the interruption")
    await asyncio.sleep(2)
    await speak(send)
    await until(lambda: "The tool says" in sink.text, "the tool's output")
    interrupted = InterruptionFrame.__name__ in sink.seen or "UserStartedSpeakingFrame" in sink.seen
    report(said=[sink.text[-60:]], truncated=interrupted, errors=sink.errors, called=len(called))
    await task.queue_frame(EndFrame())
    await asyncio.wait([running], timeout=5)


asyncio.run(main())
