"""Measures what the runtime around the conversation machine costs, in CPU time and memory.

Services are scripted and answer immediately. Conversations run on the simulated clock, so waiting costs nothing and
only Duologue's own CPU time is measured. Rule: the label of a number says which work the number includes, and a
measured call has everything that a real one needs.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from duologue.brains.scripted import ScriptedBrain
from duologue.ears.scripted import ScriptedEars
from duologue.lab.sim.population import simulate
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Final, Frame, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing.person import Person
from duologue.voice.scripted import ScriptedVoice

from .budget import Budget

BUDGETS: tuple[Budget, ...] = (
    Budget("first_audio_cpu_ms_p50", "final transcript → first audio chunk, median", 0.6, "ms"),
    Budget("first_audio_cpu_ms_first_turn", "final transcript → first audio chunk, first turn", 2, "ms"),
    Budget("barge_in_cpu_ms_p50", "onset of a barge-in → playback is held, median", 0.1, "ms"),
    Budget("barge_in_chunks_after", "chunks sent after the onset of a barge-in", 0, "chunks"),
    Budget("cpu_ms_per_session_second", "CPU per second of a session, 50 frames/s, VAD off", 3, "ms"),
    Budget("kb_per_conversation", "memory of an idle conversation", 100, "kB"),
    Budget("ten_minute_call_s", "a ten-minute call, simulated without frames", 1, "s"),
    Budget("thousand_faulty_calls_s", "a thousand calls with faults, played and checked", 60, "s"),
    Budget("import_s", "import duologue, in a fresh process", 0.15, "s"),
)
NOTE = (
    "CPU time of this process on the simulated clock. Services answer immediately. The per-second figure is for "
    "20 calls side by side, with 50 frames a second each, a turn every ten seconds and playback reported every 100 ms."
)
_FRAME = Frame(bytes(640))


@dataclass
class Stopwatch(ScriptedLine):
    """A line that records the CPU time from `started_ns` to the next chunk of sound or to the next hold command. If
    `started_ns` is 0, it records nothing."""

    started_ns: int = 0
    spent_ns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        ScriptedLine.__init__(self)

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self._stop()
        super().play(voice, chunk, sound)

    def hold(self, voice: int) -> None:
        self._stop()
        super().hold(voice)

    def _stop(self) -> None:
        if self.started_ns:
            self.spent_ns.append(time.process_time_ns() - self.started_ns)
            self.started_ns = 0


def bench_runtime(calls: int = 1_000, progress: Callable[[str], None] = lambda what: None) -> dict[str, Any]:  # noqa: ARG005
    """Measure everything. `calls` is the number of calls with faults."""
    result: dict[str, Any] = {}
    progress("first audio")
    result |= first_audio()
    progress("barge-in")
    result["barge_in_cpu_ms_p50"] = barge_in_cpu_ms()
    result["barge_in_chunks_after"] = run_simulated(_barge_in())
    progress("seconds of sessions")
    result["cpu_ms_per_session_second"] = session_second()
    progress("memory")
    result["kb_per_conversation"] = memory()
    progress("a ten-minute call")
    result["ten_minute_call_s"] = _cpu_s(lambda: run_simulated(_ten_minutes()))
    progress(f"{calls} calls with faults")
    result["thousand_faulty_calls_s"] = _cpu_s(lambda: list(simulate(calls, 7, faults=True))) * 1_000 / calls
    progress("import")
    result["import_s"] = import_cost()
    result["budget"] = {budget.key: budget.limit for budget in BUDGETS}
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    result["note"] = NOTE
    return result


def report(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The result as rows of (what, measured, budget)."""
    return [budget.row(result) for budget in BUDGETS]


def _cpu_s(work: Callable[[], object]) -> float:
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def _agent(ears: ScriptedEars, **changes: Any) -> Agent:
    brain = ScriptedBrain(otherwise="It is sunny today. Is there anything else that I can do for you?")
    return Agent(changes.pop("brain", brain), ears=ears, voice=changes.pop("voice", ScriptedVoice()), **changes)


# -- Final transcript to first audio


def first_audio(turns: int = 40) -> dict[str, float]:
    """CPU milliseconds from the final transcript to the first audio chunk: the median over all turns, and the value of
    the first turn."""
    spent_ns = run_simulated(_first_audio(turns))
    return {
        "first_audio_cpu_ms_p50": statistics.median(spent_ns) / 1e6,
        "first_audio_cpu_ms_first_turn": spent_ns[0] / 1e6,
    }


async def _first_audio(turns: int) -> list[int]:
    """For each turn: the CPU nanoseconds from its final text to the first chunk of the answer on the line."""
    ears, line = ScriptedEars(), Stopwatch()
    conversation = Conversation(_agent(ears), line, seats=Seats())
    await conversation.start()
    for _ in range(turns):
        ears.tell(SpeechBegan())
        await asyncio.sleep(0.5)
        ears.tell(SpeechEnded())
        await asyncio.sleep(0.1)
        line.started_ns = time.process_time_ns()
        ears.tell(Final("what is the weather like"))
        ears.tell(TurnOver())
        await asyncio.sleep(10)
    await conversation.end()
    assert len(line.spent_ns) == turns, line.spent_ns
    return line.spent_ns


