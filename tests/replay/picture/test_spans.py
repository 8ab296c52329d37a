"""Sounds, requests, calls and turns: when they begin, when they end, and how."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, Timer
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.replay.picture.spans import Spans, newest, read_spans


def spans_of(stage: Stage) -> Spans:
    return read_spans(newest(stage.records))


def asked() -> Stage:
    stage = Stage()
    stage.start()
    stage.say()
    return stage


def test_a_request_knows_when_its_first_token_and_its_first_audio_came() -> None:
    stage = asked()
    stage.answer()
    (request,) = spans_of(stage).requests
    assert (request.asks, request.outcome) == ("turn 1", "heard")
    assert request.token_ms is not None
    assert request.token_ms - request.since_ms == 300
    assert request.audio_ms == request.token_ms


def _fail(stage: Stage) -> None:
    stage.fail_reply(ErrorClass.AUTH_FAILURE)


def _retry(stage: Stage) -> None:
    stage.fail_reply(ErrorClass.SERVER_ERROR)


def _time_out(stage: Stage) -> None:
    stage.wait_for(Timer.ATTEMPT)


def _show(stage: Stage) -> None:
    stage.happen(ev.ReplyFinished)


def _call(stage: Stage) -> None:
    stage.call_tool()
    stage.happen(ev.ReplyFinished)


def _silence(stage: Stage) -> None:
    stage.happen(ev.InterruptRequested)


def _talk_over(stage: Stage) -> None:
    stage.speak(400)
    stage.interrupt()


def _lose_line(stage: Stage) -> None:
    stage.happen(ev.LinkWobbled)
    stage.wait_for(Timer.HEAL)


@pytest.mark.parametrize(
    ("happens", "outcome"),
    [
        (_fail, "failed"),
        (_retry, "failed, retried"),
        (_time_out, "timed out, retried"),
        (_show, "shown"),
        (_call, "made a call"),
        (_silence, "dropped"),
        (_lose_line, "dropped"),
        (_talk_over, "cut short"),
        (Stage.think, "goes on"),
    ],
)
def test_a_request_has_its_outcome(happens: Any, outcome: str) -> None:
    stage = asked()
    happens(stage)
    assert spans_of(stage).requests[0].outcome == outcome


def test_a_sound_that_still_plays_goes_on_to_the_end_of_the_steps() -> None:
    stage = asked()
    stage.think()
    stage.speak(600)
    (sound,) = spans_of(stage).sounds
    assert (sound.outcome, sound.heard_ms, sound.end_ms) == ("goes on", 600, stage.at)


def test_a_call_is_followed_through_its_leaves_to_its_outcome() -> None:
    stage = asked()
    stage.think()
    call = stage.call_tool()
    stage.wait(100)
    stage.happen(ev.CallDispatched, call=call)
    stage.wait(200)
    stage.happen(ev.JobFailed, call=call)
    (found,) = spans_of(stage).calls
    assert [(stay.state, stay.duration_ms) for stay in found.stays] == [("tool", 100), ("dispatched", 200)]
    assert found.outcome == "failed"


def test_a_refused_call_is_there_though_it_never_ran() -> None:
    stage = Stage(profile("confirm", jobs_max=1))
    stage.start()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.call_tool()
    assert [(call.call, call.outcome) for call in spans_of(stage).calls] == [(1, "goes on"), (2, "refused")]


def test_a_typed_turn_takes_no_time() -> None:
    stage = Stage()
    stage.start()
    stage.wait(500)
    stage.happen(ev.TextTyped)
    (turn,) = spans_of(stage).turns
    assert (turn.since_ms, turn.end_ms) == (500, 500)
