"""Snapshots and the context of a conversation."""

from __future__ import annotations

from dataclasses import asdict, fields

import pytest

from duologue.core.leaves import ErrorClass
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Healed, ToolCall, Wobbled
from duologue.runtime.snapshot import Snapshot
from duologue.testing import Delay, Fail, Hang, ScriptedBrain, ScriptedSession, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


@pytest.mark.req("C-API.snapshot", "C-INT-003")
def test_a_snapshot_says_where_the_conversation_is_and_holds_no_word() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        snapshot = stage.conversation.snapshot()
        assert (snapshot.state, snapshot.phase, snapshot.turn) == ("speaking", "speaking", 1)
        assert snapshot.turn_role == "assistant"
        assert snapshot.label == "Ich spreche"
        assert snapshot.metadata["audio_item"] == 1
        assert 0 < snapshot.metadata["audio_played_ms"] <= 1_000
        assert snapshot.machine is stage.conversation.machine_state
        told = str({key: value for key, value in asdict(snapshot).items() if key != "machine"})
        assert "hello" not in told
        assert "sentence" not in told
        await stage.begin("stop")
        assert stage.conversation.snapshot().turn == 2

    play(scene, ScriptedBrain([TWO]), language="de-AT")


@pytest.mark.req("L-20.context")
def test_the_context_has_the_sound_that_plays_and_how_much_of_it_was_heard() -> None:
    async def scene(stage: Stage) -> None:
        context = stage.conversation.context
        assert (context["audio_item"], context["audio_started_at"], context["audio_played_ms"]) == (None, None, 0)
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "speaking")
        began = stage.conversation.entered_at
        await stage.sleep(700)
        context = stage.conversation.context
        assert (context["audio_item"], context["audio_started_at"]) == (1, began)
        assert context["audio_played_ms"] == stage.line.heard_ms > 0
        await stage.rest()
        assert stage.conversation.context["audio_item"] is None

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("L-20.context")
def test_the_context_names_the_last_error_after_it_was_dismissed_too() -> None:
    async def scene(stage: Stage) -> None:
        assert stage.conversation.context["last_error"] is None
        await stage.say("break down")
        await stage.until(lambda: stage.state == "faulted")
        assert stage.conversation.context["last_error"] == "UNKNOWN"
        stage.conversation.dismiss()
        await stage.rest()
        assert stage.conversation.context["last_error"] == "UNKNOWN"

    play(scene, ScriptedBrain([Fail(ErrorClass.UNKNOWN)]))


@pytest.mark.req("L-20.context")
def test_the_context_has_the_summary_and_the_active_files_for_the_next_session() -> None:
    async def scene(stage: Stage) -> None:
        assert (stage.conversation.context["summary"], stage.conversation.context["active_files"]) == ("", [])
        await stage.say("hello there")
        await stage.rest()
        stage.conversation.reconnect()
        await stage.rest()
        context = stage.conversation.context
        assert context["summary"] == "User: hello there\nAgent: Good day."
        assert context["active_files"] == ["plan.md"]

    play(scene, ScriptedBrain(["Good day."]), notes=lambda: ("plan.md",))


@pytest.mark.req("L-20.context")
def test_the_context_follows_the_session_and_its_start() -> None:
    async def scene(stage: Stage) -> None:
        context = stage.conversation.context
        assert (context["session"], context["session_started_at"]) == (1, 0)
        await stage.sleep(900_500)
        context = stage.conversation.context
        assert (context["session"], context["session_started_at"]) == (2, 900_000)

    play(scene, ScriptedBrain(), session=ScriptedSession, profile=profile("confirm", dead_air_ms=0))


@pytest.mark.req("L-20.context", "L-13")
def test_the_context_counts_the_retries_of_a_request() -> None:
    async def scene(stage: Stage) -> None:
        assert stage.conversation.context["retries"] == 0
        await stage.say("hello there")
        await stage.sleep(500)
        assert stage.conversation.context["retries"] == 1
        await stage.rest()
        assert stage.conversation.context["retries"] == 0

    play(scene, ScriptedBrain([Fail(ErrorClass.NETWORK_TIMEOUT), [Delay(2_000), "Good day."]]))


