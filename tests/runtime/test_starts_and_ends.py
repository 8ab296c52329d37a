"""Starting and ending a conversation: what is refused, and that nothing is left open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation, NotRunning, StartRefused
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import ScriptedBrain, ScriptedSession, ScriptedVoice
from tests.runtime.runtime_fakes import Stage, Stubborn, others, play


async def ask(stage: Stage) -> None:
    await stage.say("tell me")
    await stage.sleep(1_000)


# -- Starting


@pytest.mark.req("C-CON-002", "C-INT-001")
def test_starting_twice_is_refused_and_the_first_goes_on() -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(StartRefused):
            await stage.conversation.start()
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day."]))


@pytest.mark.req("C-CON-002")
def test_starting_after_the_end_is_refused_and_opens_nothing() -> None:
    async def scene(stage: Stage) -> None:
        await stage.conversation.end("enough")
        with pytest.raises(StartRefused):
            await stage.conversation.start()
        await stage.sleep(1_000)
        assert stage.line.opens == 1
        assert not stage.line.is_open
        assert stage.conversation.phase == "idle"

    play(scene, ScriptedBrain())


@pytest.mark.req("C-CON-002")
def test_starting_while_it_ends_is_refused_and_opens_nothing() -> None:
    """Ended for the machine, but a worker that does not hear its cancel is still waited for."""

    async def scene(stage: Stage) -> None:
        await ask(stage)
        ending = asyncio.ensure_future(stage.conversation.end("enough"))
        await stage.sleep(300)
        assert stage.state == "idle"
        assert not ending.done()
        with pytest.raises(StartRefused):
            await stage.conversation.start()
        await stage.sleep(10)
        assert stage.state == "idle"
        assert stage.line.opens == 1
        await ending
        assert not stage.line.is_open

    play(scene, ScriptedBrain([ToolCall("stubborn")]), tools=[Stubborn(20)])


@pytest.mark.req("C-CON-002")
def test_a_start_that_meets_an_end_leaves_nothing_open() -> None:
    async def scene(stage: Stage) -> None:
        ending = asyncio.ensure_future(stage.conversation.end("never mind"))
        starting = asyncio.ensure_future(stage.conversation.start())
        async with asyncio.timeout(5):
            await ending
        assert (await asyncio.gather(starting, return_exceptions=True))[0].__class__ is StartRefused
        await stage.sleep(100)
        assert stage.state == "idle"
        assert not stage.line.is_open
        assert len(stage.seats) == 0
        assert others() == []

    play(scene, ScriptedBrain(), start=False, seat="desk")


@pytest.mark.req("C-REQ-002", "C-INT-001")
@pytest.mark.parametrize("missing", ["session", "audio"])
def test_a_start_without_session_or_audio_is_refused_and_may_be_tried_again(missing: str) -> None:
    session = ScriptedSession(active=missing != "session")

    async def scene(stage: Stage) -> None:
        stage.line.primed = missing != "audio"
        why = {"session": "^the session is not active$", "audio": "^the line's audio is not ready$"}[missing]
        with pytest.raises(StartRefused, match=why):
            await stage.conversation.start()
        assert stage.state == "idle"
        assert len(stage.seats) == 0
        session.active = stage.line.primed = True
        await stage.conversation.start()
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), start=False, session=lambda: session, seat="desk")


@pytest.mark.req("C-API.observers", "C-AC-001")
def test_a_start_reaches_listening_by_way_of_preparing() -> None:
    async def scene(stage: Stage) -> None:
        moves: list[tuple[str, str]] = []
        stage.conversation.on_state_changed(lambda moved: moves.append((moved.source, moved.target)))
        await stage.conversation.start()
        assert moves == [("idle", "starting"), ("starting", "listening")]
        states = [(s.source, s.target) for s in stage.told(sg.Transitioned) if s.view == "conversation"]
        assert states == [("idle", "preparing"), ("preparing", "listening")]
        assert stage.now_ms <= 500

    play(scene, ScriptedBrain(), start=False, line=ScriptedLine(open_ms=400))


@pytest.mark.req("C-CON-002")
def test_async_with_that_is_cancelled_while_it_starts_leaves_nothing_behind() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()

        async def enter() -> None:
            async with asyncio.timeout(1), stage.conversation:
                raise AssertionError("it never started")

        with pytest.raises(TimeoutError):
            await enter()
        stage.line.unblock()
        await stage.sleep(1_500)
        assert stage.state == "idle"
        assert len(stage.seats) == 0

    play(scene, ScriptedBrain(), start=False, seat="desk")


def test_two_conversations_in_one_loop_do_not_hear_each_other() -> None:
    async def scene(stage: Stage) -> None:
        agent = Agent(ScriptedBrain(["Other."]), voice=ScriptedVoice())
        other = Conversation(agent, ScriptedLine(), seat="door", seats=stage.seats)
        await other.start()
        other.type("who are you")
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert [item.text for item in other.history] == ["who are you", "Other."]
        await other.end()

    play(scene, ScriptedBrain(["Good day."]), seat="desk")


# -- What is over is over


COMMANDS: dict[str, Callable[[Conversation], object]] = {
    "type": lambda c: c.type("hello"),
    "press": lambda c: c.press(),
    "release": lambda c: c.release(),
    "send": lambda c: c.send(),
    "interrupt": lambda c: c.interrupt("test"),
    "suspend": lambda c: c.suspend("test"),
    "resume": lambda c: c.resume(),
    "reconnect": lambda c: c.reconnect(),
    "retry": lambda c: c.retry(),
    "recover": lambda c: c.recover(),
    "dismiss": lambda c: c.dismiss(),
    "cancel": lambda c: c.cancel(1),
}


@pytest.mark.req("C-PAT-003")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_to_a_conversation_that_is_over_is_refused(command: str) -> None:
    """The rule of `runtime.conversation`: refused in one clear line."""

    async def scene(stage: Stage) -> None:
        await stage.conversation.end("enough")
        with pytest.raises(NotRunning):
            COMMANDS[command](stage.conversation)

    play(scene, ScriptedBrain())


def test_ending_twice_or_before_the_start_is_harmless() -> None:
    async def scene(stage: Stage) -> None:
        await asyncio.gather(stage.conversation.end("one"), stage.conversation.end("two"))
        await stage.conversation.end("three")
        assert [signal.reason for signal in stage.told(sg.Ended)] == ["one"]

    play(scene, ScriptedBrain(), start=False)


def test_nothing_of_a_conversation_stays_with_its_agent() -> None:
    agent = Agent(ScriptedBrain(lambda request: f"{len(request.history)} items."), voice=ScriptedVoice())

    async def scene() -> None:
        for _ in range(2):
            async with Conversation(agent, ScriptedLine(), seats=Seats()) as conversation:
                conversation.type("how much do you know")
                await asyncio.sleep(5)
                assert [item.text for item in conversation.history][-1] == "1 items."

    run_simulated(scene())
