"""Conversations that went wrong elsewhere, played against the real machine on a simulated clock.

Each story is a function of a stage, to its end, so that it can be played again on another stage.
Rule: a story ends with one more ordinary turn and with dead air being timed again; a conversation
that only survives has not ended well.
"""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import TIMER_INDEX, Ask, ErrorClass, JobKind, Link, Outcome, Timer, User, Voice
from duologue.core.settings import profile
from duologue.core.state import is_at_rest
from duologue.lab.sim.stage import Stage


def in_a_room() -> Stage:
    """A conversation in the default profile, up and quiet. It checks in, as a telephone call does."""
    stage = Stage(profile("confirm", dead_air_ms=20_000, check_ins_max=2, hangs_up=True))
    stage.start()
    return stage


def on_the_phone() -> Stage:
    """A telephone call after its greeting."""
    stage = Stage(profile("words"))
    stage.start()
    stage.wait(1)
    stage.answer()
    return stage


def when(stage: Stage, kind: type[fx.Effect]) -> list[int]:
    """When effects of this kind left, in milliseconds."""
    return [record.event.at for record in stage.records for effect in record.effects if type(effect) is kind]


def requests(stage: Stage) -> list[tuple[int, int]]:
    """The turns that each request was to answer, in order."""
    return [(start.first, start.last) for start in stage.effects(fx.StartReply)]


def due(stage: Stage, timer: Timer) -> int:
    """When this deadline is due; 0 if it is off."""
    return stage.state.due[TIMER_INDEX[timer]]


def dead_air_is_timed(stage: Stage) -> bool:
    """Is everything quiet, and did the wait for the next check-in begin just now?"""
    return is_at_rest(stage.state) and due(stage, Timer.DEAD_AIR) == stage.at + stage.settings.dead_air_ms


def still_works(stage: Stage) -> None:
    """One more ordinary turn: asked once, answered once, and silence is timed again."""
    asked, sounds, cancelled = (
        len(requests(stage)),
        len(when(stage, fx.StartPlayback)),
        len(when(stage, fx.CancelReply)),
    )
    first = stage.state.answered + 1
    stage.say()
    turn = stage.state.turn
    assert requests(stage)[asked:] == [(first, turn)]
    stage.answer()
    assert len(when(stage, fx.StartPlayback)) == sounds + 1
    assert len(when(stage, fx.CancelReply)) == cancelled
    assert stage.state.answered == turn
    assert dead_air_is_timed(stage)


# -- 1: a cough


