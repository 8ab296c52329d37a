"""A telephone call (profile `words`): who speaks, who may interrupt, and what silence leads to.

What counts as two substantial words is judged by turn-taking; the machine gets the verdict.
"""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, Link, Reply, Timer, User, Voice
from duologue.core.settings import profile
from duologue.core.state import is_at_rest
from duologue.lab.sim.stage import Stage
from tests.core.phone_scenes import DEAD_AIR_MS, Sound, finish_thought, greeted, over_the_agent, speaking
from tests.core.scenes import due, requests, when

# -- V-01: who speaks


# -- V-02: what interrupts


@pytest.mark.req("V-02", "M-21")
def test_the_onset_alone_changes_nothing_in_the_sound() -> None:
    stage = speaking()
    assert stage.happen(ev.SpeechStarted) == ()
    assert stage.state.voice is Voice.PLAYING
    assert stage.effects(fx.HoldPlayback) == []


@pytest.mark.req("V-02")
def test_words_alone_do_not_interrupt_without_a_verdict() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.hear_words(1) == ()
    assert stage.hear_words(5) == ()
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("V-02")
def test_a_verdict_against_the_interruption_lets_the_agent_speak_on() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.hear_words(1)
    assert stage.happen(ev.OverlapJudged, bid=False) == ()
    assert stage.state.voice is Voice.PLAYING
    stage.play(400)
    stage.finish()
    assert stage.effects(fx.TruncateReply) == []


@pytest.mark.req("V-02")
def test_two_words_become_an_interruption_by_the_verdict() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.hear_words(1)
    stage.happen(ev.OverlapJudged, bid=False)
    stage.hear_words(2)
    assert stage.happen(ev.OverlapJudged, bid=True) == (fx.StopPlayback(3), fx.CancelReply(3))
    assert stage.state.voice is Voice.STOPPING


@pytest.mark.req("V-02")
def test_a_single_word_over_the_agent_is_recorded_and_not_answered() -> None:
    stage = speaking()
    over_the_agent(stage)
    stage.play(400)
    stage.finish()
    stage.wait(2_000)
    assert stage.effects(fx.RecordOverheard) == [fx.RecordOverheard(2)]
    assert requests(stage) == [(1, 0), (1, 1)]


# -- V-03: what an interruption does


@pytest.mark.req("V-03")
def test_an_interruption_silences_the_agent_in_the_step_of_the_verdict() -> None:
    stage = speaking()
    assert stage.interrupt() == (fx.StopPlayback(3), fx.CancelReply(3))
    assert stage.view("phone") == "interrupted"
    stage.happen(ev.PlaybackStopped, heard_ms=760)
    stage.wait(50)
    assert stage.view("phone") == "agent_idle"
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(3, 760)]


@pytest.mark.req("V-03")
def test_nothing_of_the_interrupted_reply_is_played_after_the_verdict() -> None:
    stage = speaking()
    stage.interrupt()
    sounds = len(stage.effects(fx.StartPlayback))
    for kind in (ev.AudioBuffered, ev.TokenArrived, ev.ReplyFinished):
        assert stage.happen(kind, reply=3) == ()
    assert stage.happen(ev.OverlapJudged, bid=False) == ()
    stage.wait(5_000)
    assert len(stage.effects(fx.StartPlayback)) == sounds
    assert stage.effects(fx.ResumePlayback) == []


# -- V-04: the whole utterance


@pytest.mark.req("V-04")
def test_the_whole_interrupting_utterance_is_asked_at_its_endpoint() -> None:
    stage = speaking()
    stage.interrupt(words=2)
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    asked = len(requests(stage))
    stage.wait(50)
    assert len(requests(stage)) == asked
    effects = finish_thought(stage, words=12)
    assert effects == (fx.CommitAudio(2), fx.StartReply(stage.state.reply_id, 2, 2))
    assert stage.effects(fx.RecordOverheard) == []


@pytest.mark.req("V-04")
def test_an_utterance_that_ends_before_the_line_is_silent_is_asked_as_soon_as_it_is() -> None:
    stage = speaking()
    stage.interrupt(words=2)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2),)
    stage.wait(30)
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(20)
    silent_at = stage.at
    assert when(stage, fx.TruncateReply) == [silent_at]
    stage.wait(1)
    assert when(stage, fx.StartReply)[-1] == silent_at + 1
    assert requests(stage)[-1] == (2, 2)


