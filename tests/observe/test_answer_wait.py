"""How long the person waits for an answer."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, ErrorClass, Timer
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.observe.answer_wait import AnswerWait


def waits_of(stage: Stage) -> list[tuple[int | None, int | None]]:
    """The waits for a token and for audio, in the order in which they ended."""
    wait = AnswerWait()
    found = [wait.follow(record) for record in stage.records if record.after is not record.before]
    return [tuple(waited) for waited in found if waited != (None, None)]


def started(name: str = "confirm") -> Stage:
    stage = Stage(profile(name))
    stage.start()
    return stage


@pytest.mark.req("L-22.metrics")
def test_an_answer_is_waited_for_from_its_request() -> None:
    stage = started()
    stage.say()
    stage.think(for_ms=200)
    stage.wait(100)
    stage.speak(400)
    assert waits_of(stage) == [(200, None), (None, 300)]


@pytest.mark.req("L-22.metrics")
def test_a_retry_continues_the_wait() -> None:
    stage = started()
    stage.say()
    stage.wait(150)
    stage.fail_reply(ErrorClass.NETWORK_TIMEOUT)
    stage.wait_for(Timer.RETRY)
    stage.think(for_ms=200)
    stage.speak(400)
    assert waits_of(stage) == [(150 + 1_000 + 200, None), (None, 150 + 1_000 + 200)]


@pytest.mark.req("L-22.metrics")
def test_what_the_agent_says_by_itself_is_no_answer() -> None:
    stage = started("words")
    stage.wait(1)
    stage.answer()
    stage.wait_for(Timer.DEAD_AIR)
    stage.answer()
    assert [request.ask for request in stage.effects(fx.StartReply)] == [Ask.ANSWER, Ask.CHECK_IN]
    assert len(stage.effects(fx.StartPlayback)) == 2
    assert waits_of(stage) == []


def test_a_check_in_that_has_to_be_retried_is_no_answer_either() -> None:
    stage = started()
    stage.wait_for(Timer.DEAD_AIR)
    stage.fail_reply(ErrorClass.NETWORK_TIMEOUT)
    stage.wait_for(Timer.RETRY)
    stage.think()
    stage.speak(400)
    assert waits_of(stage) == []


def test_words_that_are_added_are_asked_with_a_new_wait() -> None:
    stage = started()
    stage.say()
    stage.wait(2_000)
    stage.say()
    stage.think(for_ms=200)
    assert waits_of(stage) == [(200, None)]


def test_an_answer_behind_a_tool_is_waited_for_from_the_request_with_the_tools_result() -> None:
    stage = started()
    stage.say()
    stage.think(for_ms=200)
    call = stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.wait(3_000)
    stage.happen(ev.JobFinished, call=call)
    stage.think(for_ms=300)
    stage.speak(400)
    assert waits_of(stage) == [(200, None), (300, None), (None, 300)]