def a_cough_behind_the_turn(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.wait(100)
    stage.begin_talking()
    stage.wait(50)
    stage.speak()
    stage.wait(150)
    stage.happen(ev.SpeechStopped)
    quiet_at = stage.at
    stage.wait(599)
    assert when(stage, fx.StartPlayback) == []
    stage.wait(1)
    assert stage.effects(fx.DiscardAudio) == [fx.DiscardAudio(2)]
    assert when(stage, fx.StartPlayback) == [quiet_at + stage.settings.noise_ms_max]
    stage.play(1000)
    stage.finish()
    assert requests(stage) == [(1, 1)]
    assert when(stage, fx.CancelReply) == []
    assert stage.effects(fx.TruncateReply) == []
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(1)
def test_a_cough_after_the_turn_delays_the_reply_and_costs_no_second_request() -> None:
    """pipecat#4308: a noise right after the user's turn cancels the valid reply, no words follow, and
    the agent is silent for ever."""
    a_cough_behind_the_turn(in_a_room())


def a_cough_that_the_transcriber_knows(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.cough(200)
    stage.speak()
    stage.wait(120)
    effects = stage.hear_words(0, final=True)
    assert effects == (fx.DiscardAudio(2), fx.StartPlayback(1, 1))
    stage.play(600)
    stage.finish()
    assert requests(stage) == [(1, 1)]
    still_works(stage)


@pytest.mark.graveyard(1)
def test_an_empty_transcript_lets_the_waiting_reply_speak_in_the_same_step() -> None:
    """pipecat#4308: the transcriber never produces a word for the noise; here its empty result is
    an answer too."""
    a_cough_that_the_transcriber_knows(in_a_room())


def a_noise_without_end(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.begin_talking()
    stage.speak()
    stage.wait(30_000)
    assert when(stage, fx.StartPlayback) == []  # it could be a person whose text comes at the end
    noise_at = stage.at
    stage.happen(ev.SoundDismissed)
    assert when(stage, fx.StartPlayback) == [noise_at]
    stage.play(600)
    stage.finish()
    stage.happen(ev.SpeechStopped)
    assert requests(stage) == [(1, 1)]
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(1)
def test_a_noise_that_never_ends_can_not_block_the_reply_for_ever() -> None:
    """pipecat#4308 and its kind (#4124, muted in mid-speech): the end of the noise is never seen."""
    a_noise_without_end(in_a_room())


def a_mumble_into_the_silence(stage: Stage) -> None:
    stage.say()
    stage.answer()
    quiet_at = stage.at
    stage.wait(5_000)
    stage.cough(300)
    stage.wait(600)
    assert is_at_rest(stage.state)
    assert due(stage, Timer.DEAD_AIR) == quiet_at + stage.settings.dead_air_ms
    stage.wait(stage.settings.dead_air_ms - 5_900)
    assert stage.effects(fx.StartReply)[1:] == [fx.StartReply(stage.state.reply_id, 2, 1, Ask.CHECK_IN)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(1)
def test_a_noise_without_words_leaves_dead_air_timing_alive() -> None:
    """pipecat#4343: voice activity without a transcript stops the idle timer, and nothing ever
    starts it again."""
    a_mumble_into_the_silence(in_a_room())


# -- 2: a stale reply over the user


def a_reply_ready_too_late(stage: Stage) -> None:
    stage.say()
    stage.think(270)
    stage.begin_talking()
    stage.wait(124)
    assert stage.speak() == ()
    assert stage.view("phone") == "agent_idle"
    stage.wait(300)
    assert stage.hear_words(4) == (fx.CancelReply(1),)
    stage.happen(ev.SpeechStopped)
    stage.wait(150)
    stage.hear_words(4, final=True)
    stage.happen(ev.TurnEnded)
    assert requests(stage) == [(1, 1), (1, 2)]
    stage.happen(ev.AudioBuffered, reply=1)
    assert when(stage, fx.StartPlayback) == []
    newest = stage.state.reply_id
    stage.answer()
    assert [sound.reply for sound in stage.effects(fx.StartPlayback)] == [newest]
    assert stage.state.answered == 2
    still_works(stage)


@pytest.mark.graveyard(2)
def test_a_reply_that_becomes_ready_while_the_user_speaks_is_never_spoken_over_them() -> None:
    """livekit/agents#5509: the user begins to speak, and 124 ms later the agent goes from thinking to
    speaking with the answer to the turn before."""
    a_reply_ready_too_late(in_a_room())


# -- 3: one turn, several answers


def thinking_out_loud(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    for _ in range(2):
        stage.wait(400)
        stage.say()
        stage.happen(ev.ReplyAccepted)
    assert requests(stage) == [(1, 1), (1, 2), (1, 3)]
    assert len(when(stage, fx.CancelReply)) == 2
    newest = stage.state.reply_id
    for reply in range(1, newest + 1):
        stage.happen(ev.AudioBuffered, reply=reply)
        stage.happen(ev.AudioBuffered, reply=reply)
    assert stage.effects(fx.StartPlayback) == [fx.StartPlayback(1, newest)]
    stage.play(800)
    stage.finish()
    assert stage.state.answered == 3
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(3)
def test_a_turn_spoken_in_bursts_is_answered_once() -> None:
    """pipecat#4912: a user who thinks out loud is taken to have finished at every pause, each pause
    starts a generation, and all of them are spoken."""
    thinking_out_loud(in_a_room())


def an_endpoint_that_flickers(stage: Stage) -> None:
    stage.begin_talking()
    stage.wait(700)
    stage.hear_words(3, final=True)
    stage.happen(ev.SpeechStopped)
    for _ in range(3):
        stage.wait(40)
        stage.happen(ev.TurnEnded, turn=1)
    assert requests(stage) == [(1, 1)]
    stage.happen(ev.AudioBuffered)
    for _ in range(3):
        stage.happen(ev.AudioBuffered)
    stage.play(400)
    stage.finish()
    stage.happen(ev.AudioBuffered, reply=1)
    assert stage.effects(fx.StartPlayback) == [fx.StartPlayback(1, 1)]
    still_works(stage)


@pytest.mark.graveyard(3)
def test_an_endpoint_reported_three_times_makes_one_request_and_one_answer() -> None:
    """pipecat#4707: the completeness of one turn flickers, and the same line is spoken two or three
    times."""
    an_endpoint_that_flickers(in_a_room())


def an_endpoint_overtaken_by_speech(stage: Stage) -> None:
    stage.begin_talking()
    stage.wait(600)
    stage.hear_words(3, final=True)
    stage.happen(ev.SpeechStopped)
    stage.wait(200)
    heard = stage.state.onset
    stage.begin_talking()
    stage.wait(50)
    stage.happen(ev.TurnEnded, turn=1, onset=heard)  # decided before the user went on
    stage.wait(400)
    stage.hear_words(6, final=True)
    stage.happen(ev.AudioBuffered)
    assert stage.state.user is User.TALKING
    assert when(stage, fx.StartReply) == when(stage, fx.StartPlayback) == []
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert requests(stage) == [(1, 1)]
    stage.answer()
    still_works(stage)


@pytest.mark.graveyard(3)
def test_an_endpoint_that_comes_after_the_user_went_on_is_not_believed() -> None:
    """pipecat#4707, its second half: the verdict "complete" resolves after the user has resumed, and
    the agent talks over them."""
    an_endpoint_overtaken_by_speech(in_a_room())


# -- 4: an utterance split by the voice detector


def a_split_before_the_endpoint(stage: Stage) -> None:
    stage.begin_talking()
    stage.wait(500)
    stage.hear_words(2)
    stage.happen(ev.SpeechStopped)
    stage.wait(400)
    stage.hear_words(2, final=True)
    stage.begin_talking()
    stage.wait(500)
    stage.hear_words(5)
    stage.happen(ev.SpeechStopped)
    stage.wait(150)
    stage.hear_words(5, final=True)
    stage.happen(ev.TurnEnded)
    assert stage.state.turn == 1
    assert requests(stage) == [(1, 1)]
    assert stage.effects(fx.CommitAudio) == [fx.CommitAudio(1)]
    stage.answer()
    still_works(stage)


@pytest.mark.graveyard(4)
def test_a_pause_before_the_endpoint_leaves_one_turn_and_one_request() -> None:
    """pipecat#1540: the detector cuts one utterance into two transcripts."""
    a_split_before_the_endpoint(in_a_room())


def a_split_behind_the_endpoint(stage: Stage) -> None:
    stage.say()
    stage.think(200)
    stage.wait(100)
    stage.say()
    first, second = stage.effects(fx.StartReply)
    assert (first.first, first.last, second.first, second.last) == (1, 1, 1, 2)
    assert stage.effects(fx.CancelReply) == [fx.CancelReply(first.reply)]
    assert when(stage, fx.CancelReply)[0] < when(stage, fx.StartReply)[1]
    stage.happen(ev.AudioBuffered, reply=first.reply)
    stage.answer()
    assert stage.effects(fx.StartPlayback) == [fx.StartPlayback(1, second.reply)]
    assert stage.state.answered == 2
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(4)
def test_a_continuation_after_the_endpoint_supersedes_the_request_and_one_answer_is_heard() -> None:
    """pipecat#1540: both halves of a split utterance get an answer, and both are played."""
    a_split_behind_the_endpoint(in_a_room())


# -- 5: waiting for a silence that is never reported


def a_silence_never_reported(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.wait(1_000)
    stage.begin_talking()  # and its end is never seen
    stage.wait(100)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(call, Outcome.DONE),)
    began_at, done_at, patience_ms = stage.at - 100, stage.at, stage.settings.ready_ms_max
    stage.wait(patience_ms)
    assert when(stage, fx.StartReply)[1:] == [done_at + patience_ms]
    assert requests(stage) == [(1, 1), (1, 1)]
    stage.think()
    stage.speak()
    limits_ms = stage.settings.talk_ms_max + stage.settings.text_ms_max
    stage.wait(began_at + limits_ms - stage.at)
    assert when(stage, fx.StartPlayback) == [began_at + limits_ms]
    stage.play(600)
    stage.finish()
    assert stage.state.answered == 1
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(5)
def test_a_line_that_waits_for_the_user_to_fall_silent_is_spoken_by_deadline() -> None:
    """livekit/agents#4413: interrupted just before a tool says something, the agent waits for a
    silence event that never comes, until the participant leaves."""
    a_silence_never_reported(in_a_room())


def a_stop_never_confirmed_under_a_tool(stage: Stage) -> None:
    stage.say()
    stage.think()
    call = stage.call_tool()
    stage.speak(600)
    stage.interrupt(words=3)
    stopped_at = stage.at
    stage.happen(ev.JobFinished)
    stage.wait(200)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(3, final=True)
    stage.happen(ev.TurnEnded)
    assert requests(stage) == [(1, 1)]
    stage.wait(1_000)
    assert when(stage, fx.TruncateReply) == [stopped_at + stage.settings.stop_ms_max]
    assert when(stage, fx.StartReply)[1:] == [stopped_at + stage.settings.stop_ms_max + stage.settings.beat_ms]
    assert requests(stage)[1:] == [(2, 2)]
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.DONE)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(5)
def test_a_line_that_never_confirms_its_silence_holds_up_nothing_but_400_ms() -> None:
    """livekit/agents#4413: every event waits behind one that is never emitted."""
    a_stop_never_confirmed_under_a_tool(in_a_room())


# -- 6: waiting for playout


def a_preamble_interrupted(stage: Stage) -> None:
    stage.say()
    stage.think()
    call = stage.call_tool()
    stage.speak(600)
    assert stage.view("phone") == "agent_speaking"
    assert stage.interrupt(words=2) == (fx.StopPlayback(1), fx.CancelReply(1))
    assert stage.view("phone") == "interrupted"
    interrupted_at = stage.at
    stage.wait(20)
    stage.happen(ev.PlaybackStopped, heard_ms=700)
    stage.wait(30)
    assert stage.state.voice is Voice.SILENT
    assert when(stage, fx.TruncateReply) == [interrupted_at + stage.settings.breath_ms]
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 700)]
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    stage.happen(ev.TurnEnded)
    assert requests(stage) == [(1, 1)]
    stage.happen(ev.JobFinished)
    assert requests(stage) == [(1, 1), (2, 2)]
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.DONE)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(6)
def test_an_interruption_ends_playout_in_the_same_step() -> None:
    """livekit/agents#5359: a tool waits for its preamble to be played, the user interrupts, and the
    wait goes on until a 5 s timeout kills it."""
    a_preamble_interrupted(in_a_room())


# -- 10: an interrupted reply, committed twice


def an_interruption_confirmed_many_times(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(600)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, voice=1, heard_ms=640)
    stage.happen(ev.PlaybackStopped, voice=1, heard_ms=640)
    stage.wait(stage.settings.stop_ms_max)
    stage.happen(ev.PlaybackStopped, voice=1, heard_ms=640)
    stage.happen(ev.PlaybackFinished, voice=1, heard_ms=3_000)
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 640)]
    assert stage.effects(fx.StopPlayback) == [fx.StopPlayback(1)]
    assert stage.effects(fx.CancelReply) == [fx.CancelReply(1)]
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    stage.happen(ev.TurnEnded)
    assert requests(stage) == [(1, 1), (2, 2)]
    stage.answer()
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 640)]
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(10)
def test_an_interrupted_reply_enters_the_history_once() -> None:
    """livekit/agents#2094: the interrupted answer stands twice in the chat context, the second time
    in full."""
    an_interruption_confirmed_many_times(in_a_room())