@pytest.mark.req("V-04")
@pytest.mark.parametrize("name", ["words", "confirm"])
def test_an_interruption_judged_after_its_endpoint_is_answered_too(name: str) -> None:
    stage = Stage(profile(name))
    stage.start()
    stage.wait(1)
    if stage.state.reply is Reply.COMMITTING:
        stage.answer()
    stage.say()
    stage.think()
    stage.speak(600)
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.wait(200)
    stage.hear_words(2, final=True)  # "stop please": the text of a short utterance comes after it
    stage.happen(ev.OverlapJudged, bid=True)
    stage.happen(ev.PlaybackStopped, heard_ms=600)
    stage.wait(51)
    assert requests(stage)[-1] == (2, 2)


# -- V-05: the next reply always speaks


@pytest.mark.req("V-05")
def test_the_reply_after_an_interruption_speaks() -> None:
    stage = speaking()
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    finish_thought(stage)
    newest = stage.state.reply_id
    stage.think()
    assert stage.speak() == (fx.StartPlayback(stage.state.voice_id, newest),)
    assert stage.view("phone") == "agent_speaking"


@pytest.mark.req("V-05")
def test_the_next_reply_speaks_even_if_the_line_never_confirms_its_silence() -> None:
    stage = speaking()
    stage.interrupt()
    interrupted_at = stage.at
    finish_thought(stage)
    assert when(stage, fx.TruncateReply) == [interrupted_at + 400]
    stage.answer()
    assert len(stage.effects(fx.StartPlayback)) == 3
    assert stage.state.answered == 2


@pytest.mark.req("V-05")
def test_audio_of_the_interrupted_reply_is_dropped_before_and_during_the_next_one() -> None:
    stage = speaking()
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    finish_thought(stage)
    newest = stage.state.reply_id
    assert stage.happen(ev.AudioBuffered, reply=3) == ()
    stage.happen(ev.AudioBuffered, reply=newest)
    voice = stage.state.voice_id
    assert stage.happen(ev.AudioBuffered, reply=3) == ()
    assert stage.happen(ev.PlaybackFinished, voice=3, heard_ms=9_000) == ()
    assert (stage.state.voice, stage.state.voice_id) == (Voice.PLAYING, voice)
    assert [sound.reply for sound in stage.effects(fx.StartPlayback)] == [1, 3, newest]


# -- V-06: filters only while the agent speaks


@pytest.mark.req("V-06")
@pytest.mark.parametrize(("words", "substantial"), [(1, 1), (1, 0), (2, 0)], ids=["4K", "yes", "uh hello"])
def test_with_the_agent_silent_every_word_is_a_turn(words: int, substantial: int) -> None:
    stage = greeted()
    stage.begin_talking()
    stage.wait(200)
    stage.happen(ev.WordsHeard, words=words, substantial=substantial, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(3, 1, 1))


@pytest.mark.req("V-06")
def test_a_word_right_after_the_interruption_needs_no_second_one() -> None:
    stage = speaking()
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(50)
    finish_thought(stage)
    stage.answer()
    stage.begin_talking()
    stage.wait(200)
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert requests(stage)[-1] == (3, 3)


@pytest.mark.req("V-06", "M-09")
def test_a_word_over_the_last_word_of_a_question_is_the_answer() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.wait(100)
    stage.happen(ev.WordsHeard, words=1, substantial=0)
    stage.finish()
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.WordsHeard, words=1, substantial=0, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(stage.state.reply_id, 2, 2))
    assert stage.effects(fx.RecordOverheard) == []


# -- V-07: dead air


