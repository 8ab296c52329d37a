"""Texts in other words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from duologue.dialogue.effects import Respond
from duologue.flows.rephrase import may_replace, rephrased
from duologue.ports.brain import Part, Request, Show

SAID = Respond("A table for 4 on May 3?", asks=True, kept=("4", "May 3"))


class Wordy:
    """A brain that answers with given parts, or fails."""

    def __init__(self, *parts: Part, fails: bool = False) -> None:
        self.parts, self.fails = parts, fails
        self.asked: list[Request] = []

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self.asked.append(request)
        for part in self.parts:
            yield part
        if self.fails:
            raise OSError("gone")


def words(brain: Wordy, said: Respond = SAID) -> str:
    return asyncio.run(rephrased(brain, said, Request(1, "hi", conversation="c"))).text


@pytest.mark.req("D-08")
def test_a_brain_may_use_other_words_for_the_same_values() -> None:
    brain = Wordy("So, on May 3 a table", " for 4, is that it?")
    assert words(brain) == "So, on May 3 a table for 4, is that it?"
    assert brain.asked[0].text == SAID.text
    assert brain.asked[0].conversation != "c"


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    "text",
    [
        "A table for 5 on May 3?",
        "A table for 4 on May 3 at 7?",
        "A table for four on May 3?",
        "A table for 4?",
        "A table for 4 on May 3.",
        "",
        "A table for 4 on May 3? " + "And so on. " * 10 + "?",
    ],
)
def test_words_that_change_anything_are_not_said(text: str) -> None:
    assert not may_replace(SAID, text)
    assert words(Wordy(text)) == SAID.text


def test_the_original_is_said_if_the_brain_fails_or_does_something_else() -> None:
    assert words(Wordy("A table for 4 on May 3, yes?", fails=True)) == SAID.text
    assert words(Wordy(Show("A table for 4 on May 3, yes?"))) == SAID.text


def test_a_text_without_permission_is_never_given_to_a_brain() -> None:
    brain = Wordy("Well?")
    assert words(brain, Respond("Really?", asks=True)) == "Really?"
    assert not brain.asked