# -- 11: calls that stay in progress


def a_cancellable_call_talked_over(stage: Stage) -> None:
    stage.say()
    stage.think()
    call = stage.call_tool(cancellable=True)
    stage.speak(400)
    effects = stage.interrupt(words=3)
    assert effects == (
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.CancelWork(call),
        fx.PostOutput(call, Outcome.CANCELLED),
    )
    assert stage.state.jobs == ()
    _end_interruption(stage)
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.CANCELLED)]
    assert requests(stage) == [(1, 1), (2, 2)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


def _end_interruption(stage: Stage) -> None:
    """The line falls silent and the interrupting turn comes to its end."""
    stage.happen(ev.PlaybackStopped, heard_ms=stage.state.heard_ms)
    stage.wait(stage.settings.breath_ms)
    stage.happen(ev.SpeechStopped)
    stage.wait(150)
    stage.hear_words(3, final=True)
    stage.happen(ev.TurnEnded)


@pytest.mark.graveyard(11)
def test_a_call_cancelled_by_a_barge_in_gets_its_one_output_and_is_gone() -> None:
    """pipecat#5779: the user interrupts the sentence before a tool; the call is cancelled, yet the
    history says for the rest of the call that it still runs."""
    a_cancellable_call_talked_over(in_a_room())


def a_call_cancelled_before_it_is_known(stage: Stage) -> None:
    stage.say()
    stage.think()
    call = stage.call_tool(cancellable=True)
    stage.speak(200)
    stage.interrupt(words=3)
    for kind in (ev.CallDelegated, ev.CallDispatched, ev.JobProgressed, ev.JobFinished):
        assert stage.happen(kind, call=call) == ()
    assert stage.state.jobs == ()
    _end_interruption(stage)
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.CANCELLED)]
    stage.answer()
    still_works(stage)


