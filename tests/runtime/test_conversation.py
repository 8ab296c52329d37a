"""The API of a conversation: commands, state, history and signals."""

from __future__ import annotations

import asyncio
import gc
import weakref
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from duologue import Agent, Conversation
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass
from duologue.observe import signals as sg
from duologue.ports import Finished, Played, ToolCall
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from duologue.runtime.checkpoint import read_checkpoint
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing import Delay, Fail, Hang, ScriptedBrain, ScriptedLine, ScriptedModel, scripted_tool
from tests.limits import WAIT_S
from tests.runtime.runtime_fakes import Stage, play
from tests.runtime.stored_calls import Noted, call
from tests.runtime.stored_calls import agent as stored_agent

TWO = "Here is the first sentence. And here comes the second one, which is longer."


async def talk(stage: Stage) -> None:
    """A whole life: a turn, an interruption, a tool, a fault."""
    await stage.say("hello there")
    await stage.sleep(700)
    await stage.say("no stop it please")
    await stage.rest()
    await stage.say("use the tool")
    await stage.rest()
    await stage.say("break down")
    await stage.rest()


def talker() -> tuple[ScriptedBrain, dict[str, Any]]:
    brain = ScriptedBrain([TWO, "Fine.", ToolCall("work"), "Used.", Fail(ErrorClass.UNKNOWN)])
    return brain, {"tools": [scripted_tool("work", Delay(1_000), "the tool's secret result")]}


@pytest.mark.req("C-API", "L-20.state")
def test_state_previous_state_and_entered_at_follow_the_conversation() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        assert (conversation.phase, conversation.previous_phase) == ("idle", None)
        await conversation.start()
        assert (conversation.phase, conversation.previous_phase) == ("listening", "starting")
        await stage.sleep(1_000)
        await stage.say("hello there")
        await stage.until(lambda: conversation.phase == "speaking")
        assert (conversation.phase, conversation.previous_phase) == ("speaking", "thinking")
        moved = next(told for told in reversed(stage.told(sg.Transitioned)) if told.view == "phase")
        assert conversation.entered_at == moved.at > 1_000
        states = conversation.view("lifecycle")
        assert (states.state, states.previous, states.entered_at) == ("speaking", "processing", moved.at)

    play(scene, ScriptedBrain([TWO]), start=False)


@pytest.mark.req("L-20.transition")
def test_an_event_by_hand_is_like_any_other_and_can_be_tried_first() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        before = conversation.machine_state
        assert conversation.can_transition(ev.SpeechStarted)
        assert not conversation.can_transition(ev.SessionClosed)
        assert not conversation.can_transition(ev.PlaybackFinished, heard_ms=5)
        assert conversation.machine_state is before
        conversation.transition(ev.SpeechStarted)
        assert conversation.phase == "user_speaking"
        await stage.sleep(1)

    play(scene, ScriptedBrain())


@pytest.mark.req("L-20")
def test_asking_whether_nonsense_would_move_anything_says_no() -> None:
    async def scene(stage: Stage) -> None:
        assert stage.conversation.can_transition(ev.WordsHeard, turn=99, words=1, substantial=1) is False
        assert stage.conversation.can_transition(ev.PlaybackProgressed, heard_ms=-1) is False

    play(scene, ScriptedBrain())


@pytest.mark.req("L-20.handlers")
def test_a_handler_is_called_when_one_state_is_entered_and_another_when_it_is_left() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        entered: list[sg.StateEntered] = []
        left: list[sg.StateExited] = []
        offs = [conversation.on_enter("speaking", entered.append), conversation.on_exit("speaking", left.append)]
        views: list[str] = []
        conversation.on_enter("waitingForCopilot", lambda told: views.append(told.state), view="conversation")
        await stage.say("hello there")
        await stage.rest()
        assert [(told.view, told.state, told.context["turn"]) for told in entered] == [("phase", "speaking", 1)]
        assert [(told.state, told.duration_ms) for told in left] == [("speaking", left[0].at - entered[0].at)]
        assert views == ["waitingForCopilot"]
        for off in offs:
            off()
        await stage.say("and again")
        await stage.rest()
        assert (len(entered), len(left)) == (1, 1)

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.parametrize(
    ("view", "state", "line"),
    [
        ("phase", "talking", "has no state 'talking'; available: idle, starting"),
        ("mood", "idle", "there is no view 'mood'; available: conversation, lifecycle, phase"),
    ],
)
def test_a_handler_for_a_state_that_doesnt_exist_is_refused(view: str, state: str, line: str) -> None:
    async def scene(stage: Stage) -> None:
        for subscribe in (stage.conversation.on_enter, stage.conversation.on_exit):
            with pytest.raises(ValueError, match=line):
                subscribe(state, print, view=view)

    play(scene, ScriptedBrain())


