"""Each law about what the person hears notices a machine, a state or a step that is broken on purpose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.deadlines import JOINT_LIMITS, LIMITS, DeadlineOwners
from duologue.core.draft import Draft
from duologue.core.leaves import SOUNDING, TIMER_INDEX, Ask, Cue, Ending, ErrorClass, FaultSource, Link, Timer, User
from duologue.core.link import recover
from duologue.core.machine import ROWS, Machine
from duologue.core.rules import silence_voice
from duologue.core.settings import Settings, profile
from duologue.core.state import State
from duologue.lab.check.core import laws
from duologue.lab.check.core.audible_laws import check_state, check_step
from duologue.lab.check.core.laws import CheckedStep
from duologue.lab.sim.stage import Stage
from tests.core.scenes import asked, fall_silent, in_a_call, speaking, up
from tests.lab.check.core.broken_machines import AUDIBLE, ENDING, LINK, TALK, breaks, changed, drop, with_rule

E, P = ErrorClass, FaultSource


def found(checks: Iterable[tuple[str, str]]) -> list[str]:
    """What is wrong, without the names of the laws."""
    return [message for _, message in checks]


def broken(checks: Iterable[tuple[str, str]]) -> set[str]:
    """The laws that are broken."""
    return {law for law, _ in checks}


def last(stage: Stage) -> CheckedStep:
    record = stage.records[-1]
    return CheckedStep(record.before, record.event, record.after, record.effects)


def without(s: State, timer: Timer) -> State:
    return s._replace(due=tuple(0 if index == TIMER_INDEX[timer] else due for index, due in enumerate(s.due)))


def with_due(s: State, timer: Timer) -> State:
    return s._replace(due=tuple(9_999 if index == TIMER_INDEX[timer] else due for index, due in enumerate(s.due)))


def with_effects(step: CheckedStep, *more: fx.Effect) -> CheckedStep:
    return step._replace(effects=(*step.effects, *more))


def without_effects(step: CheckedStep, kind: type[fx.Effect]) -> CheckedStep:
    return step._replace(effects=tuple(effect for effect in step.effects if type(effect) is not kind))


def break_ears(stage: Stage) -> None:
    stage.happen(ev.ServiceFailed, part=P.EARS, error=E.UNKNOWN)


# -- 10 No unexplained silence


@pytest.mark.req("H-01.signs")
def test_a_wait_without_a_cue_is_found() -> None:
    for stage in (asked(), in_a_call(), speaking()):
        assert list(check_state(stage.state)) == []
        assert broken(check_state(without(stage.state, Timer.CUE))) == {laws.NO_UNEXPLAINED_SILENCE}


@pytest.mark.req("H-01.signs")
def test_a_cue_that_is_armed_for_nothing_is_found() -> None:
    talking = asked()
    talking.begin_talking()
    for stage in (up(), talking):
        assert found(check_state(with_due(stage.state, Timer.CUE))) == [
            "a cue is planned, although the person speaks, waits for nothing or can't hear it"
        ]


@pytest.mark.req("H-01.signs")
def test_cues_that_are_counted_although_the_person_waits_for_nothing_are_found() -> None:
    assert found(check_state(up().state._replace(cues=1))) == ["the count of cues isn't 0, although the wait is over"]


@pytest.mark.req("H-01.signs", "H-08")
@pytest.mark.parametrize("change", [{"sign_at": 10**6}, {"cues": 0}])
def test_a_sound_without_words_that_puts_cues_off_is_found(change: dict[str, int]) -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    stage.begin_talking()
    step = last(stage)
    assert list(check_step(step)) == []
    wrong = step._replace(after=step.after._replace(**change))
    assert found(check_step(wrong)) == ["a sound without words has delayed the next cue"]


@pytest.mark.req("H-01.own")
def test_a_cue_that_changes_the_conversation_is_found() -> None:
    def take_the_turn(d: Draft, e: ev.Event) -> None:
        d.check_ins += 1
        d.emit(fx.PlayCue(Cue.SOUND))

    rows = changed("silent/playing + timer:cue", lambda r: replace(r, do=take_the_turn))
    assert breaks(laws.NO_UNEXPLAINED_SILENCE, Machine(rows), AUDIBLE)


@pytest.mark.req("H-01.signs")
def test_a_due_cue_that_is_not_played_is_found() -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    step = last(stage)
    assert list(check_step(step)) == []
    assert found(check_step(without_effects(step, fx.PlayCue))) == [
        "a cue that is due must be played once, and the next one must be planned"
    ]
    assert found(check_step(step._replace(after=without(step.after, Timer.CUE)))) == [
        "a cue that is due must be played once, and the next one must be planned"
    ]


@pytest.mark.req("H-01.onset")
def test_a_cue_over_the_person_and_two_cues_at_once_are_found() -> None:
    stage = asked()
    stage.begin_talking()
    assert "a cue is played while the person speaks" in found(
        check_step(with_effects(last(stage), fx.PlayCue(Cue.WORDS)))
    )
    stage = asked()
    stage.fail_reply(E.UNKNOWN)
    assert "two cues are played at once" in found(check_step(with_effects(last(stage), fx.PlayCue(Cue.WORDS))))


@pytest.mark.req("H-01.signs")
def test_a_cue_that_goes_on_after_the_wait_is_found() -> None:
    stage = asked()
    stage.wait_for(Timer.CUE)
    stage.happen(ev.InterruptRequested)
    step = last(stage)
    assert list(check_step(step)) == []
    assert "the wait has ended, but its cue goes on" in found(check_step(without_effects(step, fx.StopCue)))


@pytest.mark.req("H-01.onset")
@pytest.mark.parametrize("onset", [ev.SpeechStarted, ev.PttPressed])
def test_an_onset_that_stops_the_cue_twice_or_not_at_all_is_found(onset: type[ev.Event]) -> None:
    stage = up()
    stage.happen(onset)
    step = last(stage)
    assert list(check_step(step)) == []
    for wrong in (without_effects(step, fx.StopCue), with_effects(step, fx.StopCue())):
        assert found(check_step(wrong)) == ["the person begins to speak, but the cue isn't stopped exactly once"]


# -- 11 A question survives a fault


@pytest.mark.req("H-02.again")
def test_the_end_of_a_fault_that_drops_the_question_is_found() -> None:
    stage = asked()
    break_ears(stage)
    stage.wait_for(Timer.DISMISS)
    step = last(stage)
    assert list(check_step(step)) == []
    assert broken(check_step(with_effects(step, fx.ReportLost(1, 1)))) == {laws.QUESTION_SURVIVES}


@pytest.mark.req("H-02.told")
def test_a_machine_that_gives_questions_up_without_a_word_is_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        d.emit(fx.ReportLost(d.answered + 1, d.asked))
        d.answered = d.asked
        recover(d, e)

    rows = changed("link: faulted + timer:dismiss -> preparing", lambda r: replace(r, do=forget))
    assert breaks(laws.QUESTION_SURVIVES, Machine(rows), TALK)


@pytest.mark.req("H-02.told")
def test_a_question_that_is_given_up_without_a_word_is_found() -> None:
    stage = asked()
    stage.fail_reply(E.UNKNOWN)
    step = last(stage)
    assert list(check_step(step)) == []
    assert found(check_step(without_effects(step, fx.PlayCue))) == ["a question is given up, but the person isn't told"]


@pytest.mark.req("H-02.told")
def test_a_fatal_fault_without_a_word_is_found() -> None:
    stage = up()
    stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.AUTH_FAILURE)
    step = last(stage)
    assert list(check_step(step)) == []
    assert found(check_step(without_effects(step, fx.PlayCue))) == [
        "the conversation can't go on, but the person isn't told"
    ]


@pytest.mark.req("H-02.told")
def test_an_answer_that_breaks_off_without_a_word_is_found() -> None:
    stage = speaking()
    stage.happen(ev.PlaybackFailed, error=E.SERVER_ERROR)
    step = last(stage)
    assert list(check_step(step)) == []
    assert found(check_step(without_effects(step, fx.PlayCue))) == ["an answer breaks off, but the person isn't told"]


@pytest.mark.req("H-02.again")
def test_a_question_that_would_make_its_call_twice_is_found() -> None:
    stage = in_a_call()
    break_ears(stage)
    step = last(stage)
    assert list(check_step(step)) == []
    again = step._replace(after=step.after._replace(answered=0, asked=1))
    assert "the brain would be asked again, although its answer has made a tool call" in found(check_step(again))


@pytest.mark.req("H-02.again")
def test_a_fault_that_makes_a_person_wait_is_found() -> None:
    rows = changed("TextTyped/WordsHeard [is_recoverable] -> preparing", drop)
    assert breaks(laws.QUESTION_SURVIVES, Machine(rows), TALK)


# -- 12 An interruption without words ends well


@pytest.mark.req("H-04.offer")
def test_an_interruption_without_an_offer_is_found() -> None:
    owners = DeadlineOwners(LIMITS, [limit for limit in JOINT_LIMITS if limit.timer is not Timer.OFFER])
    assert breaks(laws.INTERRUPTION_ENDS_WELL, Machine(owners=owners), AUDIBLE)


@pytest.mark.req("H-04.heard")
def test_an_answer_that_was_cut_off_and_is_forgotten_is_found() -> None:
    stage = speaking()
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    fall_silent(stage, heard_ms=600)
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)
    step = last(stage)
    assert list(check_step(step)) == []
    forgotten = step._replace(after=step.after._replace(cut=False))
    assert found(check_step(forgotten)) == ["the mark of an answer that was cut off is lost"]


@pytest.mark.req("H-11.cut")
def test_an_answer_that_a_lost_line_cuts_off_for_good_is_found() -> None:
    def forget(d: Draft, e: ev.Event) -> None:
        silence_voice(d, e)
        d.cut = False

    assert breaks(laws.INTERRUPTION_ENDS_WELL, Machine(rules=with_rule("silence", forget)), AUDIBLE)
    stage = speaking()
    stage.happen(ev.LinkClosed)
    step = last(stage)
    assert list(check_step(step)) == []
    forgotten = step._replace(after=step.after._replace(cut=False))
    assert found(check_step(forgotten)) == [
        "a lost line has cut off an answer, but the answer isn't marked to be taken up again"
    ]


@pytest.mark.req("H-11.cut")
def test_an_offer_that_a_lost_line_drops_is_found() -> None:
    stage = speaking()
    stage.happen(ev.LinkClosed)
    stage.wait_for(Timer.BACKOFF)
    stage.happen(ev.SessionReady)
    stage.wait_for(Timer.OFFER)
    stage.happen(ev.LinkClosed)
    step = last(stage)
    assert list(check_step(step)) == []
    forgotten = step._replace(after=step.after._replace(cut=False))
    assert found(check_step(forgotten)) == [
        "a lost line has cut off an answer, but the answer isn't marked to be taken up again"
    ]


# -- 13 Last words are heard


@pytest.mark.req("H-05")
def test_an_end_in_the_middle_of_a_sentence_is_found() -> None:
    hasty = [
        limit._replace(holds=_wants_to_end) if limit.timer is Timer.LAST_WORDS else limit for limit in JOINT_LIMITS
    ]
    assert breaks(laws.LAST_WORDS_ARE_HEARD, Machine(owners=DeadlineOwners(LIMITS, hasty)), ENDING)


def _wants_to_end(s: object) -> bool:
    return s.ending is not Ending.NO  # type: ignore[attr-defined]


@pytest.mark.req("H-05")
def test_an_end_that_loses_words_or_leaves_a_call_open_is_found() -> None:
    stage = up()
    stage.happen(ev.EndAfterSpeaking)
    stage.wait_for(Timer.LAST_WORDS)
    step = last(stage)
    assert list(check_step(step)) == []
    assert broken(check_step(with_effects(step, fx.ReportLost(1, 1)))) >= {laws.LAST_WORDS_ARE_HEARD}
    in_call = step._replace(before=step.before._replace(jobs=in_a_call().state.jobs))
    assert found(check_step(in_call)) == ["the conversation ends while a tool call is open"]
    unasked = step._replace(before=step.before._replace(ending=Ending.NO))
    assert found(check_step(unasked)) == ["the conversation ends before everything is said"]


# -- 14 Noise has bounded power


@pytest.mark.req("H-08")
def test_a_sound_that_puts_the_check_in_off_is_found() -> None:
    stage = up(dead_air_ms=10_000)
    stage.begin_talking()
    step = last(stage)
    assert list(check_step(step)) == []
    assert broken(check_step(step._replace(after=without(step.after, Timer.DEAD_AIR)))) == {laws.NOISE_IS_BOUNDED}


@pytest.mark.req("H-08")
def test_a_check_in_that_waits_another_period_after_a_noise_is_found() -> None:
    stage = up(dead_air_ms=10_000)
    stage.wait(9_900)
    stage.begin_talking()
    stage.wait_for(Timer.DEAD_AIR)
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)
    step = last(stage)
    assert list(check_step(step)) == []
    due = list(step.after.due)
    due[TIMER_INDEX[Timer.DEAD_AIR]] = step.after.at + 10_000
    late = step._replace(after=step.after._replace(due=tuple(due)))
    assert found(check_step(late)) == ["a check-in was due during a sound, but isn't made right after the sound"]


def hangs_up(settings: Settings) -> Settings:
    return replace(AUDIBLE.narrow(settings), hangs_up=True, check_ins_max=0, cue_ms=settings.cue_ms[:1])


GOODBYES = AUDIBLE._replace(narrow=hangs_up)


def at_the_end_of_a_goodbye() -> Stage:
    """A sound of the person goes on at the end of the goodbye."""
    stage = up(dead_air_ms=5_000, check_ins_max=0, hangs_up=True)
    stage.wait(5_000)
    stage.think()
    stage.speak(400)
    stage.happen(ev.SpeechStarted)
    stage.happen(ev.OverlapJudged, bid=False)
    stage.finish()
    return stage


@pytest.mark.req("H-08")
def test_a_sound_that_keeps_a_call_after_its_goodbye_is_found() -> None:
    step = last(at_the_end_of_a_goodbye())
    assert list(check_step(step)) == []
    kept = step._replace(after=step.after._replace(ending=Ending.NO))
    assert found(check_step(kept)) == ["a sound during a goodbye keeps the call, even if the sound is noise"]


@pytest.mark.req("H-08")
def test_a_machine_whose_call_goes_on_after_a_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not breaks(laws.NOISE_IS_BOUNDED, Machine(), GOODBYES)
    monkeypatch.setattr("duologue.core.voice.note_goodbye", lambda d: None)
    assert breaks(laws.NOISE_IS_BOUNDED, Machine(), GOODBYES)


@pytest.mark.req("H-08")
def test_a_machine_in_which_noise_cuts_off_every_goodbye_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.core.voice.note_cut_goodbye", lambda d: None)
    assert breaks(laws.NOISE_IS_BOUNDED, Machine(), GOODBYES)


@pytest.mark.req("H-08")
def test_an_end_that_noise_delays_again_and_again_is_found() -> None:
    def always_wait(d: Draft) -> int:
        return d.settings.text_ms_max

    patient = [
        limit._replace(duration_ms=always_wait) if limit.timer is Timer.LAST_WORDS else limit for limit in JOINT_LIMITS
    ]
    assert breaks(laws.NOISE_IS_BOUNDED, Machine(owners=DeadlineOwners(LIMITS, patient)), GOODBYES)


@pytest.mark.req("H-08")
def test_an_end_that_is_not_armed_is_found() -> None:
    stage = at_the_end_of_a_goodbye()
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.SETTLE)
    assert list(check_state(stage.state)) == []
    assert found(check_state(without(stage.state, Timer.LAST_WORDS))) == [
        "everything is said, but the end of the conversation isn't planned"
    ]


@pytest.mark.req("H-07.floor")
def test_a_hang_up_on_a_person_who_has_just_begun_to_talk_is_found() -> None:
    def in_any_case(s: State, e: ev.Event) -> bool:
        return s.ask is Ask.GOODBYE and s.voice in SOUNDING

    rows = changed("PlaybackFinished/ReplyFinished [said_goodbye]", lambda r: replace(r, when=in_any_case))
    assert breaks(laws.LAST_WORDS_ARE_HEARD, Machine(rows), GOODBYES)


@pytest.mark.req("H-07.floor", "H-07.words")
def test_an_end_that_words_do_not_withdraw_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.core.user.withdraw_end", lambda d: None)
    assert breaks(laws.LAST_WORDS_ARE_HEARD, Machine(), GOODBYES)


@pytest.mark.req("H-08")
def test_a_quiet_conversation_without_a_check_in_to_come_is_found() -> None:
    owners = DeadlineOwners(LIMITS, [limit for limit in JOINT_LIMITS if limit.timer is not Timer.DEAD_AIR])
    assert breaks(laws.NOISE_IS_BOUNDED, Machine(owners=owners), AUDIBLE)
    s = up(dead_air_ms=10_000).state
    assert list(check_state(s)) == []
    assert broken(check_state(without(s, Timer.DEAD_AIR))) == {laws.NOISE_IS_BOUNDED}


@pytest.mark.req("H-09.browser")
def test_a_browser_conversation_may_stay_quiet_after_its_check_in() -> None:
    stage = Stage(profile("confirm"))
    stage.start()
    stage.wait(300_000)
    stage.answer()
    assert stage.state.due[TIMER_INDEX[Timer.DEAD_AIR]] == 0
    assert list(check_state(stage.state)) == []


# -- 15 A pause lasts


@pytest.mark.req("M-07.lasts")
def test_a_pause_that_ends_by_itself_is_found() -> None:
    rows = tuple(one for one in ROWS if "[is_paused] -> suspended" not in one.name)
    assert breaks(laws.PAUSE_LASTS, Machine(rows), LINK)


@pytest.mark.req("M-07.lasts")
def test_a_pause_that_no_one_asked_for_is_found() -> None:
    stage = up()
    stage.happen(ev.SuspendRequested)
    assert list(check_state(stage.state)) == []
    assert broken(check_state(stage.state._replace(paused=False))) == {laws.PAUSE_LASTS}


@pytest.mark.req("M-07.lasts")
def test_a_pause_that_an_event_of_the_line_ends_is_found() -> None:
    stage = up()
    stage.happen(ev.SuspendRequested)
    stage.happen(ev.ResumeRequested)
    resumed = last(stage)
    assert list(check_step(resumed)) == []
    by_itself = resumed._replace(event=ev.LinkHealed(0, 9, 1))
    assert found(check_step(by_itself)) == ["LinkHealed ended a pause, but must not end it"]
    assert resumed.after.link is Link.UP
    assert resumed.after.user is User.QUIET


# -- 17 "Hello?" costs nothing

HELLO = AUDIBLE._replace(fillers=True)


@pytest.mark.req("H-03.alone")
def test_a_hello_that_cancels_the_answer_is_found() -> None:
    def adds_always(s: State, e: ev.Event) -> bool:
        return isinstance(e, ev.TextTyped) or (isinstance(e, ev.WordsHeard) and e.substantial > 0)

    rows = changed("WordsHeard/TextTyped [adds_to_question]", lambda r: replace(r, when=adds_always))
    assert not breaks(laws.HELLO_COSTS_NOTHING, Machine(), HELLO)
    assert breaks(laws.HELLO_COSTS_NOTHING, Machine(rows), HELLO)


@pytest.mark.req("H-03.alone")
def test_a_hello_that_counts_as_a_turn_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duologue.core.user.asks_for_presence", lambda s, words: False)
    assert breaks(laws.HELLO_COSTS_NOTHING, Machine(), HELLO)


def answered_hello() -> CheckedStep:
    """The last step of a "hello?" that is answered by a sign of life."""
    stage = asked()
    stage.begin_talking()
    stage.hear_words(1, final=True, presence=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    step = last(stage)
    assert list(check_step(step)) == []
    return step


@pytest.mark.req("H-03.alone")
def test_a_hello_without_a_sign_of_life_is_found() -> None:
    silent = without_effects(answered_hello(), fx.PlayCue)
    assert found(check_step(silent)) == [
        "the person asks whether the agent is there, but hears neither a cue nor the answer"
    ]


@pytest.mark.req("H-03.alone")
@pytest.mark.parametrize("effect", [fx.CancelReply(3), fx.ReportLost(1, 1), fx.CancelWork(1)])
def test_a_hello_that_costs_an_answer_or_a_job_is_found(effect: fx.Effect) -> None:
    assert "a turn that only asks whether the agent is there has cancelled something" in found(
        check_step(with_effects(answered_hello(), effect))
    )


@pytest.mark.req("H-03.alone")
def test_a_hello_that_is_forgotten_or_makes_the_brain_begin_again_is_found() -> None:
    step = answered_hello()
    assert found(check_step(without_effects(step, fx.RecordOverheard))) == [
        "words that only ask whether the agent is there aren't recorded"
    ]
    assert "words that only ask whether the agent is there restart the request" in found(
        check_step(with_effects(step, fx.StartReply(4, 1, 1)))
    )
