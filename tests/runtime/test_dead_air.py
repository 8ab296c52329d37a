"""Silence: when the agent checks in, when it doesn't, and how that ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from duologue.core.settings import profile
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import ToolCall
from duologue.ports.ears import SpeechBegan, SpeechEnded
from duologue.testing import Delay, Hang, ScriptedBrain, ScriptedSession, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

FIRST, SECOND = "Are you still there?", "Hello? Can you hear me?"
FIVE_MINUTES = profile("confirm", dead_air_ms=300_000)


def ends_of_speech(stage: Stage) -> list[int]:
    """When the agent's speech ended, each time."""
    return [told.at for told in stage.told(sg.TurnCompleted) if told.turn.role == "assistant"]


def speech_starts(stage: Stage) -> list[int]:
    return [told.at for told in stage.told(sg.TurnStarted) if told.turn.role == "assistant"]


# -- After five minutes


@pytest.mark.req("L-17.asks")
def test_after_five_minutes_in_which_nothing_happens_the_agent_asks() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        [ended] = ends_of_speech(stage)
        await stage.sleep(ended + 299_999 - stage.now_ms)
        assert stage.heard == ["Good day."]
        await stage.sleep(2_000)
        assert stage.heard == ["Good day.", FIRST]

    play(scene, ScriptedBrain(["Good day."]), profile=FIVE_MINUTES)


async def speak(stage: Stage) -> None:
    await stage.say("one more thing")


async def write(stage: Stage) -> None:
    stage.conversation.type("one more thing")


async def speak_up(stage: Stage) -> None:
    """A job that ran beside the conversation is done, and the agent says so."""
    stage.conversation.type("start it")


@pytest.mark.req("L-17.asks")
@pytest.mark.parametrize("act", [speak, write, speak_up])
def test_whatever_happens_meanwhile_the_five_minutes_count_from_there(act: Callable[[Stage], Awaitable[None]]) -> None:
    brain = ScriptedBrain({"start it": [ToolCall("work"), "I am on it."]}, otherwise="I see.")

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(200_000)
        await act(stage)
        await stage.rest()
        await stage.sleep(150_000)
        assert FIRST not in stage.heard
        ended = ends_of_speech(stage)[-1]
        await stage.sleep(ended + 300_000 - stage.now_ms + 2_000)
        assert stage.heard[-1] == FIRST
        assert speech_starts(stage)[-1] - ended in range(300_000, 301_000)

    play(
        scene,
        brain,
        tools=[scripted_tool("work", Delay(40_000), "done", mode="dispatch")],
        profile=FIVE_MINUTES,
    )


@pytest.mark.req("L-17.optional")
def test_it_never_asks_if_that_is_switched_off() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(3_000_000)
        assert stage.heard == ["Good day."]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(["Good day."]), profile=profile("confirm", dead_air_ms=0))


# -- Again and again, and then no more


@pytest.mark.req("V-07.after", "V-07.words", "V-07.bounded")
@pytest.mark.parametrize("silence_ms", [3_000, 10_000, 20_000])
@pytest.mark.parametrize("check_ins", [1, 2])
def test_each_silence_is_counted_from_the_end_of_what_was_heard(silence_ms: int, check_ins: int) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        async with asyncio.timeout(300):
            assert await stage.conversation.wait() == "goodbye"
        *asked, goodbye = stage.heard[1:]
        assert asked == [FIRST, SECOND][:check_ins]
        assert goodbye.endswith("Goodbye!")
        waited = [start - end for start, end in zip(speech_starts(stage)[1:], ends_of_speech(stage), strict=False)]
        assert len(waited) == check_ins + 1
        assert all(silence_ms <= ms < silence_ms + 500 for ms in waited), waited
        assert stage.lost == []

    settings = profile("confirm", dead_air_ms=silence_ms, check_ins_max=check_ins, hangs_up=True)
    play(scene, ScriptedBrain(["Good day."]), profile=settings)


# -- Never while either side is active

LONG = "This is a rather long explanation of something. " * 40


async def talks(stage: Stage) -> None:
    await stage.begin("let me think " * 8, word_ms=1_000)


