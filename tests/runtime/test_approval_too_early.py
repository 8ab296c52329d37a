"""A tool of a model that wants approval: a yes that came before its question approves nothing."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.settings import profile
from duologue.ports import Request, ToolCall
from duologue.ports.history import CallOutput
from duologue.runtime.agent import Phrases
from duologue.testing import Delay, scripted_tool
from duologue.workers import tool
from tests.runtime.runtime_fakes import Script, Stage, play

QUESTION = "Shall I send 50 euros to Anna?"
PROFILES = ["confirm", "words", "immediate"]


def bank(script: Script, name: str = "confirm", **agent: Any) -> tuple[Stage, list[str]]:
    """A conversation in which a model sends money when it is asked to. Returns the stage, and to whom it was sent."""
    sent: list[str] = []

    @tool(confirm="Shall I send {amount} euros to {to}?")
    async def send_money(amount: int, to: str) -> str:
        sent.append(to)
        return "sent"

    def reply(request: Request) -> Any:
        if request.history and isinstance(request.history[-1], CallOutput):
            return "It is sent." if sent else "I have sent nothing."
        return ToolCall("send_money", {"amount": 50, "to": "Anna"}) if "money" in request.text else "Yes?"

    stage = play(script, ScriptedBrain(reply), profile=profile(name, greets=False), tools=[send_money], **agent)
    return stage, sent


@pytest.mark.req("H-14")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("after_ms", [0, 1, 60, 300])
def test_a_yes_that_is_typed_before_the_question_is_heard_runs_no_tool(after_ms: int, name: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.sleep(after_ms)
        stage.conversation.type("yes")
        await stage.sleep(20_000)

    stage, sent = bank(scene, name)
    assert sent == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize("name", PROFILES)
def test_a_yes_that_is_said_before_the_question_is_heard_runs_no_tool(name: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.say("yes")
        await stage.sleep(20_000)

    stage, sent = bank(scene, name)
    assert sent == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize("way", ["typed", "said"])
@pytest.mark.parametrize("name", PROFILES)
def test_after_the_question_was_said_again_a_yes_runs_the_tool(name: str, way: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        stage.conversation.type("yes")
        await stage.until(lambda: stage.conversation.engine.program.listens)
        if way == "typed":
            stage.conversation.type("yes")
        else:
            await stage.say("yes")
        await stage.rest()

    stage, sent = bank(scene, name)
    assert sent == ["Anna"]
    assert stage.heard[-1] == "It is sent."


@pytest.mark.req("H-14")
@pytest.mark.parametrize("heard_ms", [100, 700])
def test_a_yes_before_the_amount_and_the_name_were_heard_runs_no_tool(heard_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: stage.line.heard_ms >= heard_ms)
        stage.conversation.type("yes", sees_captions=False)
        await stage.sleep(20_000)

    stage, sent = bank(scene)
    assert sent == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("shown_for_ms", "sends"), [(100, False), (600, True)])
def test_on_a_screen_the_question_must_have_been_shown_for_a_moment(shown_for_ms: int, sends: bool) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.sleep(shown_for_ms)
        stage.conversation.type("yes")
        await stage.sleep(20_000)

    assert bank(scene, voice=None)[1] == (["Anna"] if sends else [])


@pytest.mark.req("H-14")
def test_a_question_that_was_cut_off_is_asked_again_before_a_yes_counts() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: stage.line.heard_ms >= 60)
        stage.conversation.interrupt()
        await stage.sleep(100)
        stage.conversation.type("yes")
        await stage.sleep(20_000)

    stage, sent = bank(scene)
    assert sent == []
    assert stage.heard == [QUESTION], "not: is that a yes or a no?"


@pytest.mark.req("H-14")
def test_an_interruption_before_the_question_leaves_no_yes_without_a_question() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: stage.line.heard_ms >= 60)
        stage.conversation.interrupt()
        await stage.until(lambda: stage.conversation.engine.program.listens)
        stage.conversation.type("yes")
        await stage.rest()

    stage, sent = bank(scene)
    assert sent == ["Anna"]
    assert stage.heard == [QUESTION, "It is sent."]


@pytest.mark.req("H-14")
@pytest.mark.parametrize("repeats", [False, True])
def test_a_yes_to_a_newer_question_of_the_model_approves_no_tool(repeats: bool) -> None:
    """The question of a tool in the background is open when another job ends, and the model asks about that."""
    sent: list[str] = []
    taxi = scripted_tool("taxi", Delay(8_000), "the taxi is here", mode="dispatch")

    @tool(mode="dispatch", confirm="Shall I send {amount} euros to {to}?")
    async def send_money(amount: int, to: str) -> str:
        sent.append(to)
        return "sent"

    def reply(request: Request) -> Any:
        if any(item.tool == "taxi" for item in request.news):
            return "The taxi is here. Do you want to go now?"
        if "money" in request.text:
            return [ToolCall("taxi"), ToolCall("send_money", {"amount": 50, "to": "Anna"})]
        return "All right."

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.until(lambda: any("go now" in text for text in stage.heard))
        await stage.sleep(1_000)
        stage.conversation.type("yes")
        await stage.until(lambda: stage.heard.count(QUESTION) == 2)
        await stage.sleep(1_000)
        assert sent == [], "the yes was for the taxi"
        if repeats:
            stage.conversation.type("yes")
            await stage.sleep(5_000)
            assert sent == ["Anna"]

    play(scene, ScriptedBrain(reply), profile=profile("confirm", greets=False), tools=[send_money, taxi])


def background(script: Script) -> list[str]:
    """A conversation with a tool that wants approval and runs in the background, so that the agent goes on by itself.
    Returns to whom money was sent."""
    sent: list[str] = []

    @tool(mode="dispatch", confirm="Shall I send {amount} euros to {to}?")
    async def send_money(amount: int, to: str) -> str:
        sent.append(to)
        return "sent"

    def reply(request: Request) -> Any:
        if request.outputs or request.news:
            return "It is sent." if request.news else "One moment."
        return ToolCall("send_money", {"amount": 50, "to": "Anna"})

    play(script, ScriptedBrain(reply), profile=profile("confirm", greets=False), tools=[send_money], phrases=Phrases())
    return sent


@pytest.mark.req("H-14")
@pytest.mark.parametrize("heard_ms", [600, 1_200, 1_600])
def test_a_yes_to_an_offer_to_go_on_approves_no_tool(heard_ms: int) -> None:
    """A press cut the question off, and the agent offered to go on: the yes asks to hear the question."""

    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: "One moment." in stage.heard and stage.line.heard_ms >= heard_ms)
        stage.conversation.press()
        await stage.sleep(200)
        stage.conversation.release()
        await stage.until(lambda: any("continue" in text or "go on" in text for text in stage.heard))
        await stage.sleep(1_000)
        await stage.say("yes")
        await stage.until(lambda: stage.heard[-1] == QUESTION)
        await stage.sleep(3_000)
        assert "It is sent." not in stage.heard
        await stage.say("yes")
        await stage.sleep(5_000)

    assert background(scene) == ["Anna"]


@pytest.mark.req("H-14")
@pytest.mark.parametrize("heard_ms", [600, 1_000])
def test_a_question_that_a_lost_line_cut_off_is_said_again_and_one_yes_is_enough(heard_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("send money to Anna")
        await stage.until(lambda: "One moment." in stage.heard and stage.line.heard_ms >= heard_ms)
        stage.line.drop()
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.sleep(3_000)
        await stage.say("yes")
        await stage.sleep(5_000)
        assert stage.heard.count(QUESTION) == 1

    assert background(scene) == ["Anna"]
