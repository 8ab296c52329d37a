"""Whole conversations over the browser line on the simulated clock: sockets break, pages reload, clients vanish."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass, Link
from duologue.core.settings import profile
from duologue.lines.browser import BrowserLine
from duologue.observe import signals as sg
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import Delay, Fail, ScriptedBrain, ScriptedEars, ScriptedSession, ScriptedVoice
from duologue.workers.scripted import scripted_tool
from tests.lines.browser_page import PER_MS, Page

ANSWER = "It leaves at eight in the morning and arrives in Rome before ten."


class Stage:
    """One conversation and the page that it is on."""

    def __init__(self, brain: ScriptedBrain, session: ScriptedSession | None, **agent: Any) -> None:
        self.brain = brain
        self.ears = ScriptedEars()
        self.line = BrowserLine()
        self.page = Page(self.line)
        self.page.connect()
        made = Agent(
            brain, ears=self.ears, voice=ScriptedVoice(), session=(lambda: session) if session else None, **agent
        )
        self.conversation = Conversation(made, self.line, conversation_id="test", seats=Seats())
        self.signals: list[sg.Signal] = []
        self.conversation.on(sg.Signal, self.signals.append)
        self.utterance = 0

    async def say(self, text: str) -> None:
        await self.begin(text)
        self.ears.tell(SpeechEnded(self.utterance))
        await asyncio.sleep(0.1)
        self.ears.tell(Final(text, 0.9, self.utterance))

    async def begin(self, text: str) -> None:
        self.utterance += 1
        self.ears.tell(SpeechBegan(self.utterance))
        words = text.split()
        for count in range(1, len(words) + 1):
            await asyncio.sleep(0.2)
            self.ears.tell(Partial(" ".join(words[:count]), 0.9, self.utterance))

    async def until(self, holds: Callable[[], bool], limit_s: float = 300) -> None:
        async with asyncio.timeout(limit_s):
            while not holds():
                await asyncio.sleep(0.01)

    async def rest(self) -> None:
        await asyncio.sleep(0.5)
        await self.until(lambda: self.state in ("listening", "idle") and not self.owes)

    async def hear(self, ms: int) -> None:
        """Until the page has played so much of what is being said."""
        await self.until(lambda: self.page.voice > 0 and self.page.played >= ms * PER_MS)

    @property
    def state(self) -> str:
        return self.conversation.view("conversation").state

    @property
    def owes(self) -> bool:
        s = self.conversation.machine_state
        return s.said > s.answered or s.news or s.user.value != "quiet"

    @property
    def heard(self) -> list[str]:
        return [item.text for item in self.conversation.history if isinstance(item, AgentSaid) and item.text]

    @property
    def said(self) -> list[str]:
        return [item.text for item in self.conversation.history if isinstance(item, UserSaid)]

    @property
    def lost(self) -> list[str]:
        return [text for signal in self.signals if isinstance(signal, sg.Lost) for text in signal.texts]

    @property
    def phases(self) -> list[str]:
        return [s.target for s in self.signals if isinstance(s, sg.Transitioned) and s.view == "lifecycle"]


def play(
    script: Callable[[Stage], Awaitable[None]],
    brain: ScriptedBrain | None = None,
    session: ScriptedSession | None = None,
    start: bool = True,
    **agent: Any,
) -> Stage:
    async def whole() -> Stage:
        async with asyncio.timeout(7_200):
            stage = Stage(brain or ScriptedBrain(otherwise=ANSWER), session, **agent)
            living = asyncio.ensure_future(stage.page.live())
            if start:
                await stage.conversation.start()
            await script(stage)
            await stage.conversation.end("the test is over")
            living.cancel()
            return stage

    return run_simulated(whole())


# -- While the socket holds


@pytest.mark.req("V-01")
def test_an_answer_is_heard_to_its_end() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.rest()

    stage = play(script)
    assert stage.heard == [ANSWER]
    assert len(stage.brain.requests) == 1


@pytest.mark.req("V-03")
def test_an_interruption_silences_the_page_and_the_history_keeps_what_was_heard() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.hear(1_000)
        await stage.say("no wait stop it")
        voice = stage.page.stopped[0][0]
        heard = len(stage.page.heard[voice])
        await stage.rest()
        assert len(stage.page.heard[voice]) == heard

    stage = play(script)
    cut = next(item for item in stage.conversation.history if isinstance(item, AgentSaid) and item.interrupted)
    assert ANSWER.startswith(cut.text)
    assert cut.text != ANSWER
    assert stage.said == ["when does it leave", "no wait stop it"]
    assert stage.heard[-1] == ANSWER


@pytest.mark.req("C-PER-002")
def test_a_page_that_never_reports_a_stop_does_not_block_the_conversation() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.hear(1_000)
        stage.line.note_stopped = lambda voice, ms: None  # type: ignore[method-assign]
        stage.conversation.interrupt()
        await asyncio.sleep(0.45)
        assert stage.state == "listening"

    play(script)


# -- While it does not


@pytest.mark.req("L-15", "V-01")
def test_a_socket_that_is_gone_for_a_second_costs_no_word() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.hear(1_000)
        stage.page.lose()
        await asyncio.sleep(1)
        stage.page.connect()
        await stage.rest()

    stage = play(script)
    assert stage.heard == [ANSWER]
    assert len(stage.brain.requests) == 1
    assert "reconnecting" not in stage.phases


@pytest.mark.req("M-12", "L-14")
def test_an_answer_that_was_not_heard_is_requested_again_after_a_reconnect() -> None:
    session = ScriptedSession()

    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.until(lambda: len(stage.brain.requests) == 1)
        stage.page.lose()
        await asyncio.sleep(5)
        stage.page.connect()
        await stage.rest()

    stage = play(script, ScriptedBrain(first_ms=300, otherwise=ANSWER), session)
    assert stage.heard == [ANSWER]
    assert len(stage.brain.requests) == 2
    assert not stage.lost
    context = session.contexts[-1]
    assert context is not None
    assert "when does it leave" in context.summary


@pytest.mark.req("M-12")
def test_an_answer_of_which_a_part_was_heard_is_not_repeated() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.hear(1_000)
        stage.page.lose()
        await asyncio.sleep(5)
        stage.page.connect()
        await stage.rest()
        stage.conversation.type("and the way back")
        await stage.rest()

    stage = play(script)
    assert len(stage.brain.requests) == 2
    first = next(item for item in stage.conversation.history if isinstance(item, AgentSaid))
    assert first.interrupted
    assert ANSWER.startswith(first.text)
    assert first.heard_ms >= 1_900, "a page plays on what it has when its socket breaks"


@pytest.mark.req("L-14", "L-19")
def test_a_client_that_never_comes_back_ends_the_conversation_and_what_it_said_is_reported() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.until(lambda: len(stage.brain.requests) == 1)
        stage.page.lose()
        await stage.until(lambda: stage.state == "idle")

    stage = play(script, ScriptedBrain(first_ms=300, otherwise=ANSWER))
    assert stage.lost == ["when does it leave"]
    assert any(isinstance(signal, sg.Failed) for signal in stage.signals)


@pytest.mark.req("V-01")
def test_a_page_that_reloads_in_mid_sentence_hears_the_rest() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.hear(1_000)
        voice = stage.page.voice
        stage.page.lose()
        stage.page.load()
        await asyncio.sleep(0.7)
        stage.page.connect(anew=True)
        await stage.rest()
        total = sum(len(token) + 1 for token in ANSWER.split()) * 60
        assert len(stage.page.heard[voice]) == total * PER_MS * 2

    stage = play(script)
    assert stage.heard == [ANSWER]


def test_another_tab_takes_over_in_mid_sentence_and_hears_the_rest() -> None:
    async def script(stage: Stage) -> None:
        await stage.say("when does it leave")
        await stage.hear(1_000)
        former = stage.page.socket
        assert former is not None
        stage.page.connect(anew=True)
        stage.line.detach(former)
        await stage.rest()

    stage = play(script)
    assert stage.heard == [ANSWER]
    assert "reconnecting" not in stage.phases


# -- In every state in which a client can vanish


async def preparing(stage: Stage) -> None:
    await asyncio.sleep(0.5)
    assert stage.state == "preparing"


async def talking(stage: Stage) -> None:
    await stage.begin("when does it")


async def settling(stage: Stage) -> None:
    await stage.begin("when does it leave")
    stage.ears.tell(SpeechEnded(stage.utterance))
    await asyncio.sleep(0.05)
    assert stage.conversation.machine_state.user.value == "settling"


async def thinking(stage: Stage) -> None:
    await stage.say("hang")
    await stage.until(lambda: stage.state == "processing")


async def working(stage: Stage) -> None:
    await stage.say("look it up")
    await stage.until(lambda: bool(stage.conversation.machine_state.jobs))


async def speaking(stage: Stage) -> None:
    await stage.say("when does it leave")
    await stage.hear(700)


async def suspended(stage: Stage) -> None:
    stage.conversation.suspend()


async def faulted(stage: Stage) -> None:
    await stage.say("fail")
    await stage.until(lambda: stage.state == "faulted")


async def listening(stage: Stage) -> None:
    await asyncio.sleep(1)


STATES = (preparing, talking, settling, thinking, working, speaking, suspended, faulted, listening)


def a_brain() -> ScriptedBrain:
    return ScriptedBrain(
        lambda request: {
            "hang": [Delay(1_000), ANSWER],
            "look it up": [ToolCall("look_up", {})],
            "fail": [Fail(ErrorClass.UNKNOWN)],
        }.get(request.text, ANSWER)
    )


def a_tool() -> Any:
    return scripted_tool("look_up", Delay(3_000), "eight")


@pytest.mark.parametrize("reach", STATES, ids=lambda reach: reach.__name__)
@pytest.mark.parametrize("dead_air_ms", [20_000, 0])
def test_in_every_state_a_client_that_vanishes_forever_ends_the_conversation(
    reach: Callable[[Stage], Awaitable[None]], dead_air_ms: int
) -> None:
    async def script(stage: Stage) -> None:
        starting = asyncio.ensure_future(stage.conversation.run())
        if reach is not preparing:
            await stage.until(lambda: stage.conversation.machine_state.link is Link.UP)
        await reach(stage)
        stage.page.lose()
        await stage.until(lambda: stage.state == "idle", 300)
        await asyncio.wait([starting], timeout=5)
        assert starting.done()
        starting.exception()
        answered = len(stage.heard) + len(stage.lost)
        assert not stage.said or answered >= 1, "what was said got an answer or was reported"

    settings = replace(profile("confirm"), dead_air_ms=dead_air_ms)
    play(script, a_brain(), ScriptedSession(open_ms=1_500), start=False, tools=[a_tool()], profile=settings)


@pytest.mark.parametrize("reach", STATES, ids=lambda reach: reach.__name__)
@pytest.mark.parametrize("away_ms", [300, 1_500, 5_000, 20_000])
def test_in_every_state_a_client_that_vanishes_briefly_can_continue(
    reach: Callable[[Stage], Awaitable[None]], away_ms: int
) -> None:
    async def script(stage: Stage) -> None:
        starting = asyncio.ensure_future(stage.conversation.run())
        if reach is not preparing:
            await stage.until(lambda: stage.conversation.machine_state.link is Link.UP)
        await reach(stage)
        stage.page.lose()
        await asyncio.sleep(away_ms / 1000)
        stage.page.connect()
        if reach is suspended:
            stage.conversation.resume()
        await stage.rest()
        assert stage.state == "listening"
        stage.conversation.type("are you there")
        await stage.rest()
        assert stage.heard[-1] == ANSWER
        assert stage.said[-1] == "are you there"
        assert not starting.done()

    play(script, a_brain(), ScriptedSession(open_ms=1_500), start=False, tools=[a_tool()])
