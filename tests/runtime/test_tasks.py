"""Tasks end with their conversation, and a task that is cancelled from outside costs no answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from duologue.observe import signals as sg
from duologue.ports import Sound, ToolCall
from duologue.ports.ears import SpeechEnded
from duologue.runtime.conversation import StartRefused
from duologue.testing import Delay, Hang, ScriptedBrain, ScriptedSession, scripted_tool
from tests.runtime.runtime_fakes import Stage, Stubborn, others, play, task_called

LONG = "This is a long answer that goes on and on, so that there is time to do things while it is spoken."


class HangingVoice:
    """Never makes a sound."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        await asyncio.get_running_loop().create_future()
        yield Sound(1)


class StuckVoice:
    """One sound, and then nothing."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        yield Sound(3_000)
        await asyncio.get_running_loop().create_future()


class SlowToClose(ScriptedSession):
    """A session that can't be closed."""

    async def close(self) -> None:
        await asyncio.get_running_loop().create_future()


async def talk(stage: Stage) -> None:
    await stage.begin("I would like to")


async def settle(stage: Stage) -> None:
    await stage.begin("I would like to")
    stage.ears.tell(SpeechEnded(stage.utterance))
    await stage.sleep(50)


async def ask(stage: Stage) -> None:
    await stage.say("tell me")
    await stage.sleep(1_000)


async def lose_the_line(stage: Stage) -> None:
    stage.line.block()
    stage.line.drop()
    await stage.sleep(1_500)


async def suspend(stage: Stage) -> None:
    await ask(stage)
    stage.conversation.suspend("for a moment")


async def rest(stage: Stage) -> None:
    await stage.sleep(10)


PHASES: dict[str, tuple[Callable[[Stage], Awaitable[None]], dict[str, Any]]] = {
    "at rest": (rest, {"brain": ScriptedBrain}),
    "while the person talks": (talk, {"brain": ScriptedBrain}),
    "while a turn settles": (settle, {"brain": ScriptedBrain}),
    "in mid-speech": (ask, {"brain": lambda: ScriptedBrain([LONG])}),
    "while the brain hangs": (ask, {"brain": lambda: ScriptedBrain([Hang()])}),
    "while the brain hangs after a word": (ask, {"brain": lambda: ScriptedBrain([["Well", Hang()]])}),
    "while a tool runs": (
        ask,
        {"brain": lambda: ScriptedBrain([ToolCall("slow")]), "tools": [scripted_tool("slow", Hang())]},
    ),
    "while a delegated job runs": (
        ask,
        {"brain": lambda: ScriptedBrain([ToolCall("slow")]), "tools": [scripted_tool("slow", Hang(), mode="delegate")]},
    ),
    "while a dispatched job runs": (
        ask,
        {"brain": lambda: ScriptedBrain([ToolCall("slow")]), "tools": [scripted_tool("slow", Hang(), mode="dispatch")]},
    ),
    "while the voice hangs": (ask, {"brain": lambda: ScriptedBrain([LONG]), "voice": HangingVoice()}),
    "while the voice hangs in mid-speech": (ask, {"brain": lambda: ScriptedBrain([LONG]), "voice": StuckVoice()}),
    "while reconnecting": (lose_the_line, {"brain": ScriptedBrain}),
    "while suspended in mid-speech": (suspend, {"brain": lambda: ScriptedBrain([LONG])}),
    "while a session does not close": (rest, {"brain": ScriptedBrain, "session": SlowToClose}),
}


@pytest.mark.req("L-19")
@pytest.mark.parametrize("phase", PHASES)
def test_ending_takes_a_second_at_most_and_leaves_no_task(phase: str) -> None:
    lead_there, given = PHASES[phase]
    agent = {**given, "brain": given["brain"]()}

    async def scene(stage: Stage) -> None:
        await lead_there(stage)
        before = stage.now_ms
        assert others(), "nothing runs: this test tests nothing"
        await stage.conversation.end("enough")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert stage.now_ms - before <= 1_000
        assert others() == []
        assert stage.conversation.phase == "idle"
        assert [signal.reason for signal in stage.told(sg.Ended)] == ["enough"]
        assert len(stage.conversation.engine.tasks) == 0

    play(scene, agent.pop("brain"), **agent)