@pytest.mark.req("V-07.after", "V-07.bounded")
def test_dead_air_leads_to_two_check_ins_a_goodbye_and_a_polite_end() -> None:
    stage = greeted()
    answered_at = []
    for _ in range(3):
        answered_at.append(stage.at)
        stage.wait(DEAD_AIR_MS)
        stage.answer()
    asked = stage.effects(fx.StartReply)[1:]
    assert [start.ask for start in asked] == [Ask.CHECK_IN, Ask.CHECK_IN, Ask.GOODBYE]
    assert when(stage, fx.StartReply)[1:] == [at + DEAD_AIR_MS for at in answered_at]
    assert stage.records[-1].effects == (fx.CloseSession(1),)
    assert stage.state.link is Link.TERMINATING
    stage.happen(ev.SessionClosed)
    assert stage.state.link is Link.IDLE
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("V-07.bounded")
@pytest.mark.parametrize("check_ins", [0, 1, 4])
def test_the_number_of_check_ins_is_bounded_by_its_setting(check_ins: int) -> None:
    stage = Stage(profile("words", check_ins_max=check_ins))
    stage.start()
    stage.wait(1)
    stage.answer()
    while stage.state.link is Link.UP:
        stage.wait(DEAD_AIR_MS)
        stage.answer()
    asks = [start.ask for start in stage.effects(fx.StartReply)][1:]
    assert asks == [Ask.CHECK_IN] * check_ins + [Ask.GOODBYE]


@pytest.mark.req("V-07.active")
def test_dead_air_is_not_timed_while_the_person_says_words() -> None:
    stage = greeted()
    stage.wait(DEAD_AIR_MS - 1)
    stage.begin_talking()
    stage.hear_words(1)
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.wait(25_000)
    assert requests(stage) == [(1, 0)]


@pytest.mark.req("V-07.active", "H-08")
def test_a_check_in_that_is_due_during_a_sound_comes_a_beat_after_it() -> None:
    stage = greeted()
    quiet_at = stage.at
    stage.wait(DEAD_AIR_MS - 1)
    stage.begin_talking()
    assert due(stage, Timer.DEAD_AIR) == quiet_at + DEAD_AIR_MS
    stage.wait(25_000)
    assert requests(stage) == [(1, 0)]
    stage.happen(ev.SpeechStopped)
    stage.wait(600)
    assert due(stage, Timer.DEAD_AIR) == stage.at + 1
    stage.wait(1)
    assert stage.effects(fx.StartReply)[-1].ask is Ask.CHECK_IN


@pytest.mark.req("V-07.active")
def test_dead_air_is_not_timed_while_the_agent_thinks_or_speaks() -> None:
    stage = greeted()
    stage.say()
    stage.happen(ev.TokenArrived)
    stage.wait(12_000)
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.speak(12_000)
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.finish()
    assert due(stage, Timer.DEAD_AIR) == stage.at + DEAD_AIR_MS
    assert requests(stage) == [(1, 0), (1, 1)]


@pytest.mark.req("V-07")
def test_words_after_a_check_in_restart_the_count() -> None:
    stage = greeted()
    stage.wait(DEAD_AIR_MS)
    stage.answer()
    stage.wait(DEAD_AIR_MS)
    stage.answer()
    stage.say()
    stage.answer()
    stage.wait(DEAD_AIR_MS)
    assert stage.effects(fx.StartReply)[-1].ask is Ask.CHECK_IN
    assert stage.state.check_ins == 1


@pytest.mark.req("V-07", "H-08")
def test_a_noise_restarts_neither_the_count_of_check_ins_nor_the_wait_for_the_next() -> None:
    stage = greeted()
    stage.wait(DEAD_AIR_MS)
    stage.answer()
    quiet_at = stage.at
    stage.cough()
    stage.wait(600)
    assert stage.state.check_ins == 1
    assert due(stage, Timer.DEAD_AIR) == quiet_at + DEAD_AIR_MS


@pytest.mark.req("V-07")
def test_a_person_who_speaks_before_the_check_in_sounds_is_answered_instead() -> None:
    stage = greeted()
    stage.wait(DEAD_AIR_MS)
    check_in = stage.state.reply_id
    stage.happen(ev.ReplyAccepted)
    stage.begin_talking()
    stage.wait(200)
    assert stage.hear_words(3) == (fx.CancelReply(check_in),)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(3, final=True)
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.StartReply)[-1] == fx.StartReply(stage.state.reply_id, 1, 1, Ask.ANSWER)


def at_the_goodbye() -> Stage:
    """The agent says goodbye and 600 ms of it were heard."""
    stage = Stage(profile("words", check_ins_max=0))
    stage.start()
    stage.wait(1)
    stage.answer()
    stage.wait(DEAD_AIR_MS)
    stage.think()
    stage.speak(600)
    assert stage.state.ask is Ask.GOODBYE
    return stage


