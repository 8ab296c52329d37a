"""What the agent says by itself, and whose questions are in it."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.effects import StartReply
from duologue.core.leaves import Ask
from duologue.ports.brain import Memory, Remembers
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.own_phrases import OwnPhrase, own_phrase

SILENT = Phrases(check_ins=(), goodbye="")


class RememberingBrain(ScriptedBrain):
    """A brain that would repeat its last question by itself."""

    def remember(self, memory: Memory) -> None: ...

    async def has_more(self, conversation: str) -> bool:
        return False


def said(ask: Ask, *, brain: Any = None, phrases: Phrases | None = None) -> OwnPhrase:
    agent = Agent(brain or ScriptedBrain("Hello."), phrases=phrases or Phrases())
    return own_phrase(agent, StartReply(3, 1, 0, ask), False, 1)


def test_what_the_brain_answers_is_the_brains() -> None:
    assert said(Ask.ANSWER) == OwnPhrase("", is_aside=False)


@pytest.mark.parametrize("ask", [Ask.CHECK_IN, Ask.GOODBYE])
def test_a_phrase_of_the_agent_asks_for_the_agent(ask: Ask) -> None:
    found = said(ask)
    assert found.text
    assert found.is_aside


def test_a_check_in_that_a_model_words_itself_is_no_question_of_a_tool_either() -> None:
    assert said(Ask.CHECK_IN, phrases=SILENT) == OwnPhrase("", is_aside=True)


def test_a_brain_that_remembers_words_its_own_check_in() -> None:
    brain = RememberingBrain("Hello.")
    assert isinstance(brain, Remembers)
    assert said(Ask.CHECK_IN, brain=brain, phrases=SILENT) == OwnPhrase("", is_aside=False)
    assert said(Ask.CHECK_IN, brain=brain).is_aside
