"""The lifecycle view, the eight states of a voice session, with exact milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Cue, ErrorClass, FaultSource, Link, Timer
from duologue.core.settings import profile
from duologue.core.views import LIFECYCLE
from duologue.lab.sim.stage import Stage

ASKED_AT = 1150  # when a turn of `Stage.say` that began at 0 is complete
SOUND_AT = 1450  # when its answer could begin to sound, after `Stage.think`


def up() -> Stage:
    stage = Stage(profile("confirm", dead_air_ms=0))
    stage.start()
    return stage


def idle() -> Stage:
    return up()


def listening() -> Stage:
    stage = up()
    stage.begin_talking()
    return stage


def processing() -> Stage:
    stage = up()
    stage.say()
    return stage


def speaking() -> Stage:
    stage = processing()
    stage.think()
    stage.speak()
    return stage


def tool_executing() -> Stage:
    stage = processing()
    stage.think()
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    return stage


def waiting_amplifier() -> Stage:
    stage = tool_executing()
    stage.happen(ev.CallDelegated)
    return stage


def error() -> Stage:
    stage = up()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    return stage


def reconnecting() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    return stage


SCENES = (idle, listening, processing, speaking, tool_executing, waiting_amplifier, error, reconnecting)
Scene = Callable[[], Stage]


def is_honest(stage: Stage) -> bool:
    return set(pairwise(stage.views("lifecycle"))) <= LIFECYCLE.allowed()


# -- The eight states


@pytest.mark.req("L-01")
def test_the_lifecycle_has_the_eight_states_of_its_source() -> None:
    assert set(LIFECYCLE.states) == {scene.__name__ for scene in SCENES}
    assert len(LIFECYCLE.states) == 8


@pytest.mark.req("L-01")
@pytest.mark.parametrize("scene", SCENES)
def test_each_state_can_be_observed_and_is_reached_by_allowed_moves(scene: Scene) -> None:
    stage = scene()
    assert stage.view("lifecycle") == scene.__name__
    assert is_honest(stage)


@pytest.mark.req("L-01")
def test_a_turn_and_its_answer_go_once_round_the_lifecycle() -> None:
    stage = up()
    stage.say()
    stage.answer()
    assert stage.views("lifecycle") == ["idle", "listening", "processing", "speaking", "idle"]


@pytest.mark.req("L-01")
def test_preparing_and_terminating_show_as_idle() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    assert (stage.state.link, stage.view("lifecycle")) == (Link.PREPARING, "idle")
    stage.happen(ev.EndRequested)
    assert (stage.state.link, stage.view("lifecycle")) == (Link.TERMINATING, "idle")


@pytest.mark.req("L-01")
def test_a_pause_shows_what_is_underneath_it() -> None:
    stage = speaking()
    stage.happen(ev.SuspendRequested)
    assert stage.view("lifecycle") == "speaking"


@pytest.mark.req("L-01")
def test_a_tool_that_outlives_a_delegated_job_is_an_allowed_move() -> None:
    stage = processing()
    stage.think()
    job = stage.call_tool()
    stage.happen(ev.CallDelegated, call=job)
    stage.call_tool()
    stage.happen(ev.JobFinished, call=job)
    assert stage.views("lifecycle")[-2:] == ["waiting_amplifier", "tool_executing"]
    assert is_honest(stage)


# -- Beginning to listen


@pytest.mark.req("L-02")
@pytest.mark.parametrize("onset", [ev.SpeechStarted, ev.PttPressed])
def test_a_sound_or_a_press_begins_to_listen(onset: type[ev.Event]) -> None:
    stage = up()
    assert stage.happen(onset) == (fx.StopCue(),)
    assert stage.views("lifecycle") == ["idle", "listening"]
    assert stage.state.turn == 1


@pytest.mark.req("L-02")
def test_a_press_while_the_voice_is_already_heard_begins_no_second_turn() -> None:
    stage = listening()
    stage.happen(ev.PttPressed)
    assert stage.state.turn == 1


# -- Having listened


@pytest.mark.req("L-03.ends")
@pytest.mark.parametrize("ending", [ev.SpeechStopped, ev.PttReleased, ev.SendPressed])
def test_silence_a_release_and_send_end_the_listening(ending: type[ev.Event]) -> None:
    stage = listening()
    stage.wait(700)
    stage.happen(ending)
    assert stage.views("lifecycle") == ["idle", "listening", "processing"]


@pytest.mark.req("L-03.commits", "H-07.floor")
def test_thirty_seconds_commit_the_audio_and_listening_goes_on() -> None:
    stage = listening()
    stage.wait(29_999)
    assert stage.effects(fx.CommitAudio) == []
    stage.wait(1)
    assert stage.records[-1].effects == (fx.CommitAudio(1),)
    assert stage.view("lifecycle") == "listening"


@pytest.mark.req("L-03.ends", "L-03.commits", "H-07.floor")
def test_listening_ends_after_ten_minutes_and_not_a_millisecond_before() -> None:
    stage = listening()
    stage.wait(599_999)
    assert stage.view("lifecycle") == "listening"
    stage.wait(1)
    assert stage.view("lifecycle") == "processing"
    assert stage.records[-1].effects == (fx.CommitAudio(1), fx.WarnLongTalk(1))


@pytest.mark.req("L-03.commits")
@pytest.mark.parametrize("ending", [ev.PttReleased, ev.SendPressed, ev.TurnEnded])
def test_a_turn_without_its_text_commits_its_audio_once(ending: type[ev.Event]) -> None:
    stage = listening()
    stage.wait(700)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ending) == (fx.CommitAudio(1),)
    stage.wait(100)
    assert stage.hear_words(3, final=True) == (fx.StartReply(1, 1, 1),)


@pytest.mark.req("L-03.commits")
@pytest.mark.parametrize("ending", [ev.PttReleased, ev.SendPressed, ev.TurnEnded])
def test_a_turn_with_its_text_commits_its_audio_and_is_asked_in_the_same_step(ending: type[ev.Event]) -> None:
    stage = listening()
    stage.wait(700)
    stage.hear_words(3, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ending) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("L-03")
def test_a_cough_on_an_open_floor_is_forgotten_after_six_hundred_milliseconds() -> None:
    stage = up()
    stage.cough()
    stage.wait(599)
    assert stage.view("lifecycle") == "processing"
    stage.wait(1)
    assert stage.views("lifecycle") == ["idle", "listening", "processing", "idle"]
    assert stage.records[-1].effects == (fx.DiscardAudio(1),)
    assert stage.effects(fx.StartReply) == []


@pytest.mark.req("L-03")
def test_words_whose_endpoint_never_comes_are_asked_by_deadline() -> None:
    stage = listening()
    stage.hear_words(3)
    stage.happen(ev.SpeechStopped)
    assert stage.wait_for(Timer.SETTLE) == (fx.CommitAudio(1),)
    assert stage.at == 3_000
    assert stage.wait_for(Timer.TEXT) == (fx.StartReply(1, 1, 1),)
    assert stage.at == 4_500


@pytest.mark.req("L-03")
def test_typing_while_speaking_commits_what_was_spoken() -> None:
    stage = listening()
    stage.wait(500)
    stage.hear_words(3)
    stage.happen(ev.TextTyped)
    assert stage.effects(fx.CommitAudio) == [fx.CommitAudio(1)]


@pytest.mark.req("L-03", "M-13")
def test_words_that_come_after_the_silence_get_the_endpoint_of_a_turn_with_words() -> None:
    stage = listening()
    stage.wait(500)
    stage.happen(ev.SpeechStopped)
    stage.wait(300)
    stage.hear_words(2)
    stage.wait(stage.settings.noise_ms_max)
    assert stage.effects(fx.CommitAudio) == []


# -- Processing


@pytest.mark.req("L-04")
def test_the_first_audio_speaks() -> None:
    stage = processing()
    stage.think()
    assert stage.speak() == (fx.StartPlayback(1, 1),)
    assert stage.views("lifecycle")[-2:] == ["processing", "speaking"]


@pytest.mark.req("L-04")
def test_a_function_call_executes_a_tool() -> None:
    stage = processing()
    stage.think()
    assert stage.happen(ev.ToolCalled, call=1) == (fx.RunCall(1),)
    assert stage.views("lifecycle")[-2:] == ["processing", "tool_executing"]


@pytest.mark.req("L-04")
def test_a_text_answer_goes_back_to_idle_and_is_not_asked_again() -> None:
    stage = processing()
    stage.think()
    assert stage.happen(ev.ReplyFinished) == ()
    stage.wait(60_000)
    assert stage.views("lifecycle")[-2:] == ["processing", "idle"]
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-04")
def test_a_person_who_goes_on_takes_the_answer_back_and_is_listened_to() -> None:
    stage = processing()
    stage.think()
    stage.begin_talking()
    assert stage.hear_words(2) == (fx.CancelReply(1),)
    assert stage.views("lifecycle")[-2:] == ["processing", "listening"]


@pytest.mark.req("L-04")
def test_what_the_person_added_is_asked_together_with_what_was_said_before() -> None:
    stage = processing()
    stage.think()
    stage.say()
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1), fx.StartReply(3, 1, 2)]


@pytest.mark.req("L-04")
def test_a_cough_never_costs_an_answer_that_is_on_its_way() -> None:
    stage = processing()
    stage.cough()
    stage.think()
    assert stage.speak() == ()
    assert stage.wait_for(Timer.SETTLE) == (fx.DiscardAudio(2), fx.StartPlayback(1, 1))
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-04")
def test_an_error_of_the_brain_is_an_error() -> None:
    stage = processing()
    effects = stage.fail_reply(ErrorClass.UNKNOWN)
    assert effects == (
        fx.ShowFault(FaultSource.BRAIN, ErrorClass.UNKNOWN, fatal=False),
        fx.ReportLost(1, 1),
        fx.PlayCue(Cue.APOLOGY),
        fx.CancelReply(1),
    )
    assert stage.views("lifecycle")[-2:] == ["processing", "error"]


@pytest.mark.req("L-04")
def test_a_thought_without_sound_times_out_after_thirty_seconds_exactly() -> None:
    stage = processing()
    stage.think()
    stage.wait(ASKED_AT + 29_999 - stage.at)
    assert stage.view("lifecycle") == "processing"
    stage.wait(1)
    assert stage.view("lifecycle") == "error"
    shown = fx.ShowFault(FaultSource.BRAIN, ErrorClass.NETWORK_TIMEOUT, fatal=False)
    assert (shown, fx.CancelReply(1)) in [record.effects for record in stage.records[-2:]], "a cue may be due then too"


@pytest.mark.req("L-04", "M-01")
def test_thirty_seconds_hold_over_all_retries() -> None:
    stage = processing()
    stage.wait(29_999)
    assert stage.view("lifecycle") == "processing"
    assert len(stage.effects(fx.StartReply)) == 3  # at 0, 9 and 19 s; the fourth would be at 31 s
    stage.wait(1)
    assert stage.view("lifecycle") == "error"


@pytest.mark.req("L-04", "M-01")
def test_the_first_audio_ends_the_thirty_seconds() -> None:
    stage = speaking()
    stage.play(40_000)
    assert stage.view("lifecycle") == "speaking"


# -- Speaking


@pytest.mark.req("L-05")
def test_playback_to_its_end_goes_back_to_idle() -> None:
    stage = speaking()
    stage.play(1_000)
    assert stage.finish() == ()
    assert stage.views("lifecycle")[-2:] == ["speaking", "idle"]


@pytest.mark.req("L-05")
def test_a_call_in_mid_reply_is_seen_once_the_sound_has_ended() -> None:
    stage = speaking()
    stage.play(400)
    assert stage.happen(ev.ToolCalled, call=1) == (fx.RunCall(1),)
    assert stage.view("lifecycle") == "speaking"
    stage.finish()
    assert stage.views("lifecycle")[-2:] == ["speaking", "tool_executing"]


@pytest.mark.req("L-05")
def test_an_interruption_goes_to_listening() -> None:
    stage = speaking()
    stage.play(400)
    stage.interrupt()
    assert stage.views("lifecycle")[-2:] == ["speaking", "listening"]


@pytest.mark.req("L-05")
def test_a_failed_playback_is_an_error() -> None:
    stage = speaking()
    stage.play(400)
    assert stage.happen(ev.PlaybackFailed, error=ErrorClass.SERVER_ERROR) == (
        fx.ShowFault(FaultSource.VOICE, ErrorClass.SERVER_ERROR, fatal=False),
        fx.PlayCue(Cue.BROKEN_OFF),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )
    assert stage.views("lifecycle")[-2:] == ["speaking", "error"]


@pytest.mark.req("L-05", "M-06")
def test_two_minutes_of_speech_only_warn() -> None:
    stage = speaking()
    stage.play(119_800)
    assert stage.effects(fx.WarnLongSpeech) == []
    stage.play(200)
    assert stage.effects(fx.WarnLongSpeech) == [fx.WarnLongSpeech(1)]
    assert [record.event.at for record in stage.records if record.effects == (fx.WarnLongSpeech(1),)] == [
        SOUND_AT + 120_000
    ]
    stage.play(120_000)
    assert stage.view("lifecycle") == "speaking"
    assert len(stage.effects(fx.WarnLongSpeech)) == 1


@pytest.mark.req("L-05")
def test_a_buffer_underrun_pauses_and_goes_on() -> None:
    stage = speaking()
    stage.play(400)
    stage.wait(7_799)
    stage.play(400)
    stage.finish()
    assert stage.views("lifecycle")[-2:] == ["speaking", "idle"]


@pytest.mark.req("L-05", "M-06")
def test_a_sound_that_stalls_for_eight_seconds_is_an_error() -> None:
    stage = speaking()
    stage.play(400)
    stage.wait(7_999)
    assert stage.view("lifecycle") == "speaking"
    stage.wait(1)
    assert stage.view("lifecycle") == "error"
    shown = fx.ShowFault(FaultSource.VOICE, ErrorClass.NETWORK_TIMEOUT, fatal=False)
    assert stage.records[-1].effects == (
        shown,
        fx.PlayCue(Cue.BROKEN_OFF),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )


# -- From anywhere

LIVE_SCENES = (idle, listening, processing, speaking, tool_executing, waiting_amplifier)


@pytest.mark.req("L-19")
@pytest.mark.parametrize("scene", LIVE_SCENES)
def test_a_failed_service_leads_to_error_from_anywhere(scene: Scene) -> None:
    stage = scene()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    assert stage.view("lifecycle") == "error"
    assert stage.effects(fx.ShowFault) == [fx.ShowFault(FaultSource.EARS, ErrorClass.UNKNOWN, fatal=False)]


@pytest.mark.req("L-19")
@pytest.mark.parametrize("scene", [*LIVE_SCENES, error])
def test_a_closed_line_leads_to_reconnecting_from_anywhere(scene: Scene) -> None:
    stage = scene()
    stage.happen(ev.LinkClosed)
    assert stage.view("lifecycle") == "reconnecting"
    assert stage.effects(fx.SaveContext) == [fx.SaveContext()]


@pytest.mark.req("L-19")
def test_reconnecting_in_vain_leads_to_error() -> None:
    stage = reconnecting()
    stage.wait_for(Timer.RECONNECT)
    assert stage.views("lifecycle")[-2:] == ["reconnecting", "error"]


@pytest.mark.req("L-19")
@pytest.mark.parametrize("scene", SCENES)
def test_the_person_can_end_it_from_anywhere(scene: Scene) -> None:
    stage = scene()
    session = stage.state.session_id
    assert fx.CloseSession(session) in stage.happen(ev.EndRequested)
    assert (stage.state.link, stage.view("lifecycle")) == (Link.TERMINATING, "idle")
    stage.wait(1_000)
    assert stage.state.link is Link.IDLE


@pytest.mark.req("L-19")
def test_an_end_in_mid_sentence_leaves_nothing_behind() -> None:
    stage = speaking()
    stage.play(400)
    assert stage.happen(ev.EndRequested) == (
        fx.CloseSession(1),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )


@pytest.mark.req("L-19", "M-18")
def test_an_end_before_the_answer_reports_the_turn_as_lost() -> None:
    stage = processing()
    assert stage.happen(ev.EndRequested) == (fx.CloseSession(1), fx.CancelReply(1), fx.ReportLost(1, 1))