@pytest.mark.req("V-07")
def test_a_goodbye_that_is_interrupted_ends_nothing() -> None:
    stage = at_the_goodbye()
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    finish_thought(stage)
    assert stage.state.link is Link.UP
    assert stage.effects(fx.StartReply)[-1] == fx.StartReply(stage.state.reply_id, 1, 1, Ask.ANSWER)
    stage.answer()
    assert is_at_rest(stage.state)
    assert stage.effects(fx.CloseSession) == []


@pytest.mark.req("V-07", "M-09")
def test_a_word_begun_over_the_goodbye_keeps_the_call() -> None:
    stage = at_the_goodbye()
    stage.begin_talking()
    stage.wait(100)
    stage.happen(ev.WordsHeard, words=1, substantial=1)
    stage.finish()
    assert stage.state.link is Link.UP
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.WordsHeard, words=1, substantial=1, final=True)
    stage.happen(ev.TurnEnded)
    assert requests(stage)[-1] == (1, 1)


@pytest.mark.req("V-07")
def test_a_typed_turn_over_the_goodbye_keeps_the_call() -> None:
    stage = at_the_goodbye()
    assert stage.happen(ev.TextTyped) == (fx.StopPlayback(3), fx.CancelReply(3))
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(51)
    assert stage.state.link is Link.UP
    assert requests(stage)[-1] == (1, 1)


@pytest.mark.req("V-07")
def test_a_noise_at_the_end_of_the_goodbye_only_postpones_the_end() -> None:
    stage = at_the_goodbye()
    stage.begin_talking()
    stage.finish()
    assert stage.state.link is Link.UP
    stage.happen(ev.SpeechStopped)
    stage.wait(600)
    assert stage.state.link is Link.UP
    stage.wait(stage.settings.text_ms_max)
    assert stage.state.link is Link.TERMINATING
    assert stage.effects(fx.StartReply)[-1].ask is Ask.GOODBYE


@pytest.mark.req("V-07")
def test_a_person_who_says_yes_over_every_check_in_is_not_hung_up_on() -> None:
    stage = greeted()
    for _ in range(stage.settings.check_ins_max + 1):
        stage.wait(DEAD_AIR_MS)
        stage.think()
        stage.speak(600)
        over_the_agent(stage)
        stage.play(200)
        stage.finish()
    assert stage.state.link is Link.UP


@pytest.mark.req("V-07")
def test_a_goodbye_that_waits_behind_a_pause_is_spoken_before_the_end() -> None:
    stage = Stage(profile("words", check_ins_max=0))
    stage.start()
    stage.wait(1)
    stage.answer()
    stage.wait(DEAD_AIR_MS)
    stage.think()
    stage.happen(ev.SuspendRequested)
    stage.happen(ev.AudioBuffered)
    stage.happen(ev.ReplyFinished)
    assert stage.state.reply is Reply.READY
    assert stage.happen(ev.ResumeRequested) == (fx.StartPlayback(3, 3),)


# -- V-08: again and again


@pytest.mark.req("V-08", "V-05")
def test_speak_interrupt_and_answer_works_twenty_times_in_one_call() -> None:
    stage = greeted()
    sound = Sound(stage)
    stage.say()
    for cycle in range(1, 21):
        stage.think()
        (started,) = stage.speak(600)
        assert isinstance(started, fx.StartPlayback)
        assert stage.interrupt() == (fx.StopPlayback(started.voice), fx.CancelReply(started.reply))
        stage.wait(20)
        stage.happen(ev.PlaybackStopped, heard_ms=700 + cycle)
        stage.wait(30)
        assert stage.state.voice is Voice.SILENT
        assert stage.effects(fx.TruncateReply)[-1] == fx.TruncateReply(started.voice, 700 + cycle)
        finish_thought(stage)
        assert requests(stage)[-1] == (cycle + 1, cycle + 1)
    stage.answer()
    assert requests(stage)[1:] == [(turn, turn) for turn in range(1, 22)]
    assert len(stage.effects(fx.TruncateReply)) == 20
    replies = [started.reply for started in stage.effects(fx.StartPlayback)]
    assert len(replies) == len(set(replies)) == 22
    assert stage.effects(fx.RecordOverheard) == []
    assert sound.wrong == []
    assert (stage.state.answered, stage.state.user) == (21, User.QUIET)
    assert due(stage, Timer.DEAD_AIR) == stage.at + DEAD_AIR_MS