# -- Barge-in


def barge_in_cpu_ms(times: int = 40) -> float:
    """CPU milliseconds from the onset of a barge-in to the command that holds playback, the median."""
    return statistics.median(run_simulated(_barge_ins(times))) / 1e6


async def _barge_ins(times: int) -> list[int]:
    """For each barge-in: the CPU nanoseconds from the report of the onset to the hold command. Each answer is complete
    before the person begins to speak, so the CPU time is spent only on the onset."""
    ears, line = ScriptedEars(), Stopwatch()
    conversation = Conversation(_agent(ears), line, seats=Seats())
    await conversation.start()
    for _ in range(times):
        conversation.type("what is the weather like")
        await asyncio.sleep(1.5)
        line.started_ns = time.process_time_ns()
        ears.tell(SpeechBegan())
        await asyncio.sleep(0.5)
        ears.tell(SpeechEnded())
        ears.tell(Final("stop"))
        ears.tell(TurnOver())
        await asyncio.sleep(20)
    await conversation.end()
    assert len(line.spent_ns) == times, line.spent_ns
    return line.spent_ns


async def _barge_in() -> int:
    """How many chunks of sound still reach the line after the user has begun to interrupt. The TTS keeps producing
    chunks during that time."""
    ears, line = ScriptedEars(), ScriptedLine()
    voice = ScriptedVoice(chunk_ms=20)
    story = ScriptedBrain(
        otherwise=" ".join(f"Sentence number {number} of a story." for number in range(40)), token_ms=20
    )
    conversation = Conversation(_agent(ears, brain=story, voice=voice), line, seats=Seats())
    await conversation.start()
    conversation.type("tell me a story")
    await Person(ears, line).hear_agent(700)
    onset = len(line.log)
    ears.tell(SpeechBegan())
    await asyncio.sleep(0.4)
    held = [act for act in line.log[onset:] if act.what in ("play", "hold")]
    assert held, "the onset did not hold playback"
    await conversation.end()
    return sum(act.what == "play" for act in held)


# -- Seconds of sessions


def session_second(sessions: int = 20, seconds: int = 30) -> float:
    """The CPU milliseconds that one second of one call costs, with this many calls side by side."""
    spent_s = _cpu_s(lambda: run_simulated(_side_by_side(sessions, seconds)))
    return spent_s * 1_000 / (sessions * seconds)


async def _side_by_side(sessions: int, seconds: int) -> None:
    async with asyncio.TaskGroup() as calls:
        for _ in range(sessions):
            calls.create_task(_one_call(seconds))


async def _one_call(seconds: int) -> None:
    ears, line = ScriptedEars(), ScriptedLine()
    conversation = Conversation(_agent(ears), line, seats=Seats())
    await conversation.start()
    person = Person(ears, line)
    async with asyncio.TaskGroup() as both:
        both.create_task(_stream(line, seconds))
        for _ in range(max(1, seconds // 10)):
            await person.say("could you tell me about it")
            await asyncio.sleep(8.5)
    await conversation.end()


async def _stream(line: ScriptedLine, seconds: int) -> None:
    for _ in range(seconds * 50):
        line.tell(_FRAME)
        await asyncio.sleep(0.02)


# -- Memory


def memory(conversations: int = 200) -> float:
    """The kilobytes of Python objects that one started, idle conversation takes."""
    return run_simulated(_memory(conversations))


async def _memory(count: int) -> float:
    async def started() -> Conversation:
        conversation = Conversation(_agent(ScriptedEars()), ScriptedLine(), seats=Seats())
        await conversation.start()
        return conversation

    warm = await started()
    tracemalloc.start()
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    idle = [await started() for _ in range(count)]
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    for conversation in (*idle, warm):
        await conversation.end()
    return (after - before) / count / 1_000


# -- A ten-minute call


async def _ten_minutes() -> None:
    """Talk for ten simulated minutes. Every fourth answer is interrupted."""
    ears, line = ScriptedEars(), ScriptedLine()
    conversation = Conversation(_agent(ears), line, seats=Seats())
    await conversation.start()
    person = Person(ears, line)
    loop = asyncio.get_running_loop()
    began = loop.time()
    turn = 0
    while loop.time() - began < 600:
        turn += 1
        await person.say("and what about the day after tomorrow")
        await asyncio.sleep(2 if turn % 4 == 0 else 8)
    await conversation.end()


# -- Import


def import_cost(runs: int = 5) -> float:
    """CPU seconds of `import duologue` in a fresh interpreter, the fastest of a few runs."""
    code = "import time; began = time.process_time(); import duologue; print(time.process_time() - began)"
    costs = []
    for _ in range(runs):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        costs.append(float(done.stdout))
    return min(costs)
