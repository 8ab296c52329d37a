"""What happens when the person makes a sound while the agent speaks: hold, verdict, stop, truncate."""

from __future__ import annotations

from itertools import pairwise

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Link, Timer, User, Voice
from duologue.core.settings import PROFILES, profile
from duologue.core.views import CONVERSATION
from duologue.lab.sim.stage import Stage

HEARD_MS = 1_000
SPOKEN_AT = 2_450  # when the agent of `speaking` has been heard for a second


def speaking(name: str = "confirm", for_ms: int = HEARD_MS) -> Stage:
    """Turn 1 is being answered by reply 1, whose sound is voice 1."""
    stage = Stage(profile(name, greets=False, dead_air_ms=0))
    stage.start()
    stage.say()
    stage.think()
    stage.speak(for_ms)
    return stage


def interrupted(name: str = "confirm") -> Stage:
    stage = speaking(name)
    stage.interrupt()
    return stage


# -- The onset


@pytest.mark.req("L-06", "C-REQ-007", "M-21")
def test_in_confirm_the_onset_holds_playback_in_the_same_step() -> None:
    stage = speaking()
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)
    assert (stage.state.voice, stage.state.at) == (Voice.HELD, SPOKEN_AT)


@pytest.mark.req("M-21")
def test_held_sound_shows_as_speaking_in_every_view() -> None:
    stage = speaking()
    stage.begin_talking()
    seen = {name: stage.view(name) for name in ("lifecycle", "conversation", "orchestrator", "phone")}
    assert seen == {
        "lifecycle": "speaking",
        "conversation": "speaking",
        "orchestrator": "speaking",
        "phone": "agent_speaking",
    }


@pytest.mark.req("C-REQ-007", "C-AC-004", "M-14", "M-21")
def test_in_immediate_the_onset_is_the_interruption() -> None:
    stage = speaking("immediate")
    assert stage.happen(ev.SpeechStarted) == (fx.StopPlayback(1), fx.CancelReply(1))
    assert stage.view("conversation") == "interrupted"


@pytest.mark.req("M-14", "M-21")
def test_in_words_the_sound_plays_on_until_the_verdict() -> None:
    stage = speaking("words")
    assert stage.happen(ev.SpeechStarted) == ()
    stage.play(1_600)
    assert stage.state.voice is Voice.PLAYING
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


# -- The verdict


@pytest.mark.req("M-14")
def test_the_verdict_no_resumes_from_the_held_sample() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(300)
    assert stage.happen(ev.OverlapJudged, bid=False) == (fx.ResumePlayback(1),)
    assert (stage.state.voice, stage.state.voice_id, stage.state.heard_ms) == (Voice.PLAYING, 1, HEARD_MS)


@pytest.mark.req("M-14")
def test_a_resumed_sound_plays_to_its_end_as_one_answer() -> None:
    stage = speaking()
    stage.cough()
    stage.happen(ev.OverlapJudged, bid=False)
    stage.play(400)
    stage.finish()
    assert stage.effects(fx.StartPlayback) == [fx.StartPlayback(1, 1)]
    assert stage.effects(fx.TruncateReply) == []
    assert stage.state.answered == 1


@pytest.mark.req("L-06", "C-REQ-007")
def test_the_verdict_yes_stops_the_sound_and_cancels_the_reply_in_the_same_step() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(200)
    stage.hear_words(2)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-14")
def test_an_unjudged_overlap_resumes_after_a_second_and_a_half_exactly() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(1_499)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert stage.records[-1].effects == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14")
def test_silence_alone_does_not_resume() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(200)
    assert stage.happen(ev.SpeechStopped) == ()
    assert stage.state.voice is Voice.HELD


@pytest.mark.req("M-14")
def test_silence_brings_the_end_of_the_overlap_to_half_a_second() -> None:
    stage = speaking()
    stage.cough(200)
    stage.wait(499)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert stage.records[-1].effects == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14")
def test_late_silence_never_makes_the_overlap_longer() -> None:
    stage = speaking()
    stage.cough(1_400)
    stage.wait(99)
    assert stage.state.voice is Voice.HELD
    stage.wait(1)
    assert stage.records[-1].effects == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14", "M-21")
def test_a_sound_that_begins_again_is_not_spoken_over_after_half_a_second() -> None:
    stage = speaking()
    stage.cough(200)
    stage.wait(400)
    stage.begin_talking()
    stage.wait(100)
    assert stage.effects(fx.ResumePlayback) == []


@pytest.mark.req("M-14")
def test_a_sound_on_and_off_is_not_held_for_longer_than_a_second_and_a_half_in_all() -> None:
    stage = speaking()
    for _ in range(4):
        stage.cough(200)
        stage.wait(170)
    assert stage.state.voice is Voice.HELD
    stage.begin_talking()
    stage.wait(20)
    assert stage.records[-1].effects == (fx.ResumePlayback(1),)


