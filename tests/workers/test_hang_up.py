"""A brain ends the call with a tool, after its last words."""

from __future__ import annotations

import asyncio

import pytest

from duologue import hang_up
from duologue.ports import ToolCall
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play
from tests.workers.worker_fakes import NotedJob


def test_the_tool_asks_its_job_to_hang_up() -> None:
    job = NotedJob()
    assert "everything is said" in asyncio.run(hang_up(job))
    assert job.hung_up


@pytest.mark.req("H-05")
def test_the_goodbye_beside_the_call_is_heard_and_the_brain_is_not_asked_again() -> None:
    brain = ScriptedBrain([["Thank you for calling. Goodbye.", ToolCall("hang_up", {})]])

    async def scene(stage: Stage) -> None:
        await stage.say("that was all")
        await stage.until(lambda: stage.conversation.phase == "idle")
        assert stage.heard == ["Thank you for calling. Goodbye."]
        assert len(brain.requests) == 1
        assert stage.lost == []

    play(scene, brain, tools=[hang_up])


@pytest.mark.req("H-05")
def test_without_a_goodbye_the_brain_is_asked_for_one() -> None:
    brain = ScriptedBrain([[ToolCall("hang_up", {})], "Goodbye then."])

    async def scene(stage: Stage) -> None:
        await stage.say("that was all")
        await stage.until(lambda: stage.conversation.phase == "idle")
        assert stage.heard == ["Goodbye then."]

    play(scene, brain, tools=[hang_up])


@pytest.mark.req("H-05")
def test_words_of_the_user_keep_the_call_open() -> None:
    brain = ScriptedBrain([["Thank you for calling and goodbye to you.", ToolCall("hang_up", {})], "Of course."])

    async def scene(stage: Stage) -> None:
        await stage.say("that was all")
        await stage.until(lambda: stage.line.heard_ms > 800)
        await stage.say("wait one more thing")
        await stage.rest()
        assert stage.conversation.phase == "listening"
        assert stage.heard[-1] == "Of course."

    play(scene, brain, tools=[hang_up])