@pytest.mark.graveyard(11)
def test_news_of_a_call_that_was_cancelled_before_it_was_known_to_run_opens_nothing() -> None:
    """pipecat#3661: the interruption overtakes the message that the function is in progress, and it
    stays so for ever."""
    a_call_cancelled_before_it_is_known(in_a_room())


def a_call_asked_for_again(stage: Stage) -> None:
    stage.say()
    stage.think()
    orphan = stage.call_tool(cancellable=True)
    stage.speak(200)
    stage.interrupt(words=3)
    _end_interruption(stage)
    stage.happen(ev.ReplyAccepted)
    again = stage.call_tool(cancellable=True)
    stage.happen(ev.ReplyFinished)
    assert [job.call for job in stage.state.jobs] == [again]
    stage.wait(500)
    stage.happen(ev.JobFinished, call=again)
    assert stage.state.jobs == ()
    assert stage.effects(fx.PostOutput) == [
        fx.PostOutput(orphan, Outcome.CANCELLED),
        fx.PostOutput(again, Outcome.DONE),
    ]
    assert requests(stage) == [(1, 1), (2, 2), (2, 2)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(11)
def test_a_call_that_was_talked_over_does_not_block_its_second_try() -> None:
    """pipecat#4165: an orphan of the interrupted call counts as running, so the flow never goes on
    although the second call succeeds."""
    a_call_asked_for_again(in_a_room())


def a_call_of_a_dead_reply(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(400)
    dead = stage.state.reply_id
    stage.interrupt(words=3)
    assert stage.happen(ev.ToolCalled, reply=dead, call=1) == ()
    assert stage.state.jobs == ()
    assert stage.effects(fx.RunCall) == stage.effects(fx.PostOutput) == []
    _end_interruption(stage)
    assert requests(stage) == [(1, 1), (2, 2)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(11)
def test_a_call_that_arrives_after_its_reply_was_interrupted_is_not_run() -> None:
    """pipecat#3548 (and #4997): a barge-in as the call starts leaves an entry that is never cleared;
    a call of a binned generation must not run at all."""
    a_call_of_a_dead_reply(in_a_room())


# -- 12: a lookup that a barge-in must not cancel


def a_barge_in_ten_ms_into_a_lookup(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.speak(400)
    call = stage.call_tool()
    stage.wait(10)
    assert stage.interrupt(words=4) == (fx.StopPlayback(1), fx.CancelReply(1))
    assert [(job.call, job.kind) for job in stage.state.jobs] == [(call, JobKind.TOOL)]
    _end_interruption(stage)
    assert requests(stage) == [(1, 1)]
    stage.wait(800)
    stage.happen(ev.JobFinished)
    assert stage.effects(fx.CancelWork) == []
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.DONE)]
    assert requests(stage) == [(1, 1), (2, 2)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(12)
def test_a_barge_in_just_after_a_lookup_began_lets_the_lookup_finish() -> None:
    """pipecat#4657: ten milliseconds after it began a lookup is cancelled by a barge-in, and the
    booking is lost."""
    a_barge_in_ten_ms_into_a_lookup(in_a_room())


def one_more_sentence_during_a_lookup(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.wait(10)
    stage.say()
    assert requests(stage) == [(1, 1)]
    stage.happen(ev.JobFinished)
    assert stage.effects(fx.CancelWork) == stage.effects(fx.CancelReply) == []
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.DONE)]
    assert requests(stage) == [(1, 1), (1, 2)]
    stage.answer()
    assert stage.state.answered == 2
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(12)
def test_one_more_sentence_during_a_lookup_is_answered_together_with_its_result() -> None:
    """pipecat#4657: the caller only adds a short sentence, and is told that they are not on file."""
    one_more_sentence_during_a_lookup(in_a_room())


# -- 13: "are you still there?" over the agent's own lookup


def filler_speech_before_a_long_lookup(stage: Stage) -> None:
    stage.say()
    stage.think()
    stage.call_tool()
    stage.speak(1_000)
    stage.finish()  # "let me look that up"
    stage.happen(ev.CallDelegated)
    stage.wait(3 * stage.settings.dead_air_ms)
    assert requests(stage)[1:] == [(1, 1)]
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.happen(ev.JobFinished)
    stage.answer()
    assert all(start.ask is Ask.ANSWER for start in stage.effects(fx.StartReply))
    assert dead_air_is_timed(stage)
    stage.wait(stage.settings.dead_air_ms)
    assert [start.ask for start in stage.effects(fx.StartReply)][-1] is Ask.CHECK_IN
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(13)
def test_a_lookup_that_the_agent_announced_is_not_dead_air() -> None:
    """livekit/agents#6904: the end of a filler sentence arms the away timer in the middle of a long
    tool, and the agent asks whether anybody is there over its own lookup."""
    filler_speech_before_a_long_lookup(on_the_phone())


def a_silent_wait_for_a_long_job(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(stage.settings.beat_ms)
    stage.answer()  # "I have started it"
    answers = len(requests(stage))
    stage.wait(90_000)
    assert len(requests(stage)) == answers
    stage.happen(ev.JobFinished)
    assert stage.effects(fx.PostNews) == [fx.PostNews(call, Outcome.DONE)]
    stage.wait(stage.settings.beat_ms)
    stage.answer()
    assert dead_air_is_timed(stage)
    for _ in range(stage.settings.check_ins_max):
        stage.wait(stage.settings.dead_air_ms)
        stage.answer()
        assert dead_air_is_timed(stage)
    asks = [start.ask for start in stage.effects(fx.StartReply)][answers:]
    assert asks == [Ask.ANSWER, Ask.CHECK_IN, Ask.CHECK_IN]
    still_works(stage)


@pytest.mark.graveyard(13)
def test_after_a_long_job_dead_air_is_timed_again_every_time() -> None:
    """livekit/agents#6883: who waits in silence for a long tool is marked away once, and no check-in
    ever comes again."""
    a_silent_wait_for_a_long_job(on_the_phone())


# -- 14: the idle prompt over the carrier's playback


def a_long_answer_on_the_carrier(stage: Stage) -> None:
    stage.say()
    stage.think(50)
    stage.speak()
    stage.happen(ev.ReplyFinished)  # generated faster than life
    asked = len(requests(stage))
    stage.play(2 * stage.settings.dead_air_ms)
    assert len(requests(stage)) == asked
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.finish()
    assert dead_air_is_timed(stage)
    stage.wait(stage.settings.dead_air_ms - 1)
    assert len(requests(stage)) == asked
    stage.wait(1)
    assert [start.ask for start in stage.effects(fx.StartReply)][asked:] == [Ask.CHECK_IN]
    stage.answer()
    still_works(stage)


@pytest.mark.graveyard(14)
def test_dead_air_begins_when_the_carrier_has_played_everything() -> None:
    """pipecat#2741: the reply was handed to the carrier in one go, the idle timer runs while it is
    still being played, and the call is hung up after the first phrase."""
    a_long_answer_on_the_carrier(on_the_phone())


# -- 16: text that is a little late


def text_just_behind_the_endpoint(stage: Stage) -> None:
    stage.begin_talking()
    stage.wait(200)
    stage.happen(ev.SpeechStopped)
    stage.wait(190)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1),)
    stage.wait(5)
    assert stage.hear_words(2, final=True) == (fx.StartReply(1, 1, 1),)
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(16)
def test_text_five_ms_after_the_endpoint_is_asked_in_the_same_step() -> None:
    """pipecat#4098: the transcript of a short "hi" comes 5 ms after the turn was judged complete, and
    the turn stalls for 5 s."""
    text_just_behind_the_endpoint(in_a_room())


def text_just_behind_its_deadline(stage: Stage) -> None:
    stage.begin_talking()
    stage.wait(400)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.wait(stage.settings.text_ms_max + 5)
    assert requests(stage) == []
    assert stage.hear_words(3, final=True) == (fx.StartReply(1, 1, 1),)
    stage.answer()
    assert stage.state.answered == 1
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(16)
def test_text_five_ms_after_the_wait_for_it_still_counts() -> None:
    """pipecat#4250: a transcript that comes after the transcriber's usual delay only counts when a
    5 s fallback fires."""
    text_just_behind_its_deadline(in_a_room())


def text_of_what_was_taken_for_a_noise(stage: Stage) -> None:
    stage.begin_talking()
    stage.wait(300)
    stage.happen(ev.SpeechStopped)
    stage.wait(stage.settings.noise_ms_max + 5)
    assert stage.effects(fx.DiscardAudio) == [fx.DiscardAudio(1)]
    assert stage.hear_words(1, final=True) == (fx.StartReply(1, 1, 1),)
    stage.answer()
    still_works(stage)


@pytest.mark.graveyard(16)
def test_the_text_of_a_sound_that_was_taken_for_a_noise_still_counts() -> None:
    """pipecat#4250 (and #4279, the swallowed "yes"): the words of a short answer come after the
    machine gave the sound up."""
    text_of_what_was_taken_for_a_noise(in_a_room())


# -- 17: a request that loses a race


def a_request_rejected_by_id(stage: Stage) -> None:
    stage.wait(stage.settings.dead_air_ms)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0, Ask.CHECK_IN)]
    assert stage.happen(ev.ReplyFailed, reply=99, error=ErrorClass.SERVER_ERROR) == ()
    assert stage.fail_reply(ErrorClass.SERVER_ERROR) == (fx.CancelReply(1),)
    failed_at = stage.at
    stage.wait_for(Timer.RETRY)
    assert stage.at - failed_at <= max(stage.settings.retry_ms)  # how long exactly is told elsewhere (L-13)
    again = stage.effects(fx.StartReply)[1]
    assert again == fx.StartReply(stage.state.reply_id, 1, 0, Ask.CHECK_IN)
    stage.happen(ev.AudioBuffered, reply=1)
    assert when(stage, fx.StartPlayback) == []
    stage.answer()
    assert [sound.reply for sound in stage.effects(fx.StartPlayback)] == [again.reply]
    assert stage.effects(fx.ShowFault) == []
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(17)
def test_a_rejected_request_is_known_by_its_id_and_asked_again() -> None:
    """livekit/agents#6817: the server's own detector has just started a response, the requested one is
    rejected, the rejection is not tied to it, and it dies as a 10 s timeout."""
    a_request_rejected_by_id(in_a_room())