@pytest.mark.req("M-14")
def test_later_words_still_interrupt_a_resumed_sound() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait_for(Timer.OVERLAP)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-14")
def test_a_new_onset_holds_a_resumed_sound_again() -> None:
    stage = speaking()
    stage.cough()
    stage.wait(500)
    assert stage.state.voice is Voice.PLAYING
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)


@pytest.mark.req("C-GUD-004")
def test_a_repeated_verdict_does_nothing() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=False)
    verdict = stage.records[-1].event
    after = stage.state
    assert stage.give(verdict) == ()
    assert stage.state is after


@pytest.mark.req("C-GUD-004")
@pytest.mark.parametrize("bid", [True, False])
def test_a_verdict_about_an_earlier_sound_does_nothing(bid: bool) -> None:
    stage = speaking()
    stage.finish()
    stage.say()
    stage.think()
    stage.speak(400)
    stage.begin_talking()
    after = stage.state
    assert after.voice_id == 3  # the id moved on when the first sound was over
    assert stage.happen(ev.OverlapJudged, voice=1, bid=bid) == ()
    assert stage.state is after


@pytest.mark.req("M-14")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("command", [ev.PttPressed, ev.TextTyped, ev.InterruptRequested])
def test_a_press_a_typed_turn_and_a_command_take_the_floor_in_every_profile(name: str, command: type[ev.Event]) -> None:
    stage = speaking(name)
    assert stage.happen(command) == (fx.StopPlayback(1), fx.CancelReply(1))
    assert stage.view("conversation") == "interrupted"


@pytest.mark.req("M-14")
@pytest.mark.parametrize("command", [ev.PttPressed, ev.TextTyped, ev.InterruptRequested])
def test_a_press_a_typed_turn_and_a_command_take_the_floor_from_a_held_sound_too(command: type[ev.Event]) -> None:
    stage = speaking()
    stage.begin_talking()
    stage.happen(command)
    assert stage.effects(fx.StopPlayback) == [fx.StopPlayback(1)]
    assert stage.effects(fx.CancelReply) == [fx.CancelReply(1)]
    assert stage.view("conversation") == "interrupted"


@pytest.mark.req("L-05")
def test_a_held_sound_is_warned_of_like_one_that_plays() -> None:
    stage = speaking(for_ms=119_800)
    stage.begin_talking()
    assert stage.wait_for(Timer.LONG_SPEECH) == (fx.WarnLongSpeech(1),)
    assert stage.state.voice is Voice.HELD


# -- Silence


@pytest.mark.req("C-PER-002", "C-AC-004")
def test_a_stop_that_is_confirmed_at_once_is_silent_after_fifty_milliseconds() -> None:
    stage = interrupted()
    assert stage.happen(ev.PlaybackStopped, heard_ms=HEARD_MS) == ()
    stage.wait(49)
    assert stage.view("conversation") == "interrupted"
    stage.wait(1)
    assert stage.records[-1].effects == (fx.TruncateReply(1, HEARD_MS),)
    assert stage.view("conversation") == "listening"


@pytest.mark.req("C-PER-002", "C-AC-004")
def test_a_stop_that_is_confirmed_later_is_silent_in_that_step() -> None:
    stage = interrupted()
    stage.wait(51)
    assert stage.view("conversation") == "interrupted"
    assert stage.happen(ev.PlaybackStopped, heard_ms=HEARD_MS) == (fx.TruncateReply(1, HEARD_MS),)
    assert stage.view("conversation") == "listening"


@pytest.mark.req("C-PER-002", "C-AC-004")
@pytest.mark.parametrize("name", PROFILES)
def test_a_stop_that_is_never_confirmed_is_silent_after_four_hundred_milliseconds(name: str) -> None:
    stage = speaking(name)
    stage.happen(ev.SpeechStarted)
    if name != "immediate":
        stage.happen(ev.OverlapJudged, bid=True)
    stage.wait(399)
    assert stage.view("conversation") == "interrupted"
    stage.wait(1)
    assert stage.records[-1].effects == (fx.TruncateReply(1, HEARD_MS),)
    assert stage.view("conversation") == "listening"


@pytest.mark.req("C-PER-002")
def test_a_stop_that_is_confirmed_before_the_breath_ends_with_the_breath_not_with_the_limit() -> None:
    stage = interrupted()
    stage.wait(20)
    stage.happen(ev.PlaybackStopped, heard_ms=HEARD_MS)
    stage.wait_for(Timer.BREATH)
    assert stage.at == SPOKEN_AT + 200 + 50


