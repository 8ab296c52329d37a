"""Who owns what: tasks end with their conversation, seats are given back, cancelling is polite."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from runtime_fakes import Stage, others, play, task_called

from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import Call, Sound
from duologue.ports.ears import SpeechEnded
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation, NotRunning, StartRefused
from duologue.runtime.seats import Seats, SeatTaken
from duologue.runtime.simulated import run_simulated
from duologue.testing import Hang, Pause, ScriptedBrain, ScriptedSession, ScriptedVoice, scripted_tool

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


async def swallow(seconds: float) -> None:
    """Sleep so deep that no cancel wakes it."""
    ends_at = asyncio.get_running_loop().time() + seconds
    while (left := ends_at - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue


class Stubborn:
    """A worker that does not hear a cancel."""

    def __init__(self, seconds: float) -> None:
        self.tool = scripted_tool("stubborn").tool
        self.seconds = seconds

    async def run(self, arguments: dict[str, Any], job: Any) -> object:
        await swallow(self.seconds)
        return "at last"


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
    "while a tool runs": (ask, {"brain": lambda: ScriptedBrain([Call("slow")]), "tools": [scripted_tool("slow", Hang())]}),
    "while a delegated job runs": (
        ask,
        {"brain": lambda: ScriptedBrain([Call("slow")]), "tools": [scripted_tool("slow", Hang(), mode="delegate")]},
    ),
    "while a dispatched job runs": (
        ask,
        {"brain": lambda: ScriptedBrain([Call("slow")]), "tools": [scripted_tool("slow", Hang(), mode="dispatch")]},
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
        assert stage.conversation.state == "idle"
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
        with pytest.raises(StartRefused, match="ended before it began"):
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

    play(scene, ScriptedBrain([Call("stubborn")]), tools=[Stubborn(20)])


@pytest.mark.req("L-19")
def test_a_stubborn_worker_and_a_session_that_does_not_close_share_the_one_second() -> None:
    async def scene(stage: Stage) -> None:
        await ask(stage)
        before = stage.now_ms
        await stage.conversation.end("enough")
        assert stage.now_ms - before <= 1_000

    play(scene, ScriptedBrain([Call("stubborn")]), tools=[Stubborn(20)], session=SlowToClose)


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
        assert stage.conversation.state == "idle"

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

    play(scene, ScriptedBrain([Call("stubborn")]), tools=[Stubborn(20)])


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
        with pytest.raises(StartRefused, match="not ready"):
            await stage.conversation.start()
        assert stage.state == "idle"
        assert len(stage.seats) == 0
        session.active = stage.line.primed = True
        await stage.conversation.start()
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), start=False, session=lambda: session, seat="desk")


@pytest.mark.req("C-AC-001")
def test_a_start_reaches_listening_by_way_of_preparing() -> None:
    async def scene(stage: Stage) -> None:
        moves: list[tuple[str, str]] = []
        stage.conversation.on_state_changed(lambda moved: moves.append((moved.source, moved.target)))
        await stage.conversation.start()
        assert moves == [("idle", "preparing"), ("preparing", "listening")]
        assert stage.now_ms <= 500

    play(scene, ScriptedBrain(), start=False, line=ScriptedLine(open_ms=400))


# -- Seats


@pytest.mark.req("C-CON-002")
def test_a_seat_holds_one_conversation_at_a_time_and_is_free_after_its_end() -> None:
    async def scene(stage: Stage) -> None:
        second = Conversation(stage.agent, ScriptedLine(), seat="desk", seats=stage.seats)
        with pytest.raises(SeatTaken, match="desk"):
            await second.start()
        assert second.state == "idle"
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day."]
        await stage.conversation.end("enough")
        await second.start()
        assert second.state == "listening"
        await second.end("enough")
        assert len(stage.seats) == 0

    play(scene, ScriptedBrain(["Good day."]), seat="desk")


@pytest.mark.req("C-CON-002")
def test_a_seat_is_free_after_a_start_that_failed_for_good() -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(StartRefused):
            await stage.conversation.start()
        assert len(stage.seats) == 0
        assert stage.told(sg.Failed)[-1].fatal

    failures: list[BaseException | None] = [ConnectionError() for _ in range(9)]
    play(scene, ScriptedBrain(), start=False, seat="desk", session=lambda: ScriptedSession(failures=failures))


@pytest.mark.req("C-CON-002")
def test_a_seat_is_free_after_a_session_that_can_not_even_say_whether_it_is_active() -> None:
    class Broken(ScriptedSession):
        @property
        def active(self) -> bool:  # type: ignore[override]
            raise RuntimeError("no idea")

        @active.setter
        def active(self, value: bool) -> None:
            pass

    async def scene(stage: Stage) -> None:
        with pytest.raises((StartRefused, RuntimeError)):
            await stage.conversation.start()
        assert len(stage.seats) == 0

    play(scene, ScriptedBrain(), start=False, seat="desk", session=Broken)


@pytest.mark.req("C-CON-002")
def test_a_start_that_is_cancelled_gives_its_seat_back() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await stage.conversation.start()
        await stage.sleep(1_500)
        assert len(stage.seats) == 0
        assert others() == []

    play(scene, ScriptedBrain(), start=False, seat="desk")


@pytest.mark.req("C-CON-002")
def test_async_with_that_is_cancelled_while_it_starts_leaves_nothing_behind() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                async with stage.conversation:
                    raise AssertionError("it never started")
        stage.line.unblock()
        await stage.sleep(1_500)
        assert stage.state == "idle"
        assert len(stage.seats) == 0

    play(scene, ScriptedBrain(), start=False, seat="desk")


@pytest.mark.req("C-CON-002")
def test_a_seat_is_free_after_a_crash_inside_async_with() -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(ZeroDivisionError):
            async with stage.conversation:
                await stage.say("hello there")
                raise ZeroDivisionError
        assert len(stage.seats) == 0
        assert stage.state == "idle"

    play(scene, ScriptedBrain(["Good day."]), start=False, seat="desk")


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
def test_cancelling_whoever_waits_does_not_end_the_conversation() -> None:
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

    play(scene, ScriptedBrain(lambda request: [Pause(800), "Good day to you."]))


@pytest.mark.req("C-INT-005", "V-05")
def test_cancelling_the_task_that_speaks_still_gets_the_turn_answered() -> None:
    """Task groups ignore a child that was cancelled: the reply would end as if it had been spoken."""

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        task_called("voice").cancel()
        await stage.rest()
        assert stage.heard == ["Good day to you."]

    play(scene, ScriptedBrain(lambda request: [Pause(800), "Good day to you."]))


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

    play(scene, ScriptedBrain([Call("slow"), "It did not work."]), tools=[scripted_tool("slow", Hang())])


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
