"""The metrics of a call: what counts, what doesn't, and what stays unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, ErrorClass, Link, Outcome, Timer
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.observe.metrics import Meter, Metrics
from duologue.replay.timeline import read_timeline


def started(**changes: int) -> Stage:
    stage = Stage(profile("confirm", **changes))
    stage.start()
    return stage


def metrics_of(stage: Stage) -> Metrics:
    return read_timeline(stage.records).metrics


def asked(stage: Stage) -> Stage:
    stage.say()
    stage.think()
    return stage


# -- Waits


@pytest.mark.req("L-04", "L-22.metrics")
def test_the_waits_for_token_and_audio_are_means_over_the_replies() -> None:
    stage = started()
    for token_ms, audio_ms in ((200, 100), (400, 300)):
        stage.say()
        stage.think(for_ms=token_ms)
        stage.wait(audio_ms)
        stage.speak(400)
        stage.finish()
    assert (metrics_of(stage).first_token_ms, metrics_of(stage).first_audio_ms) == (300, 500)


def test_a_token_of_a_cancelled_reply_does_not_count() -> None:
    stage = started()
    stage.say()
    late = stage.state.reply_id
    stage.happen(ev.InterruptRequested)
    stage.wait(7_000)
    stage.happen(ev.TokenArrived, reply=late)
    assert metrics_of(stage).first_token_ms is None


def test_an_answer_that_waits_behind_a_cough_counts_from_its_request_to_its_sound() -> None:
    stage = asked(started())
    stage.begin_talking()
    stage.happen(ev.AudioBuffered)
    stage.wait(200)
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)
    assert metrics_of(stage).first_audio_ms == 300 + 200 + stage.settings.noise_ms_max


def test_without_data_means_and_rates_are_none() -> None:
    metrics = metrics_of(started())
    assert metrics == Metrics()
    assert metrics.first_token_ms is metrics.first_audio_ms is None
    assert metrics.interruption_rate is metrics.call_success_rate is None


# -- As data


@pytest.mark.req("L-22.metrics")
def test_what_was_counted_goes_on_in_another_process() -> None:
    stage = asked(started())
    stage.speak(600)
    stage.finish()
    half = len(stage.records)
    asked(stage)
    stage.speak(600)
    stage.interrupt()
    first, second = Meter(), Meter()
    for record in stage.records[:half]:
        first.add(record)
    second.load(json.loads(json.dumps(first.dump())))
    for record in stage.records[half:]:
        second.add(record)
    assert second.metrics() == metrics_of(stage)
    assert (second.metrics().sounds, second.metrics().interrupted) == (2, 1)


def test_counts_that_an_earlier_version_did_not_have_are_zero() -> None:
    meter, data = Meter(), Meter().dump()
    data["counts"] = {"turns": 3, "forgotten": 7}
    meter.load(data)
    assert (meter.metrics().turns, meter.metrics().requests) == (3, 0)


@pytest.mark.parametrize(
    "wrong", [{"counts": {"turns": -1}}, {"token_ms": [1]}, {"audio_ms": [1, "2"]}, {"said": [None]}]
)
def test_damaged_counts_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        Meter().load({**Meter().dump(), **wrong})


# -- Interruptions


@pytest.mark.req("L-22.metrics")
def test_the_interruption_rate_counts_the_sounds_that_the_person_cut_short() -> None:
    stage = asked(started())
    stage.speak(600)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(100)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(final=True)
    stage.happen(ev.TurnEnded)
    stage.answer()
    metrics = metrics_of(stage)
    assert (metrics.sounds, metrics.interrupted, metrics.interruption_rate) == (2, 1, 0.5)


def test_neither_a_murmur_nor_a_lost_line_is_an_interruption() -> None:
    stage = asked(started())
    stage.speak(600)
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=False)
    stage.happen(ev.LinkClosed)
    assert stage.effects(fx.HoldPlayback)
    assert stage.effects(fx.StopPlayback)
    assert metrics_of(stage).interruption_rate == 0.0


# -- Calls


@pytest.mark.req("L-22.metrics")
def test_the_success_rate_counts_calls_that_were_done_against_those_that_failed() -> None:
    stage = asked(started(jobs_max=3))
    done, failed, late = stage.call_tool(), stage.call_tool(), stage.call_tool()
    stage.call_tool()  # one too many
    stage.happen(ev.JobFinished, call=done)
    stage.happen(ev.JobFailed, call=failed)
    stage.happen(ev.ReplyFinished)
    stage.wait(stage.settings.tool_ms_max)
    outcomes = {output.call: output.outcome for output in stage.effects(fx.PostOutput)}
    assert outcomes == {
        done: Outcome.DONE,
        failed: Outcome.FAILED,
        late: Outcome.TIMED_OUT,
        late + 1: Outcome.REFUSED,
    }
    metrics = metrics_of(stage)
    assert (metrics.calls, metrics.calls_done, metrics.calls_failed) == (4, 1, 3)
    assert metrics.call_success_rate == 0.25


def test_a_cancelled_call_is_neither_a_success_nor_a_failure() -> None:
    stage = asked(started())
    stage.happen(ev.CancelRequested, call=stage.call_tool())
    metrics = metrics_of(stage)
    assert metrics.calls == 1
    assert metrics.call_success_rate is None


def test_a_dispatched_job_succeeds_when_it_ends_and_not_when_it_is_acknowledged() -> None:
    stage = asked(started())
    call = stage.call_tool()
    stage.happen(ev.CallDispatched)
    assert metrics_of(stage).call_success_rate is None
    stage.happen(ev.JobFinished, call=call)
    assert metrics_of(stage).call_success_rate == 1.0
    assert metrics_of(stage).calls == 1


# -- What went wrong or unanswered


@pytest.mark.req("L-22.metrics")
def test_a_fault_that_is_shown_counts_as_an_error_and_a_quiet_retry_does_not() -> None:
    stage = asked(started())
    stage.fail_reply(ErrorClass.SERVER_ERROR)
    assert metrics_of(stage).errors == 0
    stage.wait_for(Timer.RETRY)
    stage.fail_reply(ErrorClass.SERVER_ERROR)
    assert metrics_of(stage).errors == 1


@pytest.mark.req("V-07")
def test_a_check_in_that_has_to_be_retried_is_one_check_in() -> None:
    stage = started()
    stage.wait_for(Timer.DEAD_AIR)
    stage.fail_reply(ErrorClass.RATE_LIMIT)
    stage.wait_for(Timer.RETRY)
    assert [request.ask for request in stage.effects(fx.StartReply)] == [Ask.CHECK_IN, Ask.CHECK_IN]
    assert metrics_of(stage).check_ins == 1


def test_turns_are_counted_by_what_was_said_and_coughs_are_not() -> None:
    stage = started()
    stage.say()
    stage.answer()
    stage.cough()
    stage.wait_for(Timer.SETTLE)
    stage.happen(ev.TextTyped)
    stage.answer()
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    assert stage.state.link is Link.IDLE
    assert metrics_of(stage).turns == 2


def test_lost_turns_are_those_with_words_and_not_the_cough_between_them() -> None:
    stage = started()
    stage.cough()
    stage.wait_for(Timer.SETTLE)
    stage.say()
    stage.happen(ev.EndRequested)
    assert stage.effects(fx.ReportLost) == [fx.ReportLost(first=1, last=2)]
    assert metrics_of(stage).turns_lost == 1


def test_what_was_still_being_said_when_the_call_ended_is_a_lost_turn() -> None:
    stage = started()
    stage.say()
    stage.answer()
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.EndRequested)
    assert metrics_of(stage).turns_lost == 1
    assert metrics_of(stage).turns == 1


def test_words_over_the_agent_that_want_nothing_are_overheard() -> None:
    stage = asked(started())
    stage.speak(400)
    stage.begin_talking()
    stage.hear_words(1, substantial=0)
    stage.happen(ev.OverlapJudged, bid=False)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(1, substantial=0, final=True)
    stage.happen(ev.TurnEnded)
    metrics = metrics_of(stage)
    assert (metrics.overheard, metrics.turns, metrics.turns_lost) == (1, 1, 0)
