"""Snapshots and the context of a conversation."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from duologue.ports import ToolCall
from duologue.testing import Hang, ScriptedBrain, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


@pytest.mark.req("C-API", "C-INT-003")
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


@pytest.mark.req("L-20")
@pytest.mark.parametrize(
    "field",
    [
        "session",
        "session_started_at",
        "audio_item",
        "audio_played_ms",
        "pending_calls",
        "last_error",
        "retries",
        "summary",
        "active_files",
        "queued_user_input",
    ],
)
def test_the_context_has_what_the_interface_promises(field: str) -> None:
    async def scene(stage: Stage) -> None:
        assert field in stage.conversation.context

    play(scene, ScriptedBrain())


@pytest.mark.req("L-20", "L-08")
def test_the_context_has_pending_calls_and_queued_words() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("use the tool")
        await stage.say("and hurry please")
        context = stage.conversation.context
        assert context["pending_calls"] == [1]
        assert context["queued_user_input"][-1] == "and hurry please"

    play(scene, ScriptedBrain([ToolCall("work")]), tools=[scripted_tool("work", Hang())])
