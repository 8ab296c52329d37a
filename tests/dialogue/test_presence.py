"""Messages about presence: they cost no attempt, fill nothing and confirm nothing."""

from __future__ import annotations

import pytest

from duologue.dialogue.flow import Collect, Confirm, SlotSpec
from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.readings import SlotKind
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import SIZE, Talker

ASKS = ("are you there?", "Hello, are you still there?", "can you hear me please", "um, did I lose you")
SAYS = ("yes I'm here", "I'm still here", "Yes, I'm still here, sorry", "yeah I can hear you")


def asked(kind: SlotKind = SlotKind.DATE) -> Talker:
    slot = SlotSpec("day", kind, "Which day?")
    return Talker(domain(flow("visit", Collect("day", "day"), completed="Done."), slots=(slot,))).starts("visit")


@pytest.mark.parametrize("text", ASKS)
def test_are_you_there_is_answered_and_the_open_question_asked_again(text: str) -> None:
    reply = asked().says(text)
    assert reply.said == "Yes, I'm here. Which day?"
    assert (reply.state.misses, reply.state.tries) == (0, 0)


@pytest.mark.parametrize("text", SAYS)
def test_an_answer_to_are_you_still_there_is_no_answer_to_the_open_question(text: str) -> None:
    reply = asked().says(text)
    assert reply.said == "All right. Which day?"
    assert (reply.state.misses, reply.state.tries) == (0, 0)


def test_a_greeting_in_the_middle_of_a_task_is_returned() -> None:
    assert asked().says("hello?").said == "Hello! Which day?"


@pytest.mark.parametrize("text", ASKS)
def test_without_a_task_the_agent_says_that_it_is_there_and_what_it_can_do(text: str) -> None:
    nothing_open = Talker(domain(flow("size", Collect("size", "size"), completed="Done."), slots=(SIZE,)))
    assert nothing_open.says(text).said == "Yes, I'm here. I can help you with: do size."


@pytest.mark.parametrize(("text", "said"), [(ASKS[0], "Yes, I'm here."), (SAYS[0], "All right."), ("hello?", "Hello!")])
def test_presence_confirms_nothing(text: str, said: str) -> None:
    steps = (Collect("size", "size"), Confirm("sure", "Shall I do it?"))
    confirming = Talker(domain(flow("size", *steps, completed="Done."), slots=(SIZE,))).starts("size").says("small")
    assert confirming.says(text).said == f"{said} Shall I do it?"


@pytest.mark.parametrize("text", [*SAYS, "hello"])
def test_what_may_be_the_text_that_was_asked_for_is_taken(text: str) -> None:
    assert asked(SlotKind.TEXT).says(text).asked_nlu


def test_more_than_presence_is_read_as_before() -> None:
    assert "I'm here" not in asked().says("are you there on Friday").said


@pytest.mark.parametrize("code", ["en", "de", "es"])
def test_every_language_knows_both(code: str) -> None:
    words = pack_of(code).words
    assert words.asks_presence
    assert words.says_presence
    for phrase in (*words.asks_presence, *words.says_presence):
        assert tuple(token.word for token in words.tokens_of(" ".join(phrase))) == phrase
        assert not words.polite & set(phrase)
        assert not words.fillers & set(phrase), "such a word is ignored, so the phrase would never be found"
