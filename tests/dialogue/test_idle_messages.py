"""Messages that come while no question is open."""

from __future__ import annotations

import pytest

from duologue.dialogue.effects import Respond
from duologue.dialogue.flow import Collect
from duologue.dialogue.idle_messages import IDLE
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import OTHER, SIZE, Talker


def talker() -> Talker:
    return Talker(domain(flow("size", Collect("size", "size"), completed="Done."), slots=(SIZE,)))


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["no, that's all", "no thanks, that's everything", "thanks, that's all"])
def test_that_is_all_ends_the_conversation_after_a_task(text: str) -> None:
    done = talker().starts("size").says("small")
    assert done.says(text).said == "Goodbye!"
    assert [effect.ends for effect in done.effects if isinstance(effect, Respond)] == [True]


@pytest.mark.req("D-10")
def test_a_plain_no_is_not_a_goodbye() -> None:
    assert talker().starts("size").says("small", "no").said == "All right."


@pytest.mark.req("D-10")
def test_going_back_without_a_task_offers_help() -> None:
    assert talker().says("go back").said == "I can help you with: do size."


def test_nlu_is_the_last_interpreter() -> None:
    assert IDLE[-1].name == "NLU"
    assert talker().says(OTHER).asked_nlu


def offers_more() -> Talker:
    ended = flow("size", Collect("size", "size"), completed="Done. Can I help you with anything else?")
    return Talker(domain(ended, slots=(SIZE,))).starts("size").says("small")


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["no", "no thanks", "nope"])
def test_a_no_to_anything_else_ends_the_conversation(text: str) -> None:
    done = offers_more().says(text)
    assert done.said == "Goodbye!"
    assert [effect.ends for effect in done.effects if isinstance(effect, Respond)] == [True]


@pytest.mark.req("D-10")
def test_a_yes_to_anything_else_tells_what_is_possible() -> None:
    assert offers_more().says("yes").said == "I can help you with: do size."