def a_request_overtaken_by_the_user(stage: Stage) -> None:
    stage.wait(stage.settings.dead_air_ms)
    stage.begin_talking()
    stage.wait(300)
    assert stage.hear_words(3) == (fx.CancelReply(1),)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(3, final=True)
    stage.happen(ev.TurnEnded)
    mine = stage.state.reply_id
    assert stage.happen(ev.ReplyFailed, reply=1, error=ErrorClass.SERVER_ERROR) == ()
    assert stage.happen(ev.AudioBuffered, reply=1) == ()
    stage.answer()
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.CHECK_IN, Ask.ANSWER]
    assert [sound.reply for sound in stage.effects(fx.StartPlayback)] == [mine]
    still_works(stage)


@pytest.mark.graveyard(17)
def test_the_late_error_of_a_superseded_request_does_not_hurt_the_new_one() -> None:
    """livekit/agents#6817: two writers start a response at the same moment."""
    a_request_overtaken_by_the_user(in_a_room())


# -- 20: the session's limit


def a_limit_in_mid_sentence(stage: Stage) -> None:
    limit, warning = stage.settings.session_ms_max, stage.settings.session_warning_ms
    while stage.at < limit - 30_000:
        stage.say()
        stage.answer()
        stage.wait(8_000)
    assert warning <= stage.at < limit - 5_000
    assert when(stage, fx.SaveContext) == [warning]
    stage.wait(limit - stage.at - 2_600)
    stage.say()
    stage.think()
    stage.speak()
    turn, asked, voice = stage.state.turn, len(requests(stage)), stage.state.voice_id
    stage.play(1_000)
    stage.wait(limit - stage.at)
    assert stage.state.link is Link.UP
    assert stage.records[-1].effects == (fx.SaveContext(), fx.RenewSession(2))
    heard_ms = stage.state.heard_ms
    assert stage.happen(ev.SessionEnded) == (fx.HoldPlayback(voice),)  # the old session goes
    stage.wait(700)
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2), fx.ResumePlayback(voice))
    assert stage.state.heard_ms == heard_ms
    stage.play(1_000)
    stage.finish()
    assert len(requests(stage)) == asked
    assert stage.state.answered == turn
    assert due(stage, Timer.SESSION_LIMIT) == limit + 700 + limit
    assert due(stage, Timer.SESSION_WARNING) == limit + 700 + warning
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(20)
def test_the_session_is_renewed_at_its_limit_in_the_middle_of_a_sentence() -> None:
    """pipecat#3170: the realtime session ends after its maximal duration, and the conversation with
    it."""
    a_limit_in_mid_sentence(in_a_room())