@pytest.mark.req("L-19")
def test_hanging_up_while_the_line_opens_ends_the_start() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        starting = asyncio.ensure_future(stage.conversation.start())
        await stage.sleep(500)
        await stage.conversation.end("never mind")
        with pytest.raises(StartRefused, match="ended before it started"):
            await starting
        await asyncio.sleep(0)
        assert others() == []
        assert stage.now_ms <= 1_500

    play(scene, ScriptedBrain(), start=False)


@pytest.mark.req("L-19")
def test_hanging_up_while_the_session_opens_ends_the_start() -> None:
    async def scene(stage: Stage) -> None:
        starting = asyncio.ensure_future(stage.conversation.start())
        await stage.sleep(500)
        await stage.conversation.end("never mind")
        with pytest.raises(StartRefused):
            await starting
        await asyncio.sleep(0)
        assert others() == []
        assert stage.now_ms <= 1_500

    play(scene, ScriptedBrain(), start=False, session=lambda: ScriptedSession(open_ms=9_000))


@pytest.mark.req("L-19")
def test_a_worker_that_does_not_hear_a_cancel_is_named_and_does_not_keep_the_call_open() -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        before = stage.now_ms
        await stage.conversation.end("enough")
        assert stage.now_ms - before <= 1_000
        assert any("call 1" in problem for problem in stage.problems)
        await stage.sleep(60_000)
        assert others() == []

    play(scene, ScriptedBrain([ToolCall("stubborn")]), tools=[Stubborn(20)])


@pytest.mark.req("L-19")
def test_a_stubborn_worker_and_a_session_that_does_not_close_share_the_one_second() -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        before = stage.now_ms
        await stage.conversation.end("enough")
        assert stage.now_ms - before <= 1_000

    play(scene, ScriptedBrain([ToolCall("stubborn")]), tools=[Stubborn(20)], session=SlowToClose)


# -- Being cancelled


async def run_and_cancel(stage: Stage, lead_there: Callable[[Stage], Awaitable[None]]) -> None:
    running = asyncio.ensure_future(stage.conversation.run())
    await stage.sleep(10)
    await lead_there(stage)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.req("L-19", "M-18")
@pytest.mark.parametrize("phase", ["while the person talks", "while a turn settles", "while the brain hangs"])
def test_cancelling_run_ends_politely_and_loses_no_word(phase: str) -> None:
    lead_there, given = PHASES[phase]

    async def scene(stage: Stage) -> None:
        await run_and_cancel(stage, lead_there)
        expected = "tell me" if lead_there is ask else "I would like to"
        assert stage.said == [expected]
        assert stage.lost == [expected]
        assert [signal.reason for signal in stage.told(sg.Ended)] == ["cancelled from outside"]
        assert not stage.line.is_open
        assert len(stage.seats) == 0
        await asyncio.sleep(0)
        assert others() == []

    play(scene, given["brain"](), start=False, seat="desk")


@pytest.mark.req("L-19", "L-06")
def test_cancelling_run_in_mid_speech_keeps_what_was_heard() -> None:
    async def scene(stage: Stage) -> None:
        await run_and_cancel(stage, ask)
        assert stage.said == ["tell me"]
        assert len(stage.heard) == 1
        assert LONG.startswith(stage.heard[0])
        assert stage.heard[0] != LONG
        assert stage.lost == []

    play(scene, ScriptedBrain([LONG]), start=False)


@pytest.mark.req("L-19")
def test_cancelling_run_twice_still_ends_the_conversation() -> None:
    async def scene(stage: Stage) -> None:
        running = asyncio.ensure_future(stage.conversation.run())
        await stage.sleep(10)
        running.cancel()
        await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await stage.sleep(2_000)
        assert stage.state == "idle"
        assert len(stage.seats) == 0
        assert others() == []

    play(scene, ScriptedBrain(), start=False, seat="desk", session=SlowToClose)


