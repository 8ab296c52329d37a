"""The simulated agent: every request of a caller has its answer, and every tool that it calls exists."""

from __future__ import annotations

import random
from typing import Any

import pytest

from duologue.core.leaves import Outcome
from duologue.lab.sim.simulated_agent import ASKS, make_brain, make_tools
from duologue.ports.brain import Request, Show
from duologue.ports.history import CallOutput, News
from duologue.ports.scripted_steps import Hang
from duologue.ports.tool_call import ToolCall
from duologue.runtime.simulated_clock import run_simulated


def answer(text: str, *history: Any, seed: int = 1) -> list[Any]:
    async def parts() -> list[Any]:
        brain = make_brain(random.Random(seed))
        return [part async for part in brain.reply(Request(1, text, history=history))]

    return run_simulated(parts())


def spoken(parts: list[Any]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


@pytest.mark.parametrize("text", ASKS)
def test_each_request_gets_an_answer_from_tools_that_exist(text: str) -> None:
    tools = {worker.tool.name for worker in make_tools(random.Random(1))}
    parts = answer(text)
    assert parts
    assert {part.name for part in parts if isinstance(part, ToolCall)} <= tools


def test_requests_lead_to_calls_text_and_speech() -> None:
    assert [part.name for part in answer("book the table for two") if isinstance(part, ToolCall)] == ["book", "lookup"]
    assert any(isinstance(part, Show) for part in answer("show me the address"))
    assert "sentence number 8" in spoken(answer("tell me a long story"))


def test_an_output_and_news_are_reported() -> None:
    assert "done" in spoken(answer("", CallOutput(1, "at ten past nine", Outcome.DONE)))
    assert "job 2" in spoken(answer("", News(2, "sent", Outcome.DONE)))


def test_the_same_dice_make_the_same_answers() -> None:
    assert answer("yes", seed=3) == answer("yes", seed=3)
    assert len({spoken(answer("yes", seed=seed)) for seed in range(20)}) > 1


def test_the_research_of_some_agents_never_ends() -> None:
    def hangs(seed: int) -> bool:
        research = next(tool for tool in make_tools(random.Random(seed)) if tool.tool.name == "research")
        return any(isinstance(step, Hang) for step in research.steps)

    assert 0 < sum(hangs(seed) for seed in range(200)) < 60