def an_expired_session(stage: Stage) -> None:
    stage.say()
    stage.think()
    assert stage.fail_reply(ErrorClass.SESSION_EXPIRED) == (fx.SaveContext(), fx.CancelReply(1))
    assert stage.effects(fx.ShowFault) == []
    stage.wait(stage.settings.backoff_ms[0])
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(stage.state.session_id),)
    stage.wait(stage.settings.beat_ms)
    assert requests(stage) == [(1, 1), (1, 1)]
    stage.answer()
    assert len(when(stage, fx.StartPlayback)) == 1
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(20)
def test_a_session_that_expired_is_replaced_and_the_open_turn_is_asked_again() -> None:
    """livekit/agents#2358: "your session hit the maximum duration", and the agent is gone."""
    an_expired_session(in_a_room())


def a_renewal_that_fails(stage: Stage) -> None:
    stage.say()
    stage.answer()
    while not stage.effects(fx.RenewSession):
        stage.wait(15_000)
        if not stage.effects(fx.RenewSession):
            stage.say()
            stage.answer()
    assert stage.state.link is Link.UP
    turn = stage.state.turn
    asked = len(requests(stage))
    stage.say()
    assert stage.happen(ev.SessionFailed, error=ErrorClass.NETWORK_TIMEOUT)[0] == fx.SaveContext()
    assert stage.state.link is Link.BACKING_OFF
    stage.wait(stage.settings.backoff_ms[0])
    stage.happen(ev.SessionReady)
    stage.wait(stage.settings.beat_ms)
    assert requests(stage)[asked:] == [(turn + 1, turn + 1)] * 2
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(20)
def test_a_renewal_that_fails_becomes_a_reconnection_and_loses_no_words() -> None:
    """livekit/agents#1252: there is no way to put the conversation into a fresh connection."""
    a_renewal_that_fails(in_a_room())