@pytest.mark.req("L-20.context", "L-08")
def test_the_context_has_pending_calls_and_queued_words() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        [started] = stage.told(sg.WorkStarted)
        await stage.say("and hurry please")
        context = stage.conversation.context
        assert context["pending_calls"] == [1]
        assert context["pending_tools"] == [{"call": 1, "tool": "work", "mode": "tool", "started_at": started.at}]
        assert context["queued_user_input"] == ["use the tool", "and hurry please"]
        assert context["queued_turns"] == 2
        await stage.until(lambda: bool(stage.outputs))
        assert stage.conversation.context["pending_tools"] == []

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang())])


@pytest.mark.req("C-API.snapshot")
def test_a_snapshot_says_why_the_conversation_is_paused_and_why_it_ended() -> None:
    async def scene(stage: Stage) -> None:
        talk = stage.conversation
        assert talk.snapshot().metadata["reason"] is None
        talk.suspend("another call")
        assert talk.snapshot().metadata["reason"] == "another call"
        talk.resume()
        assert talk.snapshot().metadata["reason"] is None
        await talk.end("the shop closes")
        assert talk.snapshot().metadata["reason"] == "the shop closes"

    play(scene, ScriptedBrain())


@pytest.mark.req("C-API.snapshot")
def test_a_snapshot_says_why_the_conversation_pauses_by_itself() -> None:
    session = ScriptedSession()

    async def scene(stage: Stage) -> None:
        session.tell(Wobbled())
        assert stage.conversation.snapshot().metadata["reason"] == "unstable connection"
        session.tell(Healed())
        assert stage.conversation.snapshot().metadata["reason"] is None

    play(scene, ScriptedBrain(), session=lambda: session)


@pytest.mark.req("C-API.snapshot", "C-REQ-009")
def test_a_snapshot_names_the_fault() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("break down")
        await stage.until(lambda: stage.state == "faulted")
        snapshot = stage.conversation.snapshot()
        assert (snapshot.metadata["reason"], snapshot.metadata["last_error"]) == ("UNKNOWN", "UNKNOWN")

    play(scene, ScriptedBrain([Fail(ErrorClass.UNKNOWN)]))


@pytest.mark.req("C-API.snapshot")
def test_a_snapshot_counts_interruptions_and_names_the_newest_text_and_the_tools_that_run() -> None:
    async def scene(stage: Stage) -> None:
        about = stage.conversation.snapshot().metadata
        assert (about["interruptions"], about["transcript"], about["pending_actions"]) == (0, None, [])
        await stage.say("hello there")
        await stage.sleep(700)
        first = stage.conversation.snapshot().metadata["transcript"]
        stage.conversation.interrupt("button")
        await stage.until(lambda: stage.state == "listening")
        await stage.say("use the tool")
        about = stage.conversation.snapshot().metadata
        assert about["interruptions"] == 1
        assert about["pending_actions"] == ["work"]
        assert about["transcript"] > first

    play(scene, ScriptedBrain([TWO, ToolCall("work")]), tools=[scripted_tool("work", Hang())])


@pytest.mark.req("C-API.snapshot")
def test_snapshots_transitions_and_turn_contexts_have_fixed_fields() -> None:
    assert {one.name for one in fields(Snapshot)} == {
        "state", "previous_state", "label", "phase", "previous_phase", "since", "turn", "turn_role",
        "metadata", "machine",
    }  # fmt: skip
    assert {one.name for one in fields(sg.Transitioned)} == {"at", "view", "source", "target", "cause"}
    assert {one.name for one in fields(sg.TurnContext)} == {
        "turn", "role", "started_at", "transcript", "confidence", "reply", "interruptions", "duration_ms",
    }  # fmt: skip

    async def scene(stage: Stage) -> None:
        assert set(stage.conversation.snapshot().metadata) == {
            "session", "session_started_at", "turn", "reply", "audio_item", "audio_started_at", "audio_played_ms",
            "transcript", "pending_calls", "pending_actions", "reason", "last_error", "retries", "interruptions",
            "queued_turns",
        }  # fmt: skip

    play(scene, ScriptedBrain())
