"""A yes counts for a question that was asked: one that was said or typed before that confirms nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.settings import profile
from duologue.flows import parse_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.registry import Registry
from duologue.nlu.local import LocalNlu
from duologue.runtime.agent import Phrases
from tests.runtime.runtime_fakes import Script, Stage, play

TRANSFER = """
version: 1
slots:
  name: {type: name, prompt: "To whom?"}
flows:
  send:
    description: send money
    examples: [send money, pay a person]
    steps:
      - collect: name
      - confirm: "Shall I send the money to {name}?"
      - action: send_money
        slots: [name]
        outputs: [reference]
    completed: "It is sent. The reference is {reference}."
"""
WITH_ACTION = TRANSFER.replace(
    "      - confirm",
    "      - action: find_account\n        slots: [name]\n        outputs: [account]\n      - confirm",
)
QUESTION = "Shall I send the money to Anna?"
PROFILES = ["confirm", "words", "immediate"]


def bank(script: Script, name: str = "confirm", flows: str = TRANSFER, **agent: Any) -> tuple[Stage, list[str]]:
    """A conversation in which money can be sent. Returns the stage, and to whom it was sent."""
    sent: list[str] = []

    async def send_money(name: str) -> dict[str, str]:
        sent.append(name)
        return {"reference": "A1"}

    async def find_account(name: str) -> dict[str, str]:
        await asyncio.sleep(2)
        return {"account": f"account of {name}"}

    functions = Registry([send_money, find_account])
    brain = FlowBrain(parse_flows(flows), functions, LocalNlu(words_only=True))
    settings = {key: agent.pop(key) for key in ("dead_air_ms",) if key in agent}
    return play(script, brain, profile=profile(name, greets=False, **settings), **agent), sent


async def order(stage: Stage) -> None:
    """Give the order, up to the answer that the confirmation follows."""
    stage.conversation.type("send money")
    await stage.rest()
    stage.conversation.type("Anna")


@pytest.mark.req("H-14")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("after_ms", [0, 1, 60, 300])
def test_a_yes_that_is_typed_before_the_question_is_heard_or_shown_asks_again(after_ms: int, name: str) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.sleep(after_ms)
        stage.conversation.type("yes")
        await stage.rest()

    stage, sent = bank(scene, name)
    assert sent == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize("name", PROFILES)
def test_a_yes_that_is_said_before_the_agent_speaks_asks_again(name: str) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.say("yes")
        await stage.rest()

    stage, sent = bank(scene, name)
    assert sent == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize("name", PROFILES)
def test_after_the_question_was_said_again_a_yes_counts(name: str) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        stage.conversation.type("yes")
        await stage.rest()
        stage.conversation.type("yes")
        await stage.rest()

    assert bank(scene, name)[1] == ["Anna"]


@pytest.mark.req("H-14")
@pytest.mark.parametrize("way", ["typed", "said"])
def test_a_yes_after_the_question_counts_at_once(way: str) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.rest()
        if way == "typed":
            stage.conversation.type("yes")
        else:
            await stage.say("yes")
        await stage.rest()

    stage, sent = bank(scene)
    assert sent == ["Anna"]
    assert stage.heard[-1].startswith("It is sent.")


@pytest.mark.req("H-14")
def test_a_yes_in_two_parts_counts_for_the_question_before_it() -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.rest()
        stage.conversation.type("yes")
        stage.conversation.type("please")
        await stage.rest()

    assert bank(scene)[1] == ["Anna"]


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("shown_for_ms", "sends"), [(100, False), (600, True)])
def test_on_a_screen_a_question_counts_as_asked_once_it_was_shown_for_a_moment(shown_for_ms: int, sends: bool) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.until(lambda: bool(stage.heard) and stage.heard[-1] == QUESTION)
        await stage.sleep(shown_for_ms)
        stage.conversation.type("yes")
        await stage.rest()

    assert bank(scene, voice=None)[1] == (["Anna"] if sends else [])


@pytest.mark.req("H-14")
def test_a_question_that_was_cut_off_at_its_beginning_was_not_asked() -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.until(lambda: stage.line.heard_ms >= 60)
        stage.conversation.interrupt()
        await stage.sleep(5_000)
        stage.conversation.type("yes")
        await stage.rest()

    stage, sent = bank(scene)
    assert sent == []
    assert stage.heard[-1] == QUESTION


@pytest.mark.req("H-14")
def test_another_answer_than_yes_is_taken_at_once() -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        stage.conversation.type("no")
        await stage.rest()

    stage, sent = bank(scene)
    assert sent == []
    assert stage.heard[-1] != QUESTION


@pytest.mark.req("H-14")
@pytest.mark.parametrize("after_ms", [0, 60, 1_000, 1_990, 2_010])
def test_a_yes_during_the_action_before_the_question_confirms_nothing(after_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.sleep(after_ms)
        stage.conversation.type("yes")
        await stage.rest()

    stage, sent = bank(scene, flows=WITH_ACTION)
    assert sent == []
    assert stage.heard[-1].endswith(QUESTION)


@pytest.mark.req("H-14")
@pytest.mark.parametrize(("sees_captions", "sends"), [(True, True), (False, False)])
def test_who_reads_the_captions_may_type_sooner_than_who_only_hears_the_question(
    sees_captions: bool, sends: bool
) -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.until(lambda: stage.line.heard_ms >= 700)
        stage.conversation.type("yes", sees_captions=sees_captions)
        await stage.rest()

    assert bank(scene)[1] == (["Anna"] if sends else [])


@pytest.mark.req("H-14")
@pytest.mark.parametrize("says", ["yes", "yes I am", "sure"])
def test_a_yes_to_are_you_still_there_confirms_nothing(says: str) -> None:
    """The question of the flow was heard, but this yes answers what was asked after it."""

    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.until(lambda: "Are you still there?" in stage.heard)
        await stage.sleep(1_500)
        await stage.say(says)
        await stage.until(lambda: stage.heard[-1] == QUESTION)
        await stage.rest()
        assert sent_so_far(stage) == []
        await stage.say("yes")
        await stage.rest()

    stage, sent = bank(scene, dead_air_ms=8_000, phrases=Phrases())
    assert sent == ["Anna"]
    assert stage.heard.count(QUESTION) == 2


@pytest.mark.req("H-14")
def test_a_yes_while_are_you_still_there_begins_still_counts_for_the_question() -> None:
    async def scene(stage: Stage) -> None:
        await order(stage)
        await stage.until(lambda: QUESTION in stage.heard)
        await stage.until(lambda: stage.line.is_sounding)  # the check-in
        stage.conversation.type("yes")
        await stage.rest()

    assert bank(scene, dead_air_ms=8_000, phrases=Phrases())[1] == ["Anna"]


def sent_so_far(stage: Stage) -> list[str]:
    return [text for text in stage.heard if "It is sent" in text]