# -- 21: a voice front end of a worker


def a_result_reported_twice(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.wait(stage.settings.tool_ms_max - 1)
    stage.happen(ev.JobFinished)
    late = (ev.JobFinished, ev.JobFailed, ev.CancelRequested, ev.CallDispatched)
    assert [stage.happen(kind, call=call) for kind in late] == [()] * len(late)
    stage.wait(1)
    assert stage.effects(fx.PostOutput) == [fx.PostOutput(call, Outcome.DONE)]
    assert stage.effects(fx.CancelWork) == stage.effects(fx.PostNews) == []
    assert requests(stage) == [(1, 1), (1, 1)]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(21)
def test_a_call_has_one_output_however_often_its_end_is_reported() -> None:
    """bkrabach/amplifier-voice: result, failure, cancel and timeout each write an output for the same
    call id."""
    a_result_reported_twice(in_a_room())


def a_result_while_a_reply_is_active(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait(1)
    stage.answer()
    stage.say()
    stage.think()
    asked = len(requests(stage))
    stage.happen(ev.JobFinished)
    stage.wait(50)
    stage.speak(1_000)
    assert len(requests(stage)) == asked
    stage.finish()
    finished_at = stage.at
    assert len(requests(stage)) == asked
    stage.wait(stage.settings.beat_ms)
    assert when(stage, fx.StartReply)[asked:] == [finished_at + stage.settings.beat_ms]
    stage.answer()
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(21)
def test_a_result_waits_until_the_active_reply_was_heard() -> None:
    """bkrabach/amplifier-voice: a response is requested while one is active, and the request fails."""
    a_result_while_a_reply_is_active(in_a_room())


def a_cancel_during_a_long_job(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.CallDelegated)
    stage.happen(ev.ReplyFinished)
    stage.wait(20_000)
    assert stage.view() == "waiting_amplifier"
    assert stage.happen(ev.CancelRequested) == (
        fx.CancelWork(call),
        fx.PostOutput(call, Outcome.CANCELLED),
        fx.StopCue(),
    )
    assert stage.view() == "idle"
    assert stage.happen(ev.JobFinished, call=call) == ()
    assert requests(stage) == [(1, 1)]
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(21)
def test_a_cancel_arrives_while_the_job_runs() -> None:
    """bkrabach/amplifier-voice: the loop waits for the job, so the cancel is read when it is done."""
    a_cancel_during_a_long_job(in_a_room())


def a_cancel_while_the_line_is_down(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.CallDelegated)
    stage.happen(ev.ReplyFinished)
    stage.happen(ev.LinkClosed)
    assert stage.happen(ev.CancelRequested) == (fx.CancelWork(call), fx.PostOutput(call, Outcome.CANCELLED))
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(5_000)
    assert requests(stage) == [(1, 1)]
    still_works(stage)


@pytest.mark.graveyard(21)
def test_a_cancel_arrives_while_the_line_is_down() -> None:
    """bkrabach/amplifier-voice, of the same kind: a cancel must not depend on the session."""
    a_cancel_while_the_line_is_down(in_a_room())


def a_result_while_the_line_is_down(stage: Stage) -> None:
    stage.say()
    stage.happen(ev.ReplyAccepted)
    call = stage.call_tool()
    stage.happen(ev.CallDelegated)
    stage.happen(ev.ReplyFinished)
    stage.wait(3_000)
    assert stage.happen(ev.LinkClosed) == (fx.SaveContext(),)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(call, Outcome.DONE),)
    stage.wait(1_000)
    assert requests(stage) == [(1, 1)]
    stage.happen(ev.SessionReady)
    stage.wait(stage.settings.beat_ms)
    assert requests(stage) == [(1, 1), (1, 1)]
    stage.answer()
    assert stage.state.answered == 1
    assert dead_air_is_timed(stage)
    still_works(stage)


@pytest.mark.graveyard(21)
def test_a_result_that_comes_while_the_line_is_down_is_told_when_it_is_back() -> None:
    """bkrabach/amplifier-voice: the socket was closed when the job ended, and its result is dropped."""
    a_result_while_the_line_is_down(in_a_room())