@pytest.mark.req("L-19")
def test_cancelling_a_waiting_caller_does_not_end_the_conversation() -> None:
    async def scene(stage: Stage) -> None:
        waiting = asyncio.ensure_future(stage.conversation.wait())
        await stage.sleep(10)
        waiting.cancel()
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day."]))


@pytest.mark.req("C-INT-005")
@pytest.mark.parametrize("when_ms", [0, 300])
def test_cancelling_the_reply_from_outside_still_gets_the_turn_answered(when_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(when_ms)
        task_called("reply").cancel()
        await stage.rest()
        assert stage.heard == ["Good day to you."]
        assert stage.lost == []

    play(scene, ScriptedBrain(lambda request: [Delay(800), "Good day to you."]))


@pytest.mark.req("C-INT-005", "V-05")
def test_cancelling_the_task_that_speaks_still_gets_the_turn_answered() -> None:
    """Task groups ignore a child that was cancelled: the reply would end as if it had been spoken."""

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        task_called("voice").cancel()
        await stage.rest()
        assert stage.heard == ["Good day to you."]

    play(scene, ScriptedBrain(lambda request: [Delay(800), "Good day to you."]))


@pytest.mark.req("L-12")
def test_cancelling_the_ears_from_outside_costs_no_fault() -> None:
    async def scene(stage: Stage) -> None:
        task_called("ears").cancel()
        await stage.sleep(1_500)
        assert stage.told(sg.Failed) == []
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]

    play(scene, ScriptedBrain(["Good day to you."]))


@pytest.mark.req("L-18")
def test_cancelling_a_tool_from_outside_gives_its_call_an_output() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        task_called("call").cancel()
        await stage.rest()
        assert len(stage.outputs) == 1
        assert stage.heard == ["It did not work."]

    play(scene, ScriptedBrain([ToolCall("slow"), "It did not work."]), tools=[scripted_tool("slow", Hang())])


@pytest.mark.req("L-14")
def test_cancelling_an_attempt_to_reconnect_from_outside_leads_to_the_next() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        stage.line.drop()
        await stage.sleep(1_500)
        task_called("session").cancel()
        stage.line.unblock()
        await stage.rest()
        assert stage.state == "listening"
        assert stage.told(sg.Failed) == []

    play(scene, ScriptedBrain())


@pytest.mark.req("L-19")
@pytest.mark.parametrize("where", ["tool", "brain", "handler"])
def test_a_conversation_may_be_ended_from_inside(where: str) -> None:
    held: list[Stage] = []

    class Ending:
        tool = scripted_tool("hang_up").tool

        async def run(self, arguments: dict[str, Any], job: Any) -> object:
            await held[0].conversation.end("from inside")
            return "never told"

    async def reply(request: Any) -> Any:
        if where == "brain":
            await held[0].conversation.end("from inside")
        return ToolCall("hang_up")

    async def scene(stage: Stage) -> None:
        held.append(stage)
        if where == "handler":
            off = stage.conversation.on_state_changed(
                lambda moved: asyncio.ensure_future(stage.conversation.end("from inside"))
            )
        await stage.say("hang up please")
        async with asyncio.timeout(2):
            assert await stage.conversation.wait() == "from inside"
        await asyncio.sleep(0)
        if where == "handler":
            off()
        await stage.sleep(2_000)
        assert others() == []

    play(scene, reply, tools=[Ending()])


@pytest.mark.req("L-19")
def test_cancelling_every_task_at_once_ends_the_call_politely() -> None:
    """So does a program that is told to stop."""

    async def scene(stage: Stage) -> None:
        running = asyncio.ensure_future(stage.conversation.run())
        await stage.sleep(10)
        await stage.say("tell me")
        mine = asyncio.current_task()
        for task in asyncio.all_tasks():
            if task is not mine:
                task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert stage.state == "idle"
        assert stage.said == ["tell me"]
        assert len(stage.seats) == 0
        await stage.sleep(10)
        assert others() == []

    play(scene, ScriptedBrain([[Delay(5_000), LONG]]), start=False, seat="desk")