@pytest.mark.req("C-AC-004", "C-REQ-007")
def test_an_interruption_goes_by_interrupted_to_listening() -> None:
    stage = interrupted()
    stage.happen(ev.PlaybackStopped, heard_ms=HEARD_MS)
    stage.wait(50)
    assert stage.views("conversation")[-3:] == ["speaking", "interrupted", "listening"]
    assert set(pairwise(stage.views("conversation"))) <= CONVERSATION.allowed()


@pytest.mark.req("C-AC-004")
@pytest.mark.parametrize("ending", [ev.PlaybackFinished, ev.PlaybackStopped])
def test_a_sound_that_ends_by_itself_while_stopping_counts_as_stopped(ending: type[ev.Event]) -> None:
    stage = interrupted()
    stage.wait(60)
    assert stage.happen(ending, heard_ms=HEARD_MS) == (fx.TruncateReply(1, HEARD_MS),)


@pytest.mark.req("C-AC-004")
def test_the_next_answer_does_not_sound_before_the_last_one_is_silent() -> None:
    stage = speaking()
    stage.happen(ev.TextTyped)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]
    stage.wait_for(Timer.STOP)
    stage.wait(1)
    stage.speak()
    sounds = [e for m in stage.records for e in m.effects if isinstance(e, fx.StartPlayback | fx.StopPlayback)]
    assert sounds == [fx.StartPlayback(1, 1), fx.StopPlayback(1), fx.StartPlayback(3, 3)]


# -- What was heard


@pytest.mark.req("L-06")
def test_the_history_is_cut_at_exactly_what_was_heard() -> None:
    stage = interrupted()
    stage.wait(400)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, HEARD_MS)]


@pytest.mark.req("L-06")
def test_the_confirmation_of_the_stop_may_have_heard_more_than_the_last_progress() -> None:
    stage = interrupted()
    stage.happen(ev.PlaybackStopped, heard_ms=1_140)
    stage.wait(400)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 1_140)]


@pytest.mark.req("L-06")
def test_the_confirmation_of_the_stop_never_takes_back_what_was_heard() -> None:
    stage = interrupted()
    stage.happen(ev.PlaybackStopped, heard_ms=900)
    stage.wait(400)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, HEARD_MS)]


@pytest.mark.req("L-06")
def test_progress_that_comes_after_the_stop_still_counts() -> None:
    stage = interrupted()
    stage.happen(ev.PlaybackProgressed, heard_ms=1_060)
    stage.wait(400)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 1_060)]


@pytest.mark.req("L-06")
def test_progress_while_held_counts() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.happen(ev.PlaybackProgressed, heard_ms=1_020)
    stage.happen(ev.OverlapJudged, bid=True)
    stage.wait(400)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 1_020)]


@pytest.mark.req("L-06")
def test_events_about_a_sound_are_stale_once_it_is_silent() -> None:
    stage = interrupted()
    stage.wait(400)
    after = stage.state
    for kind in (ev.PlaybackProgressed, ev.PlaybackStopped, ev.PlaybackFinished):
        assert stage.happen(kind, voice=1, heard_ms=5_000) == ()
    assert stage.state is after


@pytest.mark.req("L-06")
@pytest.mark.parametrize("kind", [ev.TokenArrived, ev.AudioBuffered, ev.ReplyFinished])
def test_nothing_more_is_taken_from_a_reply_once_it_is_cancelled(kind: type[ev.Event]) -> None:
    stage = interrupted()
    after = stage.state
    assert stage.happen(kind, reply=1) == ()
    assert stage.state is after


# -- What is answered next


@pytest.mark.req("L-06", "V-04")
def test_the_whole_utterance_is_answered_and_the_heard_answer_is_not_repeated() -> None:
    stage = interrupted()
    stage.happen(ev.PlaybackStopped, heard_ms=HEARD_MS)
    stage.wait(400)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(6, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 2, 2))


@pytest.mark.req("L-06")
def test_an_answer_of_which_nothing_was_heard_is_owed_again() -> None:
    stage = speaking(for_ms=0)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=0)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    stage.wait(100)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 0)]
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


@pytest.mark.req("L-06")
def test_an_interruption_by_command_wants_no_answer_even_if_nothing_was_heard() -> None:
    stage = speaking(for_ms=0)
    stage.happen(ev.InterruptRequested)
    stage.wait(60_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]
    assert stage.view("conversation") == "listening"


