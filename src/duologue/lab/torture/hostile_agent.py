"""The agent of a hostile run: it answers at once, has a tool that blocks, and ears that use as much CPU as real ones.

Rule: everything that callers share in production is shared here too: the threads of models, the pool of tools, the
event loop and the store.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import AsyncIterator
from typing import Any

from duologue.core.leaves import Outcome
from duologue.core.settings import profile
from duologue.ears.model_threads import ModelLane, Urgency, shared_threads
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Commit, Final, Frame, Heard, Incoming, SpeechBegan, SpeechEnded
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent, Phrases
from duologue.workers.function_tools import tool

from .tortured_agent import LegibleVoice

ANSWER = "done."
LOUD = 1_000  # a sample above this is speech
QUIET_FRAMES = 5  # of silence end an utterance
FRAME_CPU_MS = 1.0  # for 20 ms of sound: what VAD and STT need on a small machine
BATCH_FRAMES = 10


class BusyEars:
    """Ears that hear the word "spoken" in every loud utterance. They use CPU time in the threads in which models
    run."""

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        lane = ModelLane(shared_threads(), Urgency.PARTIAL)
        loop = asyncio.get_running_loop()
        utterance, quiet, unheard, is_speaking = 0, 0, 0, False
        async for item in audio:
            if isinstance(item, Frame):
                unheard += 1
                is_loud = max(array("h", item.pcm), default=0) > LOUD
                quiet = 0 if is_loud else quiet + 1
                if is_loud and not is_speaking:
                    is_speaking = True
                    utterance += 1
                    yield SpeechBegan(utterance)
                if unheard >= BATCH_FRAMES or (is_speaking and quiet == QUIET_FRAMES):
                    await loop.run_in_executor(lane, burn, unheard * FRAME_CPU_MS)
                    unheard = 0
                if is_speaking and quiet >= QUIET_FRAMES:
                    is_speaking = False
                    yield SpeechEnded(utterance, quiet * 20)
                    yield Final("spoken", 1.0, utterance)
            elif isinstance(item, Commit) and is_speaking:
                is_speaking = False
                yield Final("spoken", 1.0, utterance)


def burn(ms: float) -> None:
    """Keep this thread busy for `ms` milliseconds of CPU time."""
    until_s = time.thread_time() + ms / 1000
    while time.thread_time() < until_s:
        sum(range(200))


class HostileBrain:
    """A brain whose answer is always the word "done", unless a tool call has failed. If the text is "sleep 50", it
    first calls its tool, which sleeps for 50 milliseconds. If the text is "sleep 50 8", it calls the tool eight
    times."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        words = request.text.split()
        if request.outputs:
            failed = [item.outcome.value for item in request.outputs if item.outcome is not Outcome.DONE]
            yield f"{failed[0]}." if failed else ANSWER
        elif words[:1] == ["sleep"] and len(words) > 1 and words[1].isdecimal():
            for _ in range(int(words[2]) if len(words) > 2 and words[2].isdecimal() else 1):
                yield ToolCall("doze", {"ms": int(words[1])})
        else:
            yield ANSWER


def make_hostile_agent() -> Agent:
    """The agent of the server in a hostile run."""

    @tool(idempotent=True)
    def doze(ms: int) -> str:
        """Blocks its thread for a while."""
        time.sleep(ms / 1000)
        return "rested"

    settings: Any = profile("confirm", dead_air_ms=0, reconnect_ms_max=5_000, dismiss_ms=2_000)
    return Agent(
        HostileBrain(),
        name="Hostile",
        ears=BusyEars(),
        voice=LegibleVoice(),
        tools=[doze],
        profile=settings,
        phrases=Phrases(),
        spoken_forms=False,  # what is heard is compared with what was written
    )
