"""What a client sees of its conversation: figures, running work, the open fault, the debug view."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass
from duologue.core.settings import profile
from duologue.ports.tool_call import ToolCall
from duologue.runtime.agent import Agent, Phrases
from duologue.server import screen
from duologue.testing import (
    Delay,
    Fail,
    Progress,
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


def test_every_cue_that_is_heard_is_also_sent_to_be_shown() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await client.send("type", text="think about it")
        assert (await client.expect("cue", cue="sound"))["text"] == ""
        words = await client.expect("cue", cue="words")
        assert words["action"] == "play"
        assert words["text"]
        await client.until(lambda: len({number for number, _ in client.cues}) >= 2)

    settings = profile("confirm", cue_ms=(50, 100, 5_000))
    serve(script, lambda: Agent(ScriptedBrain([[Delay(7_000), "Done."]]), voice=ScriptedVoice(), profile=settings))


@pytest.mark.req("L-22")
@pytest.mark.parametrize("error", [ErrorClass.UNKNOWN, ErrorClass.AUTH_FAILURE])
def test_the_figures_count_an_error_as_soon_as_it_is_shown_or_has_ended_the_conversation(error: ErrorClass) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await client.send("type", text="fail")
        await client.expect("notification", level="error")
        await client.expect("metrics", errors=1)
        if error is ErrorClass.AUTH_FAILURE:
            await client.expect("ended")
            kinds = [told["type"] for told in client.messages]
            assert max(place for place, kind in enumerate(kinds) if kind == "duologue.metrics") < kinds.index(
                "duologue.ended"
            )

    serve(script, agent_that_says({"fail": [Fail(error)]}))


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
        assert fault["actions"] == ["dismiss"]
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


@pytest.mark.req("H-11.hearing")
def test_a_muted_client_is_told_that_its_user_is_not_heard() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice")
        await client.send("start", microphone="muted")
        await client.until_listening()
        assert {told["hearing"] for told in client.told("status")} <= {"muted"}
        await client.send("microphone", state="on")
        assert (await client.expect("status", hearing="on"))["why"] == ""
        await client.send("microphone", state="off")
        await client.expect("status", hearing="none")

    serve(script, agent_that_says({}))


def test_an_agent_without_ears_never_hears() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        assert {told["hearing"] for told in client.told("status")} == {"none"}

    serve(script, lambda: Agent(ScriptedBrain(), voice=ScriptedVoice()))


@pytest.mark.req("L-22")
def test_figures_that_came_too_soon_after_others_are_sent_a_little_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "METRICS_S_MIN", 0.5)

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await client.send("type", text="fail")
        await client.expect("notification", level="error")
        assert (await client.expect("metrics", errors=1))["errors"] == 1, "in an error, errors are never 0"

    serve(script, agent_that_says({"fail": [Fail(ErrorClass.UNKNOWN)]}))


@pytest.mark.req("L-20", "L-22")
def test_the_debug_view_gets_the_summary_and_the_active_files() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await talk(client, "hello")
        await client.send("debug", on=True)
        assert (await client.expect("context")) == {"summary": "", "activeFiles": []}
        await client.send("reconnect")
        told = await client.expect("context", activeFiles=["plan.md"])
        assert "hello" in told["summary"]

    def make() -> Agent:
        brain = ScriptedBrain(otherwise="I see.")
        return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), notes=lambda: ("plan.md",))

    serve(script, make)


@pytest.mark.req("L-10.again")
def test_a_client_that_comes_back_during_a_wait_is_told_how_it_stands() -> None:
    worker = scripted_tool("look_up", Progress("page two"), Delay(60_000), "eight")

    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="look it up")
        await first.expect("wait", stage=1)
        first.vanish()
        second = await running.connect()
        await second.hello("alice", language="de", conversation=began["conversation"], key=began["key"])
        told = await second.expect("wait")
        assert (told["stage"], told["label"], told["detail"]) == (1, "Noch dabei", "page two")

    def make() -> Agent:
        brain = ScriptedBrain([[ToolCall("look_up", {})], "It is eight."])
        waits = profile("confirm", feedback_ms=(50, 60_000, 70_000))
        return Agent(brain, ears=ScriptedEars(), voice=ScriptedVoice(), tools=[worker], profile=waits)

    serve(script, make)


def test_work_that_is_sent_again_says_how_long_it_has_run() -> None:
    brain = lambda: ScriptedBrain([[ToolCall("look_up", {})], "It is eight."])  # noqa: E731
    worker = scripted_tool("look_up", Delay(60_000), "eight")

    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        await first.send("type", text="look it up")
        await first.expect("work", event="started")
        first.vanish()
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        assert (await second.expect("work", event="started"))["ranMs"] >= 0

    serve(script, lambda: Agent(brain(), ears=ScriptedEars(), voice=ScriptedVoice(), tools=[worker]))


def test_a_traceback_is_sent_while_developing_and_never_otherwise() -> None:
    for dev in (True, False):

        async def script(running: RunningServer, dev: bool = dev) -> None:
            client = await running.connect()
            await client.begin("alice")
            await client.send("type", text="fail")
            await client.expect("notification", level="error")
            told = [one for one in client.messages if one["type"] == "duologue.traceback"]
            assert bool(told) is dev
            assert not dev or told[0]["payload"]["where"] == "brain"

        serve(script, agent_that_says({"fail": [Fail(ErrorClass.UNKNOWN)]}), dev=dev)


def test_a_client_is_told_who_speaks_after_a_hand_over_and_again_after_a_reconnect() -> None:
    async def script(running: RunningServer) -> None:
        first = await running.connect()
        began = await first.begin("alice")
        assert await talk(first, "hello") == "The desk."
        (served,) = running.conversations.served.values()
        await served.conversation.call_context.hand_over("billing")
        await first.expect("agent", name="billing")
        await first.expect("caption", role="assistant", final=True, text="Billing here.")
        assert await talk(first, "how much is it", after=2) == "Forty euros."
        first.vanish()
        second = await running.connect()
        await second.hello("alice", conversation=began["conversation"], key=began["key"])
        said = [item for item in (await second.expect("history"))["items"] if item["role"] == "assistant"]
        assert [(item["speaker"], item["text"]) for item in said] == [
            ("", "The desk."),  # the first agent, whose name the page has
            ("billing", "Billing here."),
            ("billing", "Forty euros."),
        ]
        await second.expect("agent", name="billing")

    def desk() -> Agent:
        greeting = Phrases(greeting="Billing here.")
        billing = Agent(ScriptedBrain(["Forty euros."]), voice=ScriptedVoice(), name="billing", phrases=greeting)
        return Agent(ScriptedBrain(["The desk."]), voice=ScriptedVoice(), name="desk", agents=(billing,))

    serve(script, desk)
