"""Words that come late, twice or from new ears; handlers that act inside a step; other threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue import Agent, Conversation, Phrases
from duologue.core import effects as fx
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import ToolCall, UserSaid
from duologue.ports.ears import Final, Heard, Partial, SpeechBegan, SpeechEnded
from duologue.runtime.seats import Seats
from duologue.testing import Call, ScriptedBrain, ScriptedModel, scripted_tool
from duologue.testing.scripted_session import ScriptedSession
from tests.runtime.runtime_fakes import Stage, play


def told(brain: ScriptedBrain) -> list[str]:
    return [request.text for request in brain.requests]


def certain() -> ScriptedBrain:
    return ScriptedBrain(lambda request: "Certainly.")


@pytest.mark.req("M-15")
def test_late_text_never_makes_an_answered_question_overheard() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(500)
        stage.ears.tell(Partial("how big is paris", 0.9, 1))
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(3_500)
        stage.ears.tell(Final("how big is Paris today", 0.9, 1))
        await stage.rest()
        (said,) = [item for item in stage.conversation.history if isinstance(item, UserSaid)]
        assert said == UserSaid(1, "how big is Paris today", confidence=0.9)

    play(scene, ScriptedBrain(otherwise="It is about two million people who live there.", first_ms=100))


def test_ears_that_start_anew_count_anew_and_erase_nothing() -> None:
    class TextEars:
        runs = 0

        async def listen(self, audio: Any) -> AsyncIterator[Heard]:
            self.runs += 1
            await asyncio.sleep(0.5)
            yield Final("book a table" if self.runs == 1 else "and order a taxi", 0.9, 1)
            await asyncio.sleep(10)
            if self.runs == 1:
                raise ConnectionError
            await asyncio.sleep(600)

    brain = certain()

    async def scene(stage: Stage) -> None:
        await asyncio.sleep(15)

    play(scene, brain, ears=TextEars())
    assert told(brain) == ["book a table", "and order a taxi"]


@pytest.mark.req("L-03")
def test_a_button_held_past_the_limit_of_a_turn_begins_the_next_one() -> None:
    brain = certain()

    async def scene(stage: Stage) -> None:
        stage.conversation.press()
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(2_000)
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("book a table", 0.9, 1))
        await stage.sleep(34_000)
        stage.ears.tell(SpeechBegan(2))
        await stage.sleep(2_000)
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final("for two at eight", 0.9, 2))
        await stage.sleep(100)
        stage.conversation.release()
        await stage.sleep(8_000)
        assert [item.text for item in stage.conversation.history if isinstance(item, UserSaid)] == [
            "book a table",
            "for two at eight",
        ]

    play(scene, brain)
    assert "for two at eight" in told(brain)[-1]


def test_final_text_ends_an_utterance_whose_end_nobody_told() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(1_000)
        stage.ears.tell(Final("book a table", 0.9, 1))
        await stage.sleep(3_000)
        asked = [record.event.at for record in stage.records for e in record.effects if isinstance(e, fx.StartReply)]
        assert asked == [1_400]

    play(scene, certain())


def test_words_that_a_handler_passes_on_inside_a_step_are_a_turn_of_their_own() -> None:
    brain = certain()

    async def scene(stage: Stage) -> None:
        done: list[int] = []

        def pass_on(signal: sg.TurnCompleted) -> None:
            if signal.turn.role == "assistant" and not done:
                done.append(1)
                stage.conversation.notify_transcript(Final("and a taxi", 0.9, 7))

        stage.conversation.on(sg.TurnCompleted, pass_on)
        await stage.say("book a table")
        await stage.sleep(8_000)

    play(scene, brain)
    assert told(brain) == ["book a table", "and a taxi"]


def test_an_observer_that_raises_a_cancel_can_not_keep_a_call_from_ending() -> None:
    async def scene(stage: Stage) -> None:
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        gone.cancel()
        stage.conversation.on(sg.StateEntered, lambda signal: gone.result() if signal.state == "idle" else None)
        async with asyncio.timeout(60):
            await stage.conversation.end()

    play(scene, certain())


def test_handlers_that_answer_each_other_for_ever_are_stopped_and_told() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation

        def answer(moved: sg.Transitioned) -> None:
            {"listening": conversation.suspend, "suspended": conversation.resume}.get(moved.target, lambda: None)()

        off = conversation.on_state_changed(answer)
        conversation.suspend()
        off()
        assert any("posts without end" in signal.what for signal in stage.told(sg.Problem))
        conversation.resume()
        await stage.rest()

    play(scene, certain())


def test_a_command_from_another_thread_is_taken_in_the_conversations_own() -> None:
    async def main() -> list[str]:
        brain = certain()
        conversation = Conversation(Agent(brain), ScriptedLine(), seats=Seats())
        async with conversation, asyncio.timeout(20):
            await asyncio.to_thread(conversation.type, "book a table")
            while not brain.requests:
                await asyncio.sleep(0)
        return told(brain)

    assert asyncio.run(main()) == ["book a table"]


@pytest.mark.req("L-14")
def test_a_new_session_knows_the_half_heard_answer() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        await stage.say("tell me")
        await stage.sleep(1_500)
        stage.conversation.reconnect()
        await stage.sleep(3_000)
        (context,) = [context for context in session.contexts if context is not None]
        assert "Agent: It is a rather" in context.summary

    play(scene, ScriptedBrain(otherwise="It is a rather long story that lasts a while."), session=lambda: session)


def test_a_model_that_hears_by_itself_hears_one_person_at_a_time() -> None:
    async def scene(stage: Stage) -> None:
        model = ScriptedModel()
        first = Conversation(Agent(model), ScriptedLine(), seats=Seats())
        second = Conversation(Agent(model), ScriptedLine(), seats=Seats())
        async with first:
            with pytest.raises(Exception, match="another conversation"):
                await second.start()
        await second.end()

    play(scene, certain())


# -- What a request tells


def test_words_that_a_call_has_dealt_with_are_not_told_as_new_again() -> None:
    brain = ScriptedBrain([ToolCall("look"), "Here it is."])
    with Call(Agent(brain, tools=[scripted_tool("look", "a room")])) as call:
        call.user("is there a room").expect_heard("Here it is.")
        first, second = brain.requests
        assert (first.text, first.outputs) == ("is there a room", ())
        assert (second.text, [(o.tool, o.output) for o in second.outputs]) == ("", [("look", "a room")])


def test_a_brain_that_speaks_and_calls_for_ever_is_stopped() -> None:
    made: list[int] = []

    def book() -> str:
        made.append(1)
        return "ok"

    async def eager(request: Any) -> AsyncIterator[Any]:
        yield "Booking it now."
        yield ToolCall("book")

    with Call(Agent(eager, tools=[book], tool_rounds_max=3)) as call:
        call.user("a table").waits(60_000)
        assert len(made) == 4
        assert any(isinstance(signal, sg.Failed) for signal in call.signals)


def test_the_agents_own_words_that_come_back_are_no_interruption() -> None:
    brain = ScriptedBrain(["The museum opens at ten and closes at six on every day of the week.", "Pardon?"])
    with Call(Agent(brain, profile="words", phrases=Phrases(greeting="Hello."))) as call:
        call.settles()
        call.user("when").interrupts("museum opens at ten", after_ms=2_000)
        call.settles()
        assert not any(item.interrupted for item in call.history if hasattr(item, "interrupted"))
