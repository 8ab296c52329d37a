"""The five system states of a full-duplex orchestrator (T-01), seen in whole conversations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Voice
from duologue.core.settings import profile
from duologue.core.views import ORCHESTRATOR
from duologue.lab.sim.stage import Stage


def up(name: str = "confirm") -> Stage:
    stage = Stage(profile(name, dead_air_ms=0, greets=False))
    stage.start()
    return stage


def speaking(name: str = "confirm") -> Stage:
    stage = up(name)
    stage.say()
    stage.think()
    stage.speak(600)
    return stage


def visits(stage: Stage) -> list[str]:
    return stage.views("orchestrator")


def spent_ms(stage: Stage, state: str) -> list[int]:
    """How long each visit to this state lasted; the last one may still last."""
    lengths: list[int] = []
    began_at = None
    for record in stage.records:
        here = ORCHESTRATOR.see(record.after) == state
        if here and began_at is None:
            began_at = record.event.at
        elif not here and began_at is not None:
            lengths.append(record.event.at - began_at)
            began_at = None
    return lengths if began_at is None else [*lengths, stage.at - began_at]


@pytest.mark.req("T-01")
def test_there_are_five_system_states_and_a_conversation_begins_idle() -> None:
    assert ORCHESTRATOR.states == ("idle", "listening", "processing", "speaking", "interrupted")
    assert Stage(profile("confirm")).view("orchestrator") == "idle"


@pytest.mark.req("T-01")
def test_a_turn_goes_from_listening_over_processing_and_speaking_to_listening() -> None:
    stage = up()
    stage.say()
    stage.answer()
    assert visits(stage) == ["idle", "listening", "processing", "speaking", "listening"]


@pytest.mark.req("T-01")
def test_it_listens_when_the_session_is_ready_and_not_before() -> None:
    stage = Stage(profile("confirm"))
    stage.happen(ev.StartRequested)
    assert stage.view("orchestrator") == "idle"
    stage.happen(ev.SessionReady)
    assert stage.view("orchestrator") == "listening"


@pytest.mark.req("T-01")
def test_it_listens_until_the_turn_is_complete() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(3)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert stage.view("orchestrator") == "listening"
    stage.hear_words(3, final=True)
    assert stage.view("orchestrator") == "processing"


@pytest.mark.req("T-01", "T-08")
def test_it_speaks_with_the_first_sound_and_not_with_the_first_token() -> None:
    stage = up()
    stage.say()
    stage.think()
    assert stage.view("orchestrator") == "processing"
    stage.speak()
    assert stage.view("orchestrator") == "speaking"


@pytest.mark.req("T-01")
@pytest.mark.parametrize("confirmed_after_ms", [0, 1, 30, 50])
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
def test_interrupted_lasts_50_ms_on_a_line_that_stops_in_time(name: str, confirmed_after_ms: int) -> None:
    stage = speaking(name)
    stage.begin_talking()
    if name != "immediate":
        stage.happen(ev.OverlapJudged, bid=True)
    stage.wait(confirmed_after_ms)
    stage.happen(ev.PlaybackStopped, heard_ms=640)
    stage.wait(1_000)
    assert spent_ms(stage, "interrupted") == [50]
    assert visits(stage)[-3:] == ["speaking", "interrupted", "listening"]


@pytest.mark.req("T-01")
def test_interrupted_lasts_until_a_slow_line_confirms_its_silence() -> None:
    stage = speaking()
    stage.interrupt()
    stage.wait(180)
    stage.happen(ev.PlaybackStopped, heard_ms=640)
    assert spent_ms(stage, "interrupted") == [180]


@pytest.mark.req("T-01")
def test_interrupted_lasts_at_most_400_ms() -> None:
    stage = speaking()
    stage.interrupt()
    stage.wait(5_000)
    assert spent_ms(stage, "interrupted") == [400]


@pytest.mark.req("T-01")
def test_interrupted_lasts_as_long_as_its_setting_says() -> None:
    stage = Stage(profile("immediate", dead_air_ms=0, breath_ms=80))
    stage.start()
    stage.say()
    stage.think()
    stage.speak(200)
    stage.begin_talking()
    stage.happen(ev.PlaybackStopped, heard_ms=200)
    stage.wait(1_000)
    assert spent_ms(stage, "interrupted") == [80]


@pytest.mark.req("T-01", "M-21")
def test_a_held_sound_is_still_speaking() -> None:
    stage = speaking()
    stage.cough(200)
    assert stage.state.voice is Voice.HELD
    assert stage.view("orchestrator") == "speaking"
    stage.wait(500)
    assert stage.state.voice is Voice.PLAYING
    assert visits(stage)[-1:] == ["speaking"]
    assert spent_ms(stage, "interrupted") == []


@pytest.mark.req("T-01")
def test_a_call_is_processing_until_its_output_is_answered() -> None:
    stage = up()
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.wait(5_000)
    assert stage.view("orchestrator") == "processing"
    stage.happen(ev.JobFinished)
    stage.answer()
    assert visits(stage) == ["idle", "listening", "processing", "speaking", "listening"]


@pytest.mark.req("T-01")
def test_a_job_in_the_background_leaves_the_floor_open() -> None:
    stage = up()
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(1)
    stage.answer()
    assert len(stage.state.jobs) == 1
    assert stage.view("orchestrator") == "listening"


@pytest.mark.req("T-01")
@pytest.mark.parametrize(
    ("pause", "over"),
    [(ev.SuspendRequested, ev.ResumeRequested), (ev.LinkWobbled, ev.LinkHealed)],
)
@pytest.mark.parametrize("scene", [up, speaking])
def test_a_pause_shows_what_is_underneath(
    scene: Callable[[], Stage], pause: type[ev.Event], over: type[ev.Event]
) -> None:
    stage = scene()
    seen = visits(stage)
    stage.happen(pause)
    assert stage.state.link is not Link.UP
    stage.wait(500)
    stage.happen(over)
    assert visits(stage) == seen


def _loses_its_line(stage: Stage) -> None:
    stage.happen(ev.LinkClosed)


def _fails(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.VOICE, error=ErrorClass.UNKNOWN)


def _is_ended(stage: Stage) -> None:
    stage.happen(ev.EndRequested)


@pytest.mark.req("T-01")
@pytest.mark.parametrize("end", [_loses_its_line, _fails, _is_ended])
def test_without_a_healthy_line_it_is_idle(end: Callable[[Stage], None]) -> None:
    stage = speaking()
    end(stage)
    assert stage.view("orchestrator") == "idle"


@pytest.mark.req("T-01")
def test_a_line_that_is_back_goes_on_with_the_work_that_still_runs() -> None:
    stage = up()
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    assert visits(stage)[-3:] == ["processing", "idle", "processing"]


@pytest.mark.req("T-01")
def test_every_move_of_an_eventful_conversation_is_one_of_its_table() -> None:
    stage = speaking()
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(300)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(4, final=True)
    stage.happen(ev.TurnEnded)
    stage.think()
    stage.call_tool()
    stage.speak(400)
    stage.finish()
    stage.say()
    stage.happen(ev.JobFinished)
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    stage.answer()
    stage.say()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    stage.answer()
    stage.happen(ev.EndRequested)
    moves = list(pairwise(visits(stage)))
    assert set(moves) <= ORCHESTRATOR.allowed()
    assert {state for move in moves for state in move} == set(ORCHESTRATOR.states)
    assert len(stage.effects(fx.StartPlayback)) == 4
