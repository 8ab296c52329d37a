"""The phone view: the agent is idle, speaking or interrupted, and agrees with the sound at every step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Reply
from duologue.lab.sim.stage import Stage
from tests.core.phone_scenes import DEAD_AIR_MS, Sound, finish_thought, greeted, over_the_agent, ringing, speaking

# -- V-01: who speaks


@pytest.mark.req("V-01")
def test_a_call_goes_round_from_greeting_to_answer() -> None:
    stage = greeted()
    stage.say()
    stage.answer()
    assert stage.views("phone") == ["agent_idle", "agent_speaking", "agent_idle", "agent_speaking", "agent_idle"]
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0), fx.StartReply(3, 1, 1)]


@pytest.mark.req("V-01")
def test_the_agent_speaks_first_one_beat_after_the_line_is_up() -> None:
    stage = ringing()
    stage.start()
    assert stage.effects(fx.StartReply) == []
    stage.wait(1)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0)]


@pytest.mark.req("V-01")
def test_a_reply_that_is_only_generated_is_not_speech() -> None:
    stage = greeted()
    stage.say()
    stage.think()
    assert stage.view("phone") == "agent_idle"
    stage.begin_talking()
    stage.happen(ev.AudioBuffered)
    assert stage.state.reply is Reply.READY
    assert stage.view("phone") == "agent_idle"


@pytest.mark.req("V-01")
def test_the_agent_speaks_until_the_line_has_played_everything() -> None:
    stage = speaking()
    stage.happen(ev.ReplyFinished)
    stage.play(20_000)
    assert stage.view("phone") == "agent_speaking"
    stage.finish()
    assert stage.view("phone") == "agent_idle"


def _an_ordinary_call(stage: Stage) -> None:
    stage.say()
    stage.answer()
    stage.say()
    stage.think()
    stage.speak(400)
    over_the_agent(stage)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=800)
    finish_thought(stage)
    stage.answer()


def _a_call_on_a_bad_line(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(400)
    stage.happen(ev.LinkWobbled)
    stage.wait(500)
    stage.happen(ev.LinkHealed)
    stage.play(400)
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.say()
    stage.answer()


def _a_call_with_failures(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(400)
    stage.wait(5_000)  # the sound stalls
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    stage.say()
    stage.think()
    stage.speak(400)
    stage.happen(ev.ServiceFailed, part=FaultSource.VOICE, error=ErrorClass.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.say()
    stage.answer()


def _a_call_that_is_hung_up_in_mid_sentence(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(400)
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)


def _a_call_without_an_answer(stage: Stage) -> None:
    for _ in range(3):
        stage.wait(DEAD_AIR_MS)
        stage.answer()
    stage.happen(ev.SessionClosed)


@pytest.mark.req("V-01")
@pytest.mark.parametrize(
    "call",
    [
        _an_ordinary_call,
        _a_call_on_a_bad_line,
        _a_call_with_failures,
        _a_call_that_is_hung_up_in_mid_sentence,
        _a_call_without_an_answer,
    ],
)
def test_is_speaking_agrees_with_the_sound_at_every_step(call: Callable[[Stage], None]) -> None:
    stage = ringing()
    sound = Sound(stage)
    stage.start()
    stage.wait(1)
    stage.answer()
    call(stage)
    assert sound.wrong == []
    assert len(stage.effects(fx.StartPlayback)) >= 2
    assert stage.view("phone") == "agent_idle"
