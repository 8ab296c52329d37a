"""An interruption without words ends well: the agent offers to go on, and noise has bounded power."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Ask, Ending, Link, Reply, Timer, Voice
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, due, fall_silent, requests, speaking, up, when

OFFER_MS = 700
NOISE_MS = 600


def cut_off(heard_ms: int = 600, name: str = "confirm", **changes: object) -> Stage:
    """A sound has interrupted the answer to turn 1, and goes on."""
    stage = speaking(heard_ms, name, **changes)
    if name == "immediate":
        stage.happen(ev.SpeechStarted)
    else:
        stage.begin_talking()
        stage.happen(ev.OverlapJudged, bid=True)
    assert stage.state.voice is Voice.STOPPING
    fall_silent(stage, heard_ms)
    return stage


# -- The offer


@pytest.mark.req("H-04.offer")
@pytest.mark.parametrize("name", ["confirm", "immediate", "words"])
def test_a_sound_that_held_no_word_is_followed_by_an_offer_within_2_s(name: str) -> None:
    stage = cut_off(name=name)
    stage.happen(ev.SpeechStopped)
    stopped_at = stage.at
    assert stage.state.cut
    assert stage.wait_for(Timer.OFFER) == (fx.StartReply(3, 2, 1, Ask.OFFER),)
    assert stage.at == stopped_at + NOISE_MS + OFFER_MS
    assert stage.at <= stopped_at + 2_000
    assert not stage.state.cut


@pytest.mark.req("H-04.offer")
def test_a_press_without_a_word_is_followed_by_an_offer() -> None:
    stage = speaking()
    stage.happen(ev.PttPressed)
    fall_silent(stage, heard_ms=600)
    stage.happen(ev.PttReleased)
    stage.wait_for(Timer.TEXT)
    quiet_at = stage.at
    stage.wait_for(Timer.OFFER)
    assert stage.at == quiet_at + OFFER_MS
    assert stage.effects(fx.StartReply)[-1].ask is Ask.OFFER


@pytest.mark.req("H-04.heard")
def test_the_turn_is_answered_as_far_as_it_was_heard() -> None:
    stage = cut_off()
    assert stage.effects(fx.TruncateReply) == [fx.TruncateReply(1, 600)]
    assert stage.state.answered == 1
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("H-04.again")
def test_an_answer_of_which_nothing_was_heard_is_asked_again_instead_of_offered() -> None:
    stage = cut_off(heard_ms=0)
    stage.happen(ev.SpeechStopped)
    stage.wait(60_000)
    asks = stage.effects(fx.StartReply)
    assert asks[1] == fx.StartReply(3, 1, 1, Ask.ANSWER)
    assert all(start.ask is Ask.ANSWER for start in asks)


@pytest.mark.req("H-04.offer")
def test_words_are_answered_and_nothing_is_offered() -> None:
    stage = cut_off()
    stage.hear_words(2, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert not stage.state.cut
    assert requests(stage) == [(1, 1), (2, 2)]
    assert stage.effects(fx.StartReply)[-1].ask is Ask.ANSWER


@pytest.mark.req("H-04.offer")
@pytest.mark.parametrize("stop", [ev.InterruptRequested, ev.TextTyped])
def test_a_person_who_stops_the_agent_on_purpose_gets_no_offer(stop: type[ev.Event]) -> None:
    stage = speaking()
    stage.happen(stop)
    assert not stage.state.cut
    fall_silent(stage, heard_ms=600)
    assert due(stage, Timer.OFFER) == 0


@pytest.mark.req("H-04.offer")
def test_a_stop_command_while_the_voice_ends_withdraws_the_offer() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    assert stage.state.cut
    stage.happen(ev.InterruptRequested)
    assert not stage.state.cut


@pytest.mark.req("H-04.offer")
def test_the_offer_waits_while_the_sound_goes_on_and_begins_again_after_another_sound() -> None:
    stage = cut_off()
    stage.wait(5_000)
    assert due(stage, Timer.OFFER) == 0
    stage.happen(ev.SpeechStopped)
    stage.wait(NOISE_MS + OFFER_MS - 1)
    stage.cough()
    assert due(stage, Timer.OFFER) == 0
    stage.wait(NOISE_MS)
    assert due(stage, Timer.OFFER) == stage.at + OFFER_MS


@pytest.mark.req("H-04.offer")
def test_an_offer_that_is_cut_off_is_offered_again_but_a_check_in_is_not() -> None:
    stage = cut_off()
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.OFFER)
    stage.speak(200)
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    assert stage.state.cut
    checking = up(dead_air_ms=5_000)
    checking.wait(5_000)
    checking.speak(200)
    checking.begin_talking()
    checking.happen(ev.OverlapJudged, bid=True)
    assert not checking.state.cut


# -- A lost line


@pytest.mark.req("H-11.cut", "H-02.cut")
@pytest.mark.parametrize("name", ["confirm", "immediate", "words"])
def test_an_answer_that_a_lost_line_has_cut_off_is_taken_up_once_the_line_is_back(name: str) -> None:
    stage = speaking(600, name)
    stage.happen(ev.LinkClosed)
    assert stage.state.cut
    assert stage.state.answered == 1
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    back_at = stage.at
    assert stage.wait_for(Timer.OFFER) == (fx.StartReply(3, 2, 1, Ask.OFFER),)
    assert stage.at == back_at + OFFER_MS
    assert not stage.state.cut


@pytest.mark.req("H-11.cut", "H-02.cut")
def test_an_answer_of_which_nothing_was_heard_before_the_line_was_lost_is_asked_again_instead() -> None:
    stage = speaking(0)
    stage.happen(ev.LinkClosed)
    assert not stage.state.cut
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert stage.effects(fx.StartReply)[-1] == fx.StartReply(3, 1, 1, Ask.ANSWER)


@pytest.mark.req("H-11.cut")
@pytest.mark.parametrize("is_playing", [False, True])
def test_an_offer_that_a_lost_line_has_cut_off_is_made_again(is_playing: bool) -> None:
    stage = speaking()
    stage.happen(ev.LinkClosed)
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.wait_for(Timer.OFFER)
    if is_playing:
        stage.speak(0)
    assert not stage.state.cut
    stage.happen(ev.LinkClosed)
    assert stage.state.cut
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.wait_for(Timer.OFFER)
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.ANSWER, Ask.OFFER, Ask.OFFER]


@pytest.mark.req("H-11.cut")
def test_a_check_in_that_a_lost_line_has_cut_off_is_not_taken_up() -> None:
    stage = up(dead_air_ms=5_000)
    stage.wait(5_000)
    stage.speak(200)
    stage.happen(ev.LinkClosed)
    assert not stage.state.cut


@pytest.mark.req("H-11.cut")
@pytest.mark.parametrize("kind", [ev.InterruptRequested, ev.TextTyped])
def test_an_answer_that_the_person_stopped_before_the_line_was_lost_is_not_taken_up(kind: type[ev.Event]) -> None:
    stage = speaking()
    stage.happen(kind)
    assert stage.state.voice is Voice.STOPPING
    stage.happen(ev.LinkClosed)
    assert not stage.state.cut


@pytest.mark.req("H-05", "H-11.cut")
def test_last_words_that_a_lost_line_has_cut_off_are_heard_before_the_conversation_ends() -> None:
    stage = speaking()
    stage.happen(ev.EndAfterSpeaking)
    stage.happen(ev.LinkClosed)
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    assert due(stage, Timer.LAST_WORDS) == 0
    stage.wait_for(Timer.OFFER)
    stage.answer()
    stage.wait_for(Timer.LAST_WORDS)
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("H-04.offer")
def test_words_while_the_line_is_lost_are_answered_instead() -> None:
    stage = speaking()
    stage.happen(ev.LinkClosed)
    stage.say()
    assert not stage.state.cut
    stage.happen(ev.SessionReady)
    stage.wait(1)
    assert requests(stage)[-1] == (2, 2)


@pytest.mark.req("H-04.offer", "H-02.told")
def test_an_answer_that_a_fault_has_cut_off_is_told_and_not_offered() -> None:
    stage = speaking()
    stage.wait_for(Timer.STALL)
    assert stage.state.link is Link.FAULTED
    assert not stage.state.cut


@pytest.mark.req("H-04.offer")
def test_the_end_of_the_conversation_forgets_the_offer() -> None:
    stage = cut_off()
    stage.happen(ev.EndRequested)
    assert not stage.state.cut


# -- Noise


@pytest.mark.req("H-08")
def test_sounds_without_words_do_not_put_a_check_in_off() -> None:
    stage = up(dead_air_ms=10_000)
    for _ in range(7):
        stage.wait(400)
        stage.cough()
        stage.wait(800)
    assert stage.at == 9_800
    assert due(stage, Timer.DEAD_AIR) == 10_000
    stage.wait(200)
    assert when(stage, fx.StartReply) == [10_000]


@pytest.mark.req("H-08")
def test_a_check_in_that_is_due_during_a_sound_has_no_effect_then() -> None:
    stage = up(dead_air_ms=10_000)
    stage.wait(9_900)
    stage.begin_talking()
    assert stage.wait_for(Timer.DEAD_AIR) == ()
    assert (stage.at, stage.state.reply, stage.state.check_ins) == (10_000, Reply.NONE, 0)


@pytest.mark.req("H-08")
def test_a_check_in_that_a_sound_has_held_up_comes_a_beat_after_the_noise() -> None:
    stage = up(dead_air_ms=10_000)
    stage.wait(9_900)
    stage.begin_talking()
    stage.wait(60_000)
    stage.happen(ev.SpeechStopped)
    stopped_at = stage.at
    stage.wait_for(Timer.DEAD_AIR)
    assert stage.at == stopped_at + NOISE_MS + 1
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0, Ask.CHECK_IN)]


@pytest.mark.req("H-08")
def test_noise_alone_can_not_keep_a_telephone_call_for_ever() -> None:
    stage = Stage(profile("words", greets=False))
    stage.start()
    for _ in range(200):
        if stage.state.link is not Link.UP:
            break
        if stage.state.reply is Reply.COMMITTING:
            stage.answer()
        stage.cough()
        stage.wait(1_000)
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.CHECK_IN, Ask.CHECK_IN, Ask.GOODBYE]
    assert stage.state.link in (Link.TERMINATING, Link.IDLE)


# -- The end of a goodbye


def at_the_end_of_a_goodbye(is_spoken: bool = True, **changes: object) -> Stage:
    """A sound of the person goes on while the goodbye comes to its end. It is not yet known whether it has words."""
    stage = up(**{"dead_air_ms": 5_000, "check_ins_max": 0, "hangs_up": True, **changes})
    stage.wait(5_000)
    assert stage.effects(fx.StartReply)[-1].ask is Ask.GOODBYE
    if is_spoken:
        stage.think()
        stage.speak(400)
        stage.happen(ev.SpeechStarted)
        stage.happen(ev.OverlapJudged, bid=False)
        stage.finish()
    else:
        stage.happen(ev.SpeechStarted)
        stage.happen(ev.ReplyFinished)
    assert stage.state.link is Link.UP
    return stage


@pytest.mark.req("H-07.floor", "H-08")
@pytest.mark.parametrize("is_spoken", [True, False])
def test_the_end_of_a_goodbye_waits_for_the_verdict_on_a_sound_and_noise_does_not_keep_the_call(
    is_spoken: bool,
) -> None:
    stage = at_the_end_of_a_goodbye(is_spoken)
    finished_at = stage.at
    stage.wait(1_000)
    assert stage.state.link is Link.UP
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.LAST_WORDS)
    assert stage.state.link is Link.TERMINATING
    assert stage.at == finished_at + 1_000 + NOISE_MS + stage.settings.text_ms_max
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.GOODBYE]


@pytest.mark.req("H-07.floor", "H-07.words")
@pytest.mark.parametrize("substantial", [0, 1, 3])
@pytest.mark.parametrize("is_spoken", [True, False])
def test_words_at_the_end_of_a_goodbye_keep_the_call_every_time(is_spoken: bool, substantial: int) -> None:
    stage = at_the_end_of_a_goodbye(is_spoken)
    for _ in range(3):
        stage.wait(300)
        stage.hear_words(3, substantial=substantial, final=True)
        stage.happen(ev.SpeechStopped)
        stage.happen(ev.TurnEnded)
        assert stage.effects(fx.StartReply)[-1].ask is Ask.ANSWER
        stage.answer()
        assert (stage.state.link, stage.state.ending) == (Link.UP, Ending.NO)
        stage.wait(5_000)
        stage.think()
        stage.speak(400)
        stage.happen(ev.SpeechStarted)
        stage.happen(ev.OverlapJudged, bid=False)
        stage.finish()
        assert stage.state.link is Link.UP


@pytest.mark.req("H-07.floor", "H-07.words")
def test_the_late_text_of_a_short_sound_at_the_end_of_a_goodbye_keeps_the_call() -> None:
    stage = at_the_end_of_a_goodbye()
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)  # the sound counts as noise, because its text is late
    stage.wait(900)
    stage.hear_words(1, final=True)
    assert stage.state.ending is Ending.NO
    stage.wait(5)
    assert stage.effects(fx.StartReply)[-1] == fx.StartReply(stage.state.reply_id, 1, 1, Ask.ANSWER)


@pytest.mark.req("H-08")
@pytest.mark.parametrize("is_spoken", [True, False])
def test_noise_again_and_again_after_a_goodbye_delays_the_end_by_at_most_one_period(is_spoken: bool) -> None:
    stage = at_the_end_of_a_goodbye(is_spoken)
    finished_at = stage.at
    while stage.state.link is Link.UP:
        stage.happen(ev.SpeechStopped)
        stage.wait(700)
        if stage.state.link is Link.UP:
            stage.begin_talking()
            stage.wait(300)
        assert stage.at < finished_at + 60_000, "the noise keeps the call"
    assert stage.at <= finished_at + 5_000 + 1_000 + NOISE_MS
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.GOODBYE]


@pytest.mark.req("H-08")
@pytest.mark.parametrize("name", ["confirm", "immediate"])
def test_noise_cuts_off_a_goodbye_once_and_the_next_time_the_call_ends(name: str) -> None:
    stage = up(name, dead_air_ms=5_000, check_ins_max=0, hangs_up=True)
    for _ in range(2):
        assert stage.state.link is Link.UP
        stage.wait(5_000)
        assert stage.effects(fx.StartReply)[-1].ask is Ask.GOODBYE
        stage.think()
        stage.speak(400)
        stage.happen(ev.SpeechStarted)
        stage.happen(ev.OverlapJudged, bid=True)
        fall_silent(stage, heard_ms=600)
        assert stage.state.link is Link.UP
        stage.happen(ev.SpeechStopped)
        stage.wait_for(Timer.SETTLE)
    stage.wait_for(Timer.LAST_WORDS)
    assert stage.state.link is Link.TERMINATING
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.GOODBYE] * 2


@pytest.mark.req("H-07.floor", "H-07.words")
@pytest.mark.parametrize("name", ["confirm", "immediate"])
def test_words_that_cut_off_a_second_goodbye_keep_the_call(name: str) -> None:
    stage = up(name, dead_air_ms=5_000, check_ins_max=0, hangs_up=True)
    for words in (0, 2):
        stage.wait(5_000)
        stage.think()
        stage.speak(400)
        stage.happen(ev.SpeechStarted)
        stage.happen(ev.OverlapJudged, bid=True)
        fall_silent(stage, heard_ms=600)
        stage.hear_words(words, final=True)
        stage.happen(ev.SpeechStopped)
        stage.happen(ev.TurnEnded)
    assert stage.effects(fx.StartReply)[-1] == fx.StartReply(stage.state.reply_id, 1, 2, Ask.ANSWER)
    assert (stage.state.ending, stage.state.check_ins) == (Ending.NO, 0)
    stage.answer()
    assert stage.state.link is Link.UP


@pytest.mark.req("H-07.floor", "H-07.words")
@pytest.mark.parametrize("substantial", [0, 1])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_word_over_the_goodbye_that_does_not_interrupt_it_is_answered_after_it(
    substantial: int, is_late: bool
) -> None:
    stage = up("words", dead_air_ms=5_000, check_ins_max=0, hangs_up=True)
    stage.wait(5_000)
    stage.think()
    stage.speak(400)
    stage.begin_talking()
    if is_late:
        stage.happen(ev.SpeechStopped)
        stage.wait_for(Timer.SETTLE)
    stage.hear_words(1, substantial=substantial, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.RecordOverheard) == []
    assert stage.state.voice is Voice.PLAYING
    stage.finish()
    stage.wait(1)
    assert stage.effects(fx.StartReply)[-1] == fx.StartReply(stage.state.reply_id, 1, 1, Ask.ANSWER)


@pytest.mark.req("H-05")
def test_overheard_words_that_turn_out_to_be_a_bid_withdraw_the_end_of_the_call() -> None:
    stage = speaking(name="words")
    stage.happen(ev.EndAfterSpeaking, withdrawable=True)
    stage.begin_talking()
    stage.hear_words(1, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert stage.state.overheard == 2
    stage.happen(ev.OverlapJudged, bid=True)
    assert (stage.state.said, stage.state.ending) == (2, Ending.NO)


@pytest.mark.req("H-08")
def test_words_stop_the_wait_for_a_check_in_and_an_empty_text_begins_a_new_one() -> None:
    stage = up(dead_air_ms=10_000)
    stage.wait(5_000)
    stage.begin_talking()
    stage.hear_words(1)
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.happen(ev.SpeechStopped)
    stage.hear_words(0, final=True)
    assert due(stage, Timer.DEAD_AIR) == stage.at + 10_000


# -- Idle


@pytest.mark.req("H-09.browser")
@pytest.mark.parametrize("name", ["confirm", "immediate"])
def test_in_a_browser_there_is_one_check_in_after_5_minutes_and_no_goodbye(name: str) -> None:
    stage = Stage(profile(name, session_ms_max=0, session_warning_ms=0))
    stage.start()
    stage.wait(300_000)
    stage.answer()
    stage.wait(24 * 3_600_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 0, Ask.CHECK_IN)]
    assert when(stage, fx.StartReply) == [300_000]
    assert stage.state.link is Link.UP


@pytest.mark.req("H-09.browser")
def test_a_turn_makes_another_check_in_possible() -> None:
    stage = Stage(profile("confirm"))
    stage.start()
    stage.wait(300_000)
    stage.answer()
    assert due(stage, Timer.DEAD_AIR) == 0
    stage.say()
    stage.answer()
    assert due(stage, Timer.DEAD_AIR) == stage.at + 300_000


@pytest.mark.req("H-09.phone")
def test_an_agent_that_hangs_up_says_goodbye_after_its_check_ins() -> None:
    stage = up(dead_air_ms=5_000, check_ins_max=1, hangs_up=True)
    for _ in range(2):
        stage.wait(5_000)
        stage.answer()
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.CHECK_IN, Ask.GOODBYE]
    assert stage.state.link is Link.TERMINATING


@pytest.mark.req("H-09.browser")
def test_an_answered_question_is_no_check_in() -> None:
    stage = asked(dead_air_ms=5_000)
    stage.answer()
    assert due(stage, Timer.DEAD_AIR) == stage.at + 5_000


@pytest.mark.req("H-09.browser")
def test_a_person_who_is_at_the_screen_is_not_asked_whether_they_are_there() -> None:
    stage = Stage(profile("confirm", session_ms_max=0, session_warning_ms=0))
    dead_air_ms = stage.settings.dead_air_ms
    stage.start()
    stage.say()
    stage.answer()
    for _ in range(10):
        stage.wait(dead_air_ms - 1)
        stage.happen(ev.PersonSeen)
    assert [start.ask for start in stage.effects(fx.StartReply)] == [Ask.ANSWER]
    stage.wait(dead_air_ms)
    assert stage.effects(fx.StartReply)[-1].ask is Ask.CHECK_IN


# -- A question that was lost with the line


@pytest.mark.req("H-02.cut")
def test_a_question_that_was_lost_with_the_line_is_said_again() -> None:
    stage = up()
    assert stage.happen(ev.QuestionMissed) == ()
    assert stage.wait_for(Timer.OFFER) == (fx.StartReply(1, 1, 0, Ask.OFFER),)
    assert stage.at == OFFER_MS


@pytest.mark.req("H-02.cut")
@pytest.mark.parametrize("kind", [ev.SpeechRequested, ev.EndAfterSpeaking])
def test_it_is_not_said_again_if_something_else_is_said_next(kind: type[ev.Event]) -> None:
    stage = up()
    stage.happen(kind)
    stage.happen(ev.QuestionMissed)
    assert not stage.state.cut


@pytest.mark.req("H-02.cut")
def test_it_is_not_said_again_while_an_answer_is_owed_or_the_person_speaks() -> None:
    stage = asked()
    stage.happen(ev.QuestionMissed)
    assert not stage.state.cut
    stage = up()
    stage.begin_talking()
    stage.happen(ev.QuestionMissed)
    assert not stage.state.cut