async def holds_the_button(stage: Stage) -> None:
    stage.conversation.press()
    stage.ears.tell(SpeechBegan(1))
    await stage.sleep(2_000)
    stage.ears.tell(SpeechEnded(1))
    await stage.sleep(20_000)


async def hears_the_agent(stage: Stage) -> None:
    stage.conversation.type("explain")
    await stage.sleep(60_000)
    assert stage.line.is_sounding


async def waits_for_the_brain(stage: Stage) -> None:
    stage.conversation.type("think")
    await stage.sleep(7_000)


async def waits_for_a_tool(stage: Stage) -> None:
    stage.conversation.type("use the tool")
    await stage.sleep(25_000)


async def waits_for_a_job(stage: Stage) -> None:
    stage.conversation.type("delegate it")
    await stage.sleep(200_000)


async def has_a_job_beside(stage: Stage) -> None:
    stage.conversation.type("dispatch it")
    await stage.sleep(200_000)


async def has_paused(stage: Stage) -> None:
    stage.conversation.suspend("lunch")
    await stage.sleep(20_000)


async def reconnects(stage: Stage) -> None:
    assert isinstance(stage.line, ScriptedLine)
    stage.line.open_failures = [OSError(), OSError()]
    stage.line.drop()
    await stage.sleep(10_000)


@pytest.mark.req("V-07.active", "M-17")
@pytest.mark.parametrize(
    "act",
    [
        talks,
        holds_the_button,
        hears_the_agent,
        waits_for_the_brain,
        waits_for_a_tool,
        waits_for_a_job,
        has_a_job_beside,
        has_paused,
        reconnects,
    ],
)
def test_there_is_no_check_in_while_a_side_is_active(act: Callable[[Stage], Awaitable[None]]) -> None:
    brain = ScriptedBrain(
        {
            "explain": LONG,
            "think": [Delay(7_500), "I see."],
            "use the tool": [ToolCall("tool")],
            "delegate it": [ToolCall("delegated")],
            "dispatch it": [ToolCall("dispatched"), "I am on it."],
        },
        otherwise="I see.",
    )

    async def scene(stage: Stage) -> None:
        await stage.sleep(4_000)
        await act(stage)
        assert stage.conversation.machine_state.check_ins == 0
        assert FIRST not in stage.heard

    play(
        scene,
        brain,
        tools=[
            scripted_tool("tool", Hang()),
            scripted_tool("delegated", Hang(), mode="delegate"),
            scripted_tool("dispatched", Hang(), mode="dispatch"),
        ],
        session=ScriptedSession,
        profile=profile("confirm", dead_air_ms=5_000),
    )


# -- Noise


@pytest.mark.req("H-08")
@pytest.mark.parametrize("pauses_ms", [0, 300, 2_000])
def test_noise_that_never_ends_delays_a_check_in_by_one_period_and_does_not_keep_the_call(pauses_ms: int) -> None:
    """A machine runs beside the telephone. The ears take it for a voice, and find no word in it."""
    period_ms = 5_000

    async def make_noise(stage: Stage) -> None:
        for utterance in range(100, 400):
            stage.ears.tell(SpeechBegan(utterance))
            await stage.sleep(60_000 if not pauses_ms else 3_000)
            stage.ears.tell(SpeechEnded(utterance))
            await stage.sleep(pauses_ms or 1)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")  # its partial text shows that these ears read along
        await stage.rest()
        [ended] = ends_of_speech(stage)
        noise = asyncio.ensure_future(make_noise(stage))
        async with asyncio.timeout(120):
            await stage.conversation.wait()
        noise.cancel()
        asked = speech_starts(stage)[1:]
        assert len(asked) == 3, "two check-ins and a goodbye"
        assert asked[0] - ended <= 2 * period_ms + 1_000
        gaps = [later - earlier for earlier, later in pairwise(asked)]
        assert max(gaps) <= 2 * period_ms + 4_000, gaps  # the sentence itself takes a while

    settings = profile("words", greets=False, dead_air_ms=period_ms)
    play(scene, ScriptedBrain(["Good day."]), profile=settings)