@pytest.mark.req("C-CON-003.kept")
def test_the_last_twenty_transitions_are_stored() -> None:
    async def scene(stage: Stage) -> None:
        for number in range(12):
            await stage.say(f"turn number {number}")
            await stage.rest()
        kept = stage.conversation.transitions
        assert len(kept) == 20
        told = [s for s in stage.told(sg.Transitioned) if s.view == "phase"]
        assert list(kept) == told[-20:]
        view = stage.conversation.view("conversation")
        assert len(view.transitions) == 20
        assert {move.view for move in view.transitions} == {"conversation"}

    play(scene, ScriptedBrain())


@pytest.mark.req("C-CON-003.kept")
def test_transitions_of_a_conversation_survive_a_new_session_and_its_end_as_long_as_the_program_holds_it() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        before = stage.conversation.transitions
        stage.conversation.reconnect()
        await stage.rest()
        assert stage.conversation.transitions[: len(before)] == before
        await stage.conversation.end()
        assert stage.conversation.transitions[-1].target == "idle"

    play(scene, ScriptedBrain())


@pytest.mark.req("C-CON-003.gone")
def test_transitions_are_not_stored_with_the_conversation() -> None:
    async def scene() -> None:
        store = Noted()
        kept = await call(store, 12)
        saved = read_checkpoint(kept.parts, stored_agent().settings)
        again = Conversation(stored_agent(), ScriptedLine(), conversation_id="call", checkpoint=saved)
        views = [again.view(name) for name in ("phase", "conversation", "lifecycle")]
        assert again.transitions == ()
        assert [list(view.transitions) for view in views] == [[], [], []]
        await again.restore()
        moves = [(move.source, move.target) for move in again.transitions]
        assert moves[0] == ("listening", "reconnecting"), "only what has happened since it was restored"
        await again.end()

    run_simulated(scene())


@pytest.mark.req("C-CON-003.gone")
def test_a_conversation_that_the_program_lets_go_takes_its_transitions_with_it() -> None:
    gone: list[weakref.ref[Conversation]] = []

    async def scene() -> None:
        talk = Conversation(stored_agent(), ScriptedLine())
        await talk.start()
        talk.type("hello")
        await asyncio.sleep(5)
        assert talk.transitions
        await talk.end()
        gone.append(weakref.ref(talk))

    run_simulated(scene())
    gc.collect()
    assert gone[0]() is None


@pytest.mark.req("C-API.reports", "C-INT-002")
def test_a_program_with_ears_of_its_own_can_tell_what_it_heard() -> None:
    async def scene(stage: Stage) -> None:
        for heard in (SpeechBegan(1), Partial("hello", 0.9, 1), SpeechEnded(1), Final("hello there", 0.9, 1)):
            stage.conversation.notify_transcript(heard)
            await stage.sleep(100)
        await stage.rest()
        assert stage.said == ["hello there"]

    play(scene, ScriptedBrain(), ears=None)


@pytest.mark.req("C-API.reports", "C-INT-004")
def test_a_program_with_a_line_of_its_own_can_tell_what_was_played() -> None:
    class Mute(ScriptedLine):
        def tell(self, event: Any) -> None:
            pass

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.conversation.notify_voice(Played(1, 100))
        assert stage.conversation.machine_state.heard_ms == 100
        stage.conversation.notify_voice(Finished(1, 600))
        await stage.sleep(10)
        assert stage.heard == ["I see."]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), line=Mute())


@pytest.mark.req("C-API.reports", "L-09")
def test_a_program_can_tell_that_work_elsewhere_is_alive() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        stage.conversation.notify_worker(1, "half done", 0.5)
        assert [(p.call, p.text, p.fraction) for p in stage.told(sg.WorkProgressed)] == [(1, "half done", 0.5)]

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang(), mode="delegate")])


