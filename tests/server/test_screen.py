"""What a client sees of its conversation: figures, running work, the open fault, the debug view."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent
from duologue.server import screen
from duologue.testing import (
    Delay,
    Fail,
    ScriptedBrain,
    ScriptedEars,
    ScriptedVoice,
    scripted_tool,
)
from tests.server.running_server import RunningServer, agent_that_says, serve, talk


@pytest.mark.req("L-22")
def test_metrics_are_sent_after_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "METRICS_S_MIN", 0.0)

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await talk(client, "hello")
        await talk(client, "again", after=1)
        told = await client.expect("metrics", after=1)
        assert {"sessionMs", "turns", "meanFirstTokenMs", "interruptionRate", "calls", "errors", "stages"} <= set(told)
        assert set(told["stages"]) == {"speechEndToText", "textToToken", "tokenToAudio", "audioToPlayed"}

    serve(script)


def test_running_work_is_sent_and_sent_again_after_a_reconnect() -> None:
    brain = lambda: ScriptedBrain([[ToolCall("look_up", {})], "It is eight."])  # noqa: E731
    worker = scripted_tool("look_up", Delay(60_000), "eight")

    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="look it up")
        call = (await first.expect("work", event="started"))["call"]
        first.vanish()
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        again = await second.expect("work", event="started")
        assert again["call"] == call
        assert again["tool"] == "look_up"

    serve(script, lambda: Agent(brain(), ears=ScriptedEars(), voice=ScriptedVoice(), tools=[worker]))


def test_a_page_that_reloads_during_a_fault_gets_the_fault_and_its_actions() -> None:
    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="fail")
        fault = await first.expect("notification", level="error")
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        assert await second.expect("notification", level="error") == fault
        assert fault["actions"] == ["retry", "dismiss"]
        await second.send("dismiss")
        await second.expect("state", state="listening")

    serve(script, agent_that_says({"fail": [Fail(ErrorClass.UNKNOWN)]}))


def test_many_debug_requests_replay_the_steps_once() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        for _ in range(100):
            await client.send("debug", on=True)
        await client.send("ping", t=1)
        await client.expect("pong")
        await client.expect("debug")
        assert len(client.told("debug")) < 100

    serve(script)
