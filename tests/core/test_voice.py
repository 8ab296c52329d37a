"""The agent's sound: long speech, stalls, overlaps, holding, and how fast it stops."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import (
    LIVE,
    Ask,
    Cue,
    ErrorClass,
    FaultSource,
    Timer,
    Voice,
)
from duologue.core.views import VIEWS
from tests.core.scenes import due, fall_silent, requests, speaking, up, when

# -- M-06: long speech and stalls


@pytest.mark.req("M-06", "L-05")
def test_120_s_of_speech_only_warn_once() -> None:
    stage = speaking(heard_ms=0)
    began_at = stage.at
    stage.play(240_000)
    assert when(stage, fx.WarnLongSpeech) == [began_at + 120_000]
    assert stage.effects(fx.WarnLongSpeech) == [fx.WarnLongSpeech(1)]
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("M-06")
def test_8_s_without_progress_end_the_sound_with_a_fault() -> None:
    stage = speaking(heard_ms=800)
    stage.wait(7_999)
    assert stage.state.voice is Voice.PLAYING
    stage.wait(1)
    assert stage.records[-1].effects == (
        fx.ShowFault(FaultSource.VOICE, ErrorClass.NETWORK_TIMEOUT, fatal=False),
        fx.PlayCue(Cue.BROKEN_OFF),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 800),
    )


@pytest.mark.req("M-06")
def test_progress_and_only_progress_postpones_the_stall() -> None:
    stage = speaking(heard_ms=0)
    stage.wait(3_000)
    stage.happen(ev.PlaybackProgressed, heard_ms=200)
    assert due(stage, Timer.STALL) == stage.at + 8_000
    stall_due = due(stage, Timer.STALL)
    stage.wait(1_000)
    stage.happen(ev.PlaybackProgressed, heard_ms=200)
    assert due(stage, Timer.STALL) == stall_due


# -- M-14: overlap


@pytest.mark.req("M-14")
def test_an_overlap_without_a_verdict_resumes_after_1500_ms() -> None:
    stage = speaking()
    stage.begin_talking()
    held_at = stage.at
    stage.wait(1_499)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert when(stage, fx.ResumePlayback) == [held_at + 1_500]
    assert stage.effects(fx.ResumePlayback) == [fx.ResumePlayback(1)]
    assert stage.effects(fx.CancelReply) == []


@pytest.mark.req("M-14")
def test_an_overlap_whose_sound_has_ended_resumes_500_ms_later() -> None:
    stage = speaking()
    stage.cough(300)
    quiet_at = stage.at
    stage.wait(500)
    assert when(stage, fx.ResumePlayback) == [quiet_at + 500]


@pytest.mark.req("M-14")
def test_a_sound_that_begins_again_gets_the_whole_overlap_for_its_verdict() -> None:
    stage = speaking()
    held_at = stage.at
    stage.cough(200)
    stage.wait(300)
    stage.begin_talking()
    stage.wait(held_at + 1_499 - stage.at)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert when(stage, fx.ResumePlayback) == [held_at + 1_500]


@pytest.mark.req("M-14")
def test_silence_never_makes_an_overlap_longer() -> None:
    stage = speaking()
    stage.cough(1_300)
    stage.wait(200)
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("M-14")
def test_later_words_still_interrupt_after_the_sound_resumed() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(1_500)
    stage.hear_words(2)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-14")
def test_a_verdict_against_the_bid_resumes_at_once() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(100)
    assert stage.happen(ev.OverlapJudged, bid=False) == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14")
def test_noise_that_comes_and_goes_can_not_hold_the_sound_for_long() -> None:
    stage = speaking()
    held_at = stage.at
    for _ in range(30):
        stage.begin_talking()
        stage.wait(200)
        stage.happen(ev.SpeechStopped)
        stage.wait(200)
    assert when(stage, fx.ResumePlayback)
    assert when(stage, fx.ResumePlayback)[0] - held_at <= 2 * stage.settings.overlap_ms_max


@pytest.mark.req("M-14", "V-04")
def test_an_overlap_judged_a_bid_after_its_endpoint_is_asked_as_the_next_turn() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.hear_words(2, final=True)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))
    fall_silent(stage, heard_ms=700)
    stage.wait(1)
    assert requests(stage) == [(1, 1), (2, 2)]


@pytest.mark.req("M-14", "M-09")
def test_a_bid_does_not_bring_back_an_older_word_that_was_overheard() -> None:
    stage = speaking(name="words")
    stage.begin_talking()
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.RecordOverheard) == [fx.RecordOverheard(2)]
    stage.play(2_000)
    stage.begin_talking()
    stage.wait(900)
    stage.happen(ev.OverlapJudged, bid=True)
    fall_silent(stage, heard_ms=3_000)
    stage.happen(ev.SpeechStopped)
    stage.wait(5_000)
    assert stage.effects(fx.StartReply)[1:] == [fx.StartReply(3, 2, 1, Ask.OFFER)]  # about no turn


@pytest.mark.req("M-14")
def test_in_immediate_the_onset_is_the_verdict() -> None:
    stage = speaking(name="immediate")
    assert stage.happen(ev.SpeechStarted) == (fx.StopPlayback(1), fx.CancelReply(1))


# -- M-21: holding and how fast


@pytest.mark.req("M-21")
def test_in_confirm_the_onset_holds_in_its_own_step() -> None:
    stage = speaking()
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)


@pytest.mark.req("M-21")
def test_in_words_the_sound_plays_on_until_the_verdict() -> None:
    stage = speaking(name="words")
    assert stage.happen(ev.SpeechStarted) == ()
    stage.hear_words(2)
    assert stage.state.voice is Voice.PLAYING
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-21")
def test_held_shows_as_speaking_in_every_view() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.state.voice is Voice.HELD
    assert {name: view.see(stage.state) for name, view in VIEWS.items()} == {
        "lifecycle": "speaking",
        "conversation": "speaking",
        "orchestrator": "speaking",
        "phone": "agent_speaking",
    }


@pytest.mark.req("M-21", "C-REQ-007", "C-PER-002", "C-AC-004")
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
@pytest.mark.parametrize("confirmed_after_ms", [0, 49, 50, 51, 399, None])
def test_from_the_verdict_it_is_interrupted_at_once_and_listening_within_400_ms(
    name: str, confirmed_after_ms: int | None
) -> None:
    stage = speaking(name=name)
    verdict_at = stage.at
    if name == "immediate":
        stage.begin_talking()
    else:
        stage.interrupt()
        verdict_at += 200
    assert stage.view("conversation") == "interrupted"
    assert when(stage, fx.StopPlayback) == [verdict_at]
    if confirmed_after_ms is not None:
        stage.wait(confirmed_after_ms)
        stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(verdict_at + 400 - stage.at)
    assert stage.view("conversation") == "listening"
    latest = 400 if confirmed_after_ms is None else max(50, confirmed_after_ms)
    assert when(stage, fx.TruncateReply) == [verdict_at + latest]


@pytest.mark.req("M-21")
def test_a_held_sound_is_not_played_while_the_session_is_paused_and_resumes_with_the_verdict() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.happen(ev.SuspendRequested) == ()
    assert stage.happen(ev.OverlapJudged, bid=False) == ()
    assert stage.state.link in LIVE
    assert stage.happen(ev.ResumeRequested) == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14", "V-07")
def test_a_check_in_is_held_like_any_other_sound() -> None:
    stage = up(dead_air_ms=5_000)
    stage.wait(5_000)
    stage.think()
    stage.speak(200)
    assert stage.state.ask is Ask.CHECK_IN
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)
