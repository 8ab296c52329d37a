"""Cues: while the person waits in silence, they hear that the agent is there."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Cue, ErrorClass, FaultSource, Link, Outcome, Reply, Timer, Voice
from duologue.core.settings import Settings, profile
from duologue.lab.sim.stage import Stage
from tests.core import scenes
from tests.core.scenes import ASKED_AT, due, in_a_call, when

SOUND, WORDS = fx.PlayCue(Cue.SOUND), fx.PlayCue(Cue.WORDS)
CUE_MS = (3_000, 4_000, 8_000)


def asked(**changes: object) -> Stage:
    return scenes.asked(cue_ms=CUE_MS, **changes)


def speaking(heard_ms: int = 600, **changes: object) -> Stage:
    return scenes.speaking(heard_ms, cue_ms=CUE_MS, **changes)


def given(stage: Stage) -> list[tuple[int, Cue]]:
    """When each cue was given."""
    return [(m.event.at, e.cue) for m in stage.records for e in m.effects if isinstance(e, fx.PlayCue)]


# -- A wait


@pytest.mark.req("H-01.words", "H-01.signs")
def test_a_wait_has_a_sound_after_3_s_then_words_and_then_words_again_and_again() -> None:
    stage = asked(attempt_ms_max=60_000, answer_ms_max=60_000)
    stage.wait(2_999)
    assert given(stage) == []
    stage.wait(1)
    assert stage.records[-1].effects == (SOUND,)
    stage.wait(4_000)
    assert stage.records[-1].effects == (WORDS,)
    stage.wait(16_000)
    times = [at - ASKED_AT for at in when(stage, fx.PlayCue)]
    assert times == [3_000, 7_000, 15_000, 23_000]
    assert [cue for _, cue in given(stage)] == [Cue.SOUND, Cue.WORDS, Cue.WORDS, Cue.WORDS]


@pytest.mark.req("H-01.signs")
@pytest.mark.parametrize(("pause_ms", "text_ms"), [(300, 100), (300, 900), (1_000, 100), (1_000, 1_500), (2_900, 0)])
def test_a_sign_comes_sooner_after_a_slow_end_of_a_turn(pause_ms: int, text_ms: int) -> None:
    """The person falls silent, the turn ends after `pause_ms`, and its text comes after another `text_ms`."""
    stage = scenes.up(attempt_ms_max=60_000, answer_ms_max=60_000)
    stage.begin_talking()
    stage.hear_words(2)
    stage.wait(500)
    stage.happen(ev.SpeechStopped)
    silent_at = stage.at
    stage.wait(pause_ms)
    stage.happen(ev.TurnEnded)
    if text_ms < stage.settings.text_ms_max:
        stage.wait(text_ms)
        stage.hear_words(2, final=True)
    else:
        stage.wait_for(Timer.TEXT)
    asked_at = stage.at
    stage.wait_for(Timer.CUE)
    assert stage.at - silent_at <= 4_000
    assert stage.at - asked_at == min(stage.settings.cue_ms[0], 3_500 - pause_ms - text_ms)


@pytest.mark.req("H-01.words", "H-01.signs")
def test_the_defaults_give_a_sign_within_4_s_words_within_8_s_and_a_sign_every_10_s() -> None:
    first, second, *later = Settings().cue_ms
    assert first < 4_000
    assert first + second < 8_000
    assert later
    assert all(wait_ms < 10_000 for wait_ms in (second, *later))


@pytest.mark.req("H-01.own")
def test_a_cue_changes_nothing_but_itself() -> None:
    stage = asked()
    before = stage.state
    stage.wait_for(Timer.CUE)
    after = stage.state
    assert (after.cues, due(stage, Timer.CUE)) == (1, stage.at + 4_000)
    rest = {"at": 0, "cues": 0, "sign_at": 0, "due": ()}
    assert after._replace(**rest) == before._replace(**rest)
    assert stage.views("lifecycle")[-1] == "processing"


@pytest.mark.req("H-01.signs")
def test_cues_go_on_while_the_brain_retries_and_do_not_begin_again() -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    stage.fail_reply(ErrorClass.RATE_LIMIT)
    assert stage.state.reply is Reply.RETRYING
    stage.wait_for(Timer.CUE)
    assert given(stage) == [(ASKED_AT + 3_000, Cue.SOUND), (ASKED_AT + 7_000, Cue.WORDS)]


@pytest.mark.req("H-01.signs")
def test_a_call_that_is_waited_for_has_cues_too() -> None:
    stage = in_a_call()
    assert due(stage, Timer.CUE)
    assert stage.wait_for(Timer.CUE) == (SOUND,)
    stage.happen(ev.CallDispatched)
    stage.wait(1)
    stage.answer()
    assert due(stage, Timer.CUE) == 0  # nothing is awaited while the job runs in the background


@pytest.mark.req("H-01.signs")
def test_news_that_the_brain_has_is_waited_for() -> None:
    stage = in_a_call()
    stage.happen(ev.CallDispatched)
    stage.answer()
    stage.happen(ev.JobFinished)
    assert due(stage, Timer.CUE)
    stage.wait(1)
    assert stage.state.reply is Reply.COMMITTING
    assert due(stage, Timer.CUE)


@pytest.mark.req("H-01.signs")
def test_a_person_who_waits_for_nothing_hears_no_cue() -> None:
    stage = scenes.up(cue_ms=CUE_MS)
    stage.wait(60_000)
    assert given(stage) == []
    stage.say()
    stage.answer()
    assert due(stage, Timer.CUE) == 0


# -- The end of a wait


@pytest.mark.req("H-01.signs")
def test_the_answer_stops_a_cue_that_was_given() -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    assert stage.speak() == (fx.StartPlayback(1, 1), fx.StopCue())
    assert stage.state.cues == 1  # nothing of the answer was heard yet
    stage.play(200)
    assert stage.state.cues == 0


@pytest.mark.req("H-01.signs")
def test_an_answer_in_time_has_no_cue_to_stop() -> None:
    stage = asked()
    assert stage.speak() == (fx.StartPlayback(1, 1),)


@pytest.mark.req("H-01.onset")
@pytest.mark.parametrize("onset", [ev.SpeechStarted, ev.PttPressed])
def test_an_onset_stops_the_cue_in_that_step(onset: type[ev.Event]) -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    assert stage.happen(onset) == (fx.StopCue(),)
    assert due(stage, Timer.CUE) == 0
    assert stage.state.reply is Reply.COMMITTING  # it costs no answer


@pytest.mark.req("H-01.onset")
def test_a_typed_turn_stops_no_cue_because_the_wait_goes_on() -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    stage.wait_for(Timer.CUE)
    assert stage.happen(ev.TextTyped) == (fx.CancelReply(1), fx.StartReply(3, 1, 2))
    words_at = stage.at
    assert stage.wait_for(Timer.CUE) == (WORDS,)
    assert stage.at == words_at + stage.state.settings.cue_ms[-1]


@pytest.mark.req("H-01.onset")
def test_a_sound_over_the_voice_stops_no_cue() -> None:
    stage = speaking()
    assert stage.happen(ev.SpeechStarted) == (fx.HoldPlayback(1),)


def cough(stage: Stage, ms: int = 200) -> None:
    stage.begin_talking()
    stage.wait(ms)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(0, final=True)


@pytest.mark.req("H-01.signs", "H-08")
@pytest.mark.parametrize("every_ms", [1_000, 2_450, 2_900, 5_000])
def test_sounds_without_words_do_not_put_cues_off(every_ms: int) -> None:
    stage = asked(attempt_ms_max=60_000, answer_ms_max=60_000)
    while stage.at < ASKED_AT + 30_000:
        stage.wait(every_ms - 200)
        cough(stage)
    found = [(at - ASKED_AT, cue) for at, cue in given(stage)]
    assert [cue for _, cue in found[:3]] == [Cue.SOUND, Cue.WORDS, Cue.WORDS]
    assert found[0][0] <= 3_000 + 201
    assert found[1][0] - found[0][0] <= 4_000 + 201
    assert all(later[0] - earlier[0] <= 8_000 + 201 for earlier, later in pairwise(found))


@pytest.mark.req("H-01.signs", "H-08")
@pytest.mark.parametrize(("after_ms", "is_soon"), [(0, True), (299, True), (300, False)])
def test_a_cue_that_a_sound_without_words_cuts_off_at_once_is_no_sign(after_ms: int, is_soon: bool) -> None:
    stage = asked(attempt_ms_max=60_000, answer_ms_max=60_000)
    stage.wait_for(Timer.CUE)
    stage.wait(after_ms)
    cough(stage)
    assert (due(stage, Timer.CUE) == stage.at + stage.settings.beat_ms) is is_soon


@pytest.mark.req("H-01.words", "H-08")
@pytest.mark.parametrize(("after_ms", "is_soon"), [(0, True), (700, True), (999, True), (1_000, False)])
def test_words_that_a_sound_cuts_off_before_they_can_be_understood_are_said_again(after_ms: int, is_soon: bool) -> None:
    """The voice may need most of a second to begin."""
    stage = asked(attempt_ms_max=60_000, answer_ms_max=60_000)
    for again in range(3):
        stage.wait_for(Timer.CUE)
        if not again:
            stage.wait_for(Timer.CUE)
        stage.wait(after_ms)
        cough(stage)
        assert (due(stage, Timer.CUE) == stage.at + stage.settings.beat_ms) is is_soon
    assert [cue for _, cue in given(stage)] == [Cue.SOUND, Cue.WORDS, Cue.WORDS, Cue.WORDS]


@pytest.mark.req("H-01.signs")
def test_words_begin_the_wait_anew() -> None:
    stage = asked(attempt_ms_max=60_000, answer_ms_max=60_000)
    stage.wait_for(Timer.CUE)
    stage.begin_talking()
    stage.hear_words(2)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, final=True)
    stage.happen(ev.TurnEnded)
    assert (stage.state.cues, due(stage, Timer.CUE)) == (0, stage.at + 3_000)


@pytest.mark.req("H-01.signs")
@pytest.mark.parametrize("final", [True, False])
def test_a_turn_that_ends_while_the_voice_goes_on_has_no_cue_at_once(final: bool) -> None:
    stage = asked()
    stage.answer()
    stage.wait(20_000)
    stage.begin_talking()
    stage.wait(2_000)
    stage.hear_words(2, final=final)
    stage.happen(ev.TurnEnded)
    ended_at = stage.at
    if not final:
        stage.wait(300)
        stage.hear_words(2, final=True)
    assert due(stage, Timer.CUE) == ended_at + CUE_MS[0] + (0 if final else 300)


@pytest.mark.req("H-01.onset")
def test_no_cue_is_given_while_the_person_speaks() -> None:
    stage = asked()
    stage.begin_talking()
    stage.wait(20_000)
    assert given(stage) == []


# -- A voice that pauses


@pytest.mark.req("H-01.signs")
def test_a_voice_that_pauses_has_a_cue_and_a_report_of_playback_moves_it_by_the_sound_that_was_heard() -> None:
    stage = speaking(heard_ms=0)
    stage.wait(2_000)
    stage.happen(ev.PlaybackProgressed, heard_ms=200)
    assert due(stage, Timer.CUE) == ASKED_AT + 3_000 + 2 * 200
    assert stage.wait_for(Timer.CUE) == (SOUND,)
    assert (stage.state.voice, stage.view("phone")) == (Voice.PLAYING, "agent_speaking")
    stage.happen(ev.PlaybackProgressed, heard_ms=400)
    assert (stage.state.cues, due(stage, Timer.CUE)) == (0, stage.at + 3_000)  # never later than after 3 s of silence


@pytest.mark.req("H-01.signs")
def test_a_voice_that_is_held_has_no_cue() -> None:
    stage = speaking()
    stage.begin_talking()
    assert stage.state.voice is Voice.HELD
    assert due(stage, Timer.CUE) == 0


# -- The link


def fault(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)


def lose(stage: Stage) -> None:
    stage.happen(ev.LinkClosed)


def end_session_early(stage: Stage) -> None:
    stage.wait_for(Timer.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)


@pytest.mark.req("H-01.signs")
@pytest.mark.parametrize(
    ("act", "link"),
    [(fault, Link.FAULTED), (lose, Link.BACKING_OFF), (end_session_early, Link.RENEWING)],
)
def test_a_wait_for_the_session_has_cues(act: Callable[[Stage], None], link: Link) -> None:
    stage = asked(session_ms_max=2_000, session_warning_ms=0)
    act(stage)
    assert stage.state.link is link
    assert stage.wait_for(Timer.CUE) == (SOUND,)
    assert stage.at <= ASKED_AT + 4_000


@pytest.mark.req("H-01.signs")
def test_a_fault_brings_no_cue_forward() -> None:
    """Otherwise the person hears two sentences in a row."""
    stage = asked()
    stage.wait(500)
    while stage.state.link is not Link.FAULTED:
        stage.fail_reply(ErrorClass.RATE_LIMIT)
        if stage.state.reply is Reply.RETRYING:
            stage.wait_for(Timer.RETRY)
    last_at, last = given(stage)[-1]
    assert (last, stage.at - last_at < 2_000) == (Cue.WORDS, True)
    assert due(stage, Timer.CUE) == last_at + 8_000


@pytest.mark.req("H-01.signs")
def test_a_session_that_does_not_open_has_cues_if_the_agent_speaks_first() -> None:
    stage = Stage(profile("words", cue_ms=CUE_MS))
    stage.happen(ev.StartRequested)
    assert stage.wait_for(Timer.CUE) == (SOUND,)
    assert stage.at <= 3_001


@pytest.mark.req("H-01.signs", "M-07.lasts")
@pytest.mark.parametrize("pause", [ev.SuspendRequested, ev.LinkWobbled])
def test_no_cue_is_armed_where_it_could_not_be_heard(pause: type[ev.Event]) -> None:
    stage = asked()
    stage.happen(pause)
    assert due(stage, Timer.CUE) == 0


@pytest.mark.req("H-01.signs")
def test_a_pause_stops_the_cue_that_is_heard() -> None:
    stage = asked()
    assert stage.wait_for(Timer.CUE) == (SOUND,)
    assert stage.happen(ev.SuspendRequested) == (fx.StopCue(),)
    assert stage.happen(ev.ResumeRequested) == ()
    assert stage.state.cues == 1, "the next cue is in words, as without the pause"


@pytest.mark.req("H-01.signs")
def test_a_pause_stops_words_that_no_wait_counts() -> None:
    stage = asked()
    for _ in range(20):
        stage.happen(ev.ReplyFailed, error=ErrorClass.INVALID_ARGS)
        if stage.state.link is not Link.UP or stage.state.said == stage.state.answered:
            break
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    assert (stage.state.link, stage.state.cues) == (Link.UP, 0)
    assert fx.StopCue() in stage.happen(ev.SuspendRequested)


@pytest.mark.req("H-01.signs")
def test_a_pause_that_goes_on_in_a_new_session_stops_the_cue_of_the_wait_for_it() -> None:
    stage = asked()
    stage.happen(ev.SuspendRequested)
    lose(stage)
    assert stage.wait_for(Timer.CUE) == (SOUND,)
    while stage.state.link is not Link.RECONNECTING:
        stage.wait_for(Timer.BACKOFF)
    assert fx.StopCue() in stage.happen(ev.SessionReady)
    assert stage.state.link is Link.SUSPENDED


@pytest.mark.req("H-01.signs")
def test_a_pause_while_the_person_speaks_has_no_cue_to_stop() -> None:
    stage = asked()
    stage.begin_talking()
    assert fx.StopCue() not in stage.happen(ev.SuspendRequested)


@pytest.mark.req("H-01.signs")
def test_a_resume_arms_the_cue_again() -> None:
    stage = asked()
    stage.happen(ev.SuspendRequested)
    stage.wait(60_000)
    stage.happen(ev.ResumeRequested)
    assert due(stage, Timer.CUE) == stage.at + 3_000
    assert given(stage) == []


# -- "Hello?"


def hello(stage: Stage) -> tuple[fx.Effect, ...]:
    """The person asks whether the agent is there. Returns the effects of the end of that turn."""
    stage.begin_talking()
    stage.wait(300)
    stage.hear_words(1, presence=True)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(1, final=True, presence=True)
    return stage.happen(ev.TurnEnded)


@pytest.mark.req("H-03.alone")
def test_hello_while_an_answer_is_owed_is_answered_by_a_sign_of_life_and_cancels_nothing() -> None:
    stage = asked()
    stage.happen(ev.ReplyAccepted)
    assert hello(stage) == (fx.CommitAudio(2), fx.RecordOverheard(2), fx.PlayCue(Cue.PRESENCE))
    s = stage.state
    assert (s.reply, s.said, s.asked, s.answered) == (Reply.WAITING, 1, 1, 0)
    assert stage.effects(fx.CancelReply) == []


@pytest.mark.req("H-03.alone")
def test_hello_during_a_call_is_answered_by_a_sign_of_life() -> None:
    stage = in_a_call()
    assert hello(stage)[-1] == fx.PlayCue(Cue.PRESENCE)
    assert stage.happen(ev.JobFinished) == (fx.PostOutput(1, Outcome.DONE), fx.StartReply(3, 1, 1))


@pytest.mark.req("H-03.alone")
def test_a_late_text_of_hello_is_answered_by_a_sign_of_life() -> None:
    stage = asked()
    stage.begin_talking()
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.wait(1_500)
    effects = stage.hear_words(1, final=True, presence=True)
    assert effects == (fx.RecordOverheard(2), fx.PlayCue(Cue.PRESENCE))
    assert stage.state.reply is Reply.COMMITTING


@pytest.mark.req("H-03.more")
def test_hello_and_more_supersedes_the_question_as_before() -> None:
    stage = asked()
    stage.begin_talking()
    assert stage.hear_words(1, presence=True) == ()
    assert stage.hear_words(3) == (fx.CancelReply(1),)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(3, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


@pytest.mark.req("H-03.more")
def test_hello_while_nothing_is_owed_is_a_turn() -> None:
    stage = scenes.up()
    assert hello(stage) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


@pytest.mark.req("H-03.alone")
def test_hello_over_the_answer_is_recorded_as_overheard_without_a_sign() -> None:
    stage = speaking(name="words")
    assert hello(stage) == (fx.CommitAudio(2), fx.RecordOverheard(2))


@pytest.mark.req("H-03.alone")
def test_a_filler_after_hello_is_no_longer_a_question_whether_the_agent_is_there() -> None:
    stage = scenes.up()
    stage.begin_talking()
    stage.hear_words(1, presence=True)
    stage.hear_words(2, substantial=0)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(2, substantial=0, final=True)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))


# -- The rest of an answer that was cut off


@pytest.mark.req("H-01.signs")
def test_a_person_who_waits_for_a_lost_line_in_the_middle_of_an_answer_hears_cues() -> None:
    stage = speaking()
    stage.happen(ev.LinkClosed)
    lost_at = stage.at
    stage.wait(12_000)
    assert stage.state.link in (Link.BACKING_OFF, Link.RECONNECTING)
    assert stage.effects(fx.PlayCue) == [SOUND, WORDS]
    first, second = when(stage, fx.PlayCue)
    assert first <= lost_at + CUE_MS[0]
    assert second == first + CUE_MS[1]


@pytest.mark.req("H-01.signs")
def test_a_person_who_waits_for_the_offer_to_go_on_hears_cues() -> None:
    stage = speaking()
    stage.happen(ev.LinkClosed)
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.wait_for(Timer.OFFER)
    asked_at = stage.at
    stage.wait(7_500)  # the brain or the voice hangs
    assert min(at for at in when(stage, fx.PlayCue) if at >= asked_at) <= asked_at + CUE_MS[0]
    assert WORDS in stage.effects(fx.PlayCue)
    assert fx.StopCue() in stage.speak()