@pytest.mark.req("C-API.commands", "C-API.interrupted", "C-AC-004", "C-REQ-007")
@pytest.mark.parametrize("source", ["button", "barge-in"])
def test_interrupt_stops_the_sound_at_once_and_gives_the_floor_back(source: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        stage.conversation.interrupt(source)
        assert not stage.line.is_sounding
        assert stage.state == "interrupted"
        before = stage.now_ms
        await stage.until(lambda: stage.state == "listening")
        assert stage.now_ms - before <= 400
        assert [(told.command, told.detail) for told in stage.told(sg.Commanded)] == [("interrupt", source)]
        assert [told.by for told in stage.told(sg.TurnInterrupted)] == [source]

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("C-API.commands")
def test_a_pause_reports_its_reason() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.suspend("another call")
        assert stage.state == "suspended"
        assert [(told.command, told.detail) for told in stage.told(sg.Commanded)] == [("suspend", "another call")]
        stage.conversation.resume()
        assert stage.state == "listening"

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("C-API.commands")
def test_initialize_prepares_start_returns_when_the_user_can_speak_and_end_gives_its_reason_to_all() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        await conversation.initialize()
        assert (stage.state, stage.line.opens) == ("idle", 0)
        await conversation.start()
        assert stage.state == "listening"
        waiting = asyncio.ensure_future(conversation.wait())
        await conversation.end("the shop closes")
        assert await waiting == "the shop closes"
        assert [told.reason for told in stage.told(sg.Ended)] == ["the shop closes"]

    play(scene, ScriptedBrain(), start=False)


@pytest.mark.req("C-API.since")
def test_a_program_can_turn_a_time_of_the_conversation_into_a_time_of_day() -> None:
    async def scene(stage: Stage) -> None:
        before = datetime.now(UTC)
        await stage.sleep(1_500)
        snapshot = stage.conversation.snapshot()
        assert snapshot.since == 0
        entered = stage.conversation.time_of(snapshot.since)
        assert entered.tzinfo is UTC
        assert before - timedelta(seconds=2) <= entered <= datetime.now(UTC) - timedelta(milliseconds=1_500)

    play(scene, ScriptedBrain())


@pytest.mark.req("C-API.commands")
def test_interrupting_a_thought_means_that_no_answer_comes() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.conversation.interrupt()
        await stage.sleep(5_000)
        assert stage.heard == []
        assert stage.state == "listening"
        assert stage.said == ["hello there"]

    play(scene, ScriptedBrain([[Delay(1_000), "Never."]]))


@pytest.mark.req("C-INT-003", "C-GUD-003")
@pytest.mark.parametrize(("language", "text"), [("fr", "J'y travaille"), ("en", "Working on it")])
def test_waits_are_shown_in_the_agents_language(language: str, text: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        assert stage.told(sg.Waiting)[0].label == text

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang())], language=language)


@pytest.mark.req("L-22", "L-04")
def test_the_numbers_of_a_conversation_can_be_read_at_any_time() -> None:
    async def scene(stage: Stage) -> None:
        await talk(stage)
        metrics = stage.conversation.metrics
        assert metrics.turns == 4
        assert (metrics.calls, metrics.calls_done) == (1, 1)
        assert metrics.errors == 1
        assert metrics.interrupted == 1
        assert metrics.first_audio_ms is not None

    brain, agent = talker()
    play(scene, brain, **agent)


def test_a_handler_can_be_taken_off_even_while_it_is_called() -> None:
    async def scene(stage: Stage) -> None:
        calls: list[int] = []

        def once(signal: sg.Signal) -> None:
            calls.append(1)
            off()

        off = stage.conversation.on(sg.Transitioned, once)
        await stage.say("hello there")
        await stage.rest()
        off()
        assert calls == [1]

    play(scene, ScriptedBrain())


def test_a_handler_may_give_commands() -> None:
    async def scene(stage: Stage) -> None:
        def interrupt(moved: sg.Transitioned) -> None:
            if moved.target == "speaking":
                stage.conversation.interrupt("handler")

        stage.conversation.on_state_changed(interrupt)
        await stage.say("hello there")
        await asyncio.sleep(2)
        assert stage.state == "listening"
        moves = [(s.source, s.target) for s in stage.told(sg.Transitioned) if s.view == "conversation"]
        assert all(earlier[1] == later[0] for earlier, later in pairwise(moves)), moves

    play(scene, ScriptedBrain([TWO]))


def told(brain: ScriptedBrain) -> list[str]:
    return [request.text for request in brain.requests]


def certain() -> ScriptedBrain:
    return ScriptedBrain(lambda request: "Certainly.")


def test_a_command_from_another_thread_is_taken_in_the_conversations_own() -> None:
    async def main() -> list[str]:
        brain = certain()
        conversation = Conversation(Agent(brain), ScriptedLine(), seats=Seats())
        async with conversation, asyncio.timeout(WAIT_S):
            await asyncio.to_thread(conversation.type, "book a table")
            while not brain.requests:
                await asyncio.sleep(0)
        return told(brain)

    assert asyncio.run(main()) == ["book a table"]


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