@pytest.mark.req("L-06")
def test_a_command_while_the_sound_is_stopping_also_wants_no_answer() -> None:
    stage = speaking("immediate", for_ms=0)
    stage.begin_talking()
    stage.wait(20)
    stage.happen(ev.InterruptRequested)
    stage.happen(ev.SpeechStopped)
    stage.wait(10_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-06")
def test_a_cough_never_costs_a_reply() -> None:
    stage = speaking()
    stage.cough()
    stage.wait_for(Timer.SETTLE)
    stage.play(1_000)
    stage.finish()
    stage.wait(60_000)
    assert stage.effects(fx.CancelReply) == []
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("M-09")
def test_words_that_are_not_a_bid_are_overheard() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.hear_words(1, substantial=0, final=True)
    stage.happen(ev.OverlapJudged, bid=False)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.RecordOverheard(2))
    stage.finish()
    stage.wait(60_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("M-09", "V-06")
def test_a_yes_over_the_last_word_of_a_question_becomes_the_next_turn() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.hear_words(1, substantial=0, final=True)
    stage.finish()
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 2, 2))


@pytest.mark.req("V-04", "M-14")
def test_words_that_interrupt_are_answered_though_their_turn_had_ended_before_the_verdict() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(600)
    stage.happen(ev.SpeechStopped)
    stage.wait(300)
    stage.happen(ev.TurnEnded)
    stage.wait(150)
    stage.hear_words(4, final=True)  # a transcriber without partial results
    stage.happen(ev.OverlapJudged, bid=True)
    stage.wait(1_000)
    assert stage.effects(fx.StartReply)[1:] == [fx.StartReply(3, 2, 2)]


# -- Late text of the question


@pytest.mark.req("M-15")
def test_late_text_of_the_question_starts_over_if_nothing_was_heard() -> None:
    stage = speaking(for_ms=0)
    assert stage.hear_words(5, final=True) == (fx.StopPlayback(1), fx.CancelReply(1))
    stage.happen(ev.PlaybackStopped, heard_ms=0)
    stage.wait(51)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1), fx.StartReply(3, 1, 1)]


@pytest.mark.req("M-15")
def test_late_text_of_the_question_starts_a_held_answer_over_too() -> None:
    stage = speaking(for_ms=0)
    stage.begin_talking()
    assert stage.hear_words(5, turn=1, final=True) == (fx.StopPlayback(1), fx.CancelReply(1))


@pytest.mark.req("M-15")
def test_late_text_of_the_question_is_overheard_once_the_answer_is_heard() -> None:
    stage = speaking()
    assert stage.hear_words(5, final=True) == (fx.RecordOverheard(1),)
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("M-15")
def test_an_answer_that_late_text_stopped_is_asked_again_though_a_little_was_heard() -> None:
    stage = speaking(for_ms=0)
    stage.wait(60)
    stage.hear_words(5, final=True)
    stage.happen(ev.PlaybackStopped, heard_ms=40)
    stage.wait(1_000)
    assert stage.effects(fx.StartReply)[1:] == [fx.StartReply(3, 1, 1)]


@pytest.mark.req("M-15")
def test_late_text_while_the_sound_is_stopping_is_recorded() -> None:
    stage = speaking()
    stage.happen(ev.PttPressed)
    stage.hear_words(5, turn=1, final=True)
    stage.wait(400)
    assert stage.effects(fx.RecordOverheard) == [fx.RecordOverheard(1)]


# -- Again and again


@pytest.mark.req("V-08", "V-05", "C-AC-004")
def test_the_agent_can_be_interrupted_any_number_of_times_and_always_speaks_again() -> None:
    stage = speaking()
    for _ in range(5):
        stage.interrupt()
        stage.happen(ev.PlaybackStopped, heard_ms=stage.state.heard_ms)
        stage.wait(400)
        stage.happen(ev.SpeechStopped)
        stage.hear_words(4, final=True)
        stage.happen(ev.TurnEnded)
        stage.think()
        stage.speak(600)
    stage.finish()
    started = stage.effects(fx.StartPlayback)
    assert len(started) == 6
    assert len({effect.voice for effect in started}) == 6
    assert [(ask.first, ask.last) for ask in stage.effects(fx.StartReply)] == [(n, n) for n in range(1, 7)]
    assert stage.state.answered == 6


@pytest.mark.req("C-REQ-007")
def test_an_interruption_in_a_pause_stops_the_sound_too() -> None:
    stage = speaking()
    stage.happen(ev.SuspendRequested)
    assert stage.happen(ev.InterruptRequested) == (fx.StopPlayback(1), fx.CancelReply(1))
    assert stage.state.link is Link.SUSPENDED


@pytest.mark.req("C-REQ-007")
def test_a_sound_held_for_the_person_stays_held_over_a_pause() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.happen(ev.SuspendRequested) == ()
    assert stage.happen(ev.ResumeRequested) == ()
    assert (stage.state.voice, stage.state.user) == (Voice.HELD, User.TALKING)
