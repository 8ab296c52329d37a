"""Every notice is true when it is shown, and isn't shown when it would be false."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Reply, Timer, Voice
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.lab.sim.population import simulate
from duologue.lab.sim.stage import Stage
from duologue.observe import notices
from duologue.observe.notices import NOTICE_ROWS, Notice, NoticeHistory, Outside, about, is_ordinary, step
from duologue.phrases.texts import NOTICES, notice, texts_in
from duologue.runtime import announcements

E, P, T = ErrorClass, FaultSource, Timer
FAULT_CODES = {error.value for error in ErrorClass}


def shown(stage: Stage) -> list[Notice]:
    """Every notice that this conversation showed."""
    history, found = NoticeHistory(), list[Notice]()
    for record in stage.records:
        history, notices = step(history, record)
        found += notices
    return found


def codes(stage: Stage) -> list[str]:
    return [one.code for one in shown(stage)]


def asking(**changes: object) -> Stage:
    """A turn was said and is being answered."""
    stage = Stage(profile("confirm", **{"dead_air_ms": 0, **changes}))
    stage.start()
    stage.say()
    return stage


def faulted(part: FaultSource = P.BRAIN, error: ErrorClass = E.SERVER_ERROR) -> Stage:
    """The answer has failed for good, and the fault is shown. With this error, the question is still owed."""
    stage = asking()
    if part is P.BRAIN:
        stage.fail_reply(error)
        if stage.state.reply is Reply.RETRYING:
            stage.wait_for(T.RETRY)
            stage.fail_reply(error)
    else:
        stage.happen(ev.ServiceFailed, part=part, error=error)
    assert stage.state.link is Link.FAULTED
    return stage


def lost() -> Stage:
    """The line was lost in the middle of a conversation."""
    stage = asking()
    stage.answer()
    stage.happen(ev.LinkClosed)
    assert stage.state.link is Link.BACKING_OFF
    return stage


def come_back(stage: Stage) -> None:
    stage.wait_for(T.BACKOFF)
    stage.happen(ev.SessionReady)


def record_of(event: ev.Event, before: Link, after: Link, *effects: fx.Effect) -> StepRecord:
    state = initial(profile("confirm"))._replace(link=before, voice=Voice.SILENT)
    return StepRecord(event, state, state._replace(link=after), effects, ())


# -- The table


@pytest.mark.req("H-11.language")
def test_every_row_has_a_text_in_every_language_and_every_text_has_a_row() -> None:
    assert {row.text for row in NOTICE_ROWS} | {"start_refused"} == {*NOTICES}, "start_refused is sent as an error"
    assert {row.level for row in NOTICE_ROWS} == {"info", "warning", "error"}
    assert {action for row in NOTICE_ROWS for action in row.actions} == {"retry", "dismiss", "restart"}


def test_only_errors_offer_a_retry_and_a_fatal_one_offers_a_new_start() -> None:
    assert all(row.level == "error" for row in NOTICE_ROWS if "retry" in row.actions)
    assert all(row.actions == ("restart",) for row in NOTICE_ROWS if row.fatal)


def test_a_conversation_in_which_nothing_goes_wrong_shows_nothing() -> None:
    stage = asking()
    stage.answer()
    stage.say()
    stage.think()
    stage.speak(600)
    stage.happen(ev.InterruptRequested)
    stage.happen(ev.PlaybackStopped, heard_ms=600)
    stage.happen(ev.EndRequested)
    assert shown(stage) == []


# -- Faults


@pytest.mark.parametrize("error", [E.TOOL_ERROR, E.INVALID_ARGS, E.UNKNOWN])
def test_a_fault_is_shown_with_its_part_and_what_to_do(error: ErrorClass) -> None:
    one, lost = shown(faulted(error=error))
    assert lost.code == "lost", "asking again would be no use"
    assert one == Notice(error.value, "error", f"fault_{error.value.lower()}", ("dismiss",), False, "brain")


def test_a_fault_with_a_question_that_is_still_owed_offers_to_try_again() -> None:
    stage = asking()
    for _ in range(2):
        stage.fail_reply(E.SERVER_ERROR)
        stage.wait(stage.settings.retry_ms[0])
    assert [(one.code, one.actions) for one in shown(stage)] == [("SERVER_ERROR", ("retry", "dismiss"))]


def test_a_failure_that_is_retried_is_no_fault() -> None:
    stage = asking()
    stage.fail_reply(E.SERVER_ERROR)
    assert stage.state.link is Link.UP
    assert shown(stage) == []


def test_a_fatal_fault_offers_a_new_start_only() -> None:
    stage = asking()
    stage.fail_reply(E.AUTH_FAILURE)
    assert [(one.code, one.fatal, one.actions) for one in shown(stage)] == [("AUTH_FAILURE", True, ("restart",))]


@pytest.mark.parametrize("error", [E.UNKNOWN, E.RATE_LIMIT])
def test_a_fault_after_too_many_others_says_so_and_not_to_retry(error: ErrorClass) -> None:
    fault = record_of(ev.TimerFired(1, T.ANSWER, 1), Link.UP, Link.FAULTED, fx.ShowFault(P.BRAIN, error, fatal=True))
    (one,) = step(NoticeHistory(), fault)[1]
    assert one == Notice(error.value, "error", "fault_too_often", ("restart",), True, "brain")


def test_an_answer_that_stalls_is_called_neither_the_voice_nor_the_brain() -> None:
    stage = asking()
    stage.think()
    stage.speak(400)
    stage.wait_for(T.STALL)
    (one,) = [each for each in shown(stage) if each.level == "error"]
    assert (one.code, one.text, one.part) == ("stalled", "stalled", "")
    for language in ("en", "de", "ja"):
        assert texts_in(language).parts["voice"].lower() not in notice(language, one.text).lower()


def test_a_voice_that_fails_is_called_the_voice() -> None:
    (one,) = shown(faulted(P.VOICE, E.SERVER_ERROR))
    assert (one.code, one.part) == ("SERVER_ERROR", "voice")


def test_a_long_speech_is_no_fault_and_no_problem_of_the_voice() -> None:
    stage = asking(long_speech_ms=1_000)
    stage.think()
    stage.speak(2_000)
    assert [(one.code, one.level, one.actions) for one in shown(stage)] == [("long_speech", "info", ())]
    short = asking(long_speech_ms=3_000)
    short.answer(1_000)
    assert shown(short) == []


# -- It works again


def test_it_works_again_is_shown_when_an_answer_was_heard_after_the_fault() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    assert codes(stage) == ["SERVER_ERROR"], "a session alone shows nothing"
    stage.wait_for(T.BEAT)
    stage.answer()
    assert codes(stage) == ["SERVER_ERROR", "recovered"]


def test_it_works_again_is_shown_when_the_person_interrupts_the_answer() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.think()
    stage.speak(600)
    stage.happen(ev.InterruptRequested)
    stage.happen(ev.PlaybackStopped, heard_ms=600)
    stage.wait(1_000)
    assert codes(stage) == ["SERVER_ERROR", "recovered"]


def test_it_works_again_is_shown_when_the_question_was_asked_again_by_itself() -> None:
    stage = faulted()
    stage.wait_for(T.DISMISS)
    stage.happen(ev.SessionReady)
    assert codes(stage) == ["SERVER_ERROR"], "that a fault is no longer shown doesn't say that it works"
    stage.wait_for(T.BEAT)
    stage.answer()
    assert codes(stage) == ["SERVER_ERROR", "recovered"]


def test_a_fault_that_the_person_dismisses_is_never_said_to_work_again() -> None:
    stage = faulted()
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    stage.say()
    stage.answer()
    assert [code for code in codes(stage) if code != "lost"] == ["SERVER_ERROR"]


def test_an_answer_that_fails_while_it_is_played_does_not_show_that_it_works() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.think()
    stage.speak(600)
    stage.fail_reply(E.SERVER_ERROR)
    stage.finish()
    assert "recovered" not in codes(stage)


def test_an_answer_of_which_nothing_was_heard_does_not_show_that_it_works() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.think()
    stage.speak()
    stage.happen(ev.PlaybackFinished, heard_ms=0)
    assert "recovered" not in codes(stage)


def test_a_check_in_that_is_heard_does_not_show_that_the_brain_works() -> None:
    stage = asking(dead_air_ms=5_000)
    stage.answer()
    stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.DEAD_AIR)
    stage.answer()
    assert stage.state.check_ins == 1
    assert codes(stage) == ["UNKNOWN"]


def test_a_check_in_that_is_interrupted_does_not_show_that_the_brain_works() -> None:
    stage = asking(dead_air_ms=5_000)
    stage.answer()
    stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.DEAD_AIR)
    stage.think()
    stage.speak(900)
    stage.interrupt()
    stage.wait(1_000)
    assert [cut.heard_ms for cut in stage.effects(fx.TruncateReply)] == [800]
    assert codes(stage) == ["UNKNOWN"]


def test_a_second_fault_does_not_show_that_the_first_is_over() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.think()
    stage.speak(600)
    stage.wait_for(T.STALL)
    assert codes(stage) == ["SERVER_ERROR", "stalled"]


def test_without_a_fault_nothing_works_again() -> None:
    stage = asking()
    stage.answer()
    stage.say()
    stage.answer()
    assert shown(stage) == []


def test_after_a_fault_of_the_ears_words_show_that_they_work_and_an_answer_does_not() -> None:
    stage = asking()
    stage.happen(ev.ServiceFailed, part=P.EARS, error=E.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.answer()
    stage.happen(ev.TextTyped)
    stage.answer()
    assert codes(stage) == ["UNKNOWN"], "what was typed was answered; whether the ears work isn't known"
    stage.begin_talking()
    stage.hear_words()
    assert codes(stage) == ["UNKNOWN", "recovered"]


def test_it_works_again_is_shown_once() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait_for(T.BEAT)
    stage.answer()
    stage.say()
    stage.answer()
    assert codes(stage) == ["SERVER_ERROR", "recovered"]


# -- The connection is back


def test_the_connection_is_back_is_shown_after_a_lost_connection() -> None:
    stage = lost()
    assert shown(stage) == []
    come_back(stage)
    assert codes(stage) == ["restored"]


def test_a_fault_that_opens_a_new_session_was_no_lost_connection() -> None:
    stage = faulted()
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    assert "restored" not in codes(stage)


def test_a_renewed_session_was_no_lost_connection() -> None:
    stage = asking(session_ms_max=60_000, session_warning_ms=50_000)
    stage.answer()
    stage.wait(61_000)
    stage.happen(ev.SessionReady)
    assert stage.state.link is Link.UP
    assert "restored" not in codes(stage)


def test_a_new_session_that_the_program_asked_for_was_no_lost_connection() -> None:
    stage = asking()
    stage.answer()
    stage.happen(ev.ReconnectRequested)
    come_back(stage)
    assert shown(stage) == []


def test_a_connection_that_could_not_be_restored_is_said_once_and_back_after_a_retry() -> None:
    stage = lost()
    for _ in range(20):
        if stage.state.link is Link.FAULTED:
            break
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.SessionFailed, error=E.NETWORK_TIMEOUT)
    assert [(one.code, one.actions) for one in shown(stage)] == [("not_restored", ("retry", "restart"))]
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    assert codes(stage) == ["not_restored", "restored"]
    stage.say()
    stage.answer()
    assert codes(stage) == ["not_restored", "restored"], "that the connection is back says it all"


def test_a_lost_connection_that_the_person_dismisses_is_not_said_to_be_back() -> None:
    stage = lost()
    for _ in range(20):
        if stage.state.link is Link.FAULTED:
            break
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.SessionFailed, error=E.NETWORK_TIMEOUT)
    stage.happen(ev.DismissRequested)
    stage.happen(ev.SessionReady)
    assert "restored" not in codes(stage)


def test_a_connection_that_comes_back_to_a_call_that_has_ended_is_not_shown() -> None:
    stage = lost()
    stage.happen(ev.EndRequested)
    stage.wait(10_000)
    assert "restored" not in codes(stage)


# -- Other notices


def test_turns_that_got_no_answer_are_shown_with_their_numbers() -> None:
    stage = faulted()
    assert "lost" not in codes(stage), "it may still be answered"
    asked_again = faulted()
    asked_again.wait_for(T.DISMISS)
    assert "lost" not in codes(asked_again), "it is asked again by itself"
    stage.happen(ev.DismissRequested)
    (one,) = [each for each in shown(stage) if each.code == "lost"]
    assert one.turns == (1, 1)


def test_a_turn_that_is_too_long_is_answered_and_said_to_be() -> None:
    stage = Stage(profile("confirm", dead_air_ms=0, talk_ms_max=5_000))
    stage.start()
    stage.begin_talking()
    stage.hear_words()
    stage.wait(4_900)
    assert shown(stage) == []
    stage.wait(200)
    assert codes(stage) == ["long_turn"]


def test_a_pause_that_ends_the_conversation_is_said_and_another_end_is_not() -> None:
    stage = asking(suspend_ms_max=30_000)
    stage.answer()
    stage.happen(ev.SuspendRequested)
    stage.wait_for(T.SUSPEND)
    assert stage.state.link is Link.TERMINATING
    assert [(one.code, one.actions) for one in shown(stage)] == [("pause_over", ("restart",))]
    hung_up = asking(suspend_ms_max=30_000)
    hung_up.answer()
    hung_up.happen(ev.SuspendRequested)
    hung_up.happen(ev.EndRequested)
    assert shown(hung_up) == []


def test_the_conversation_is_saved_again_only_if_it_was_not_saved() -> None:
    history, shown_first = step(NoticeHistory(), Outside("saved"))
    assert shown_first == ()
    history, unsaved = step(history, Outside("unsaved"))
    assert [one.code for one in unsaved] == ["unsaved"]
    history, again = step(history, Outside("saved"))
    assert [one.code for one in again] == ["saved_again"]
    assert step(history, Outside("saved"))[1] == ()


@pytest.mark.parametrize("fact", ["problem_ears", "problem_voice", "problem_journal", "stopping", "gone", "unsaved"])
def test_a_fact_from_outside_has_one_notice_and_no_other_fact_shows_it(fact: str) -> None:
    one = about(fact)
    assert one is not None
    assert one.code == fact
    assert about("something else") is None
    assert about("saved") is None


def test_a_problem_of_the_voice_is_not_shown_for_the_brain() -> None:
    assert about("problem_brain") is None


def test_a_step_that_changes_nothing_shows_nothing() -> None:
    state = initial(profile("confirm"))
    nothing = StepRecord(ev.WordsHeard(0, 1, turn=1, words=2, substantial=2), state, state, (), ())
    before = NoticeHistory(trouble=P.EARS, is_lost=True)
    assert step(before, nothing) == (before, ())


def test_no_row_holds_in_a_step_that_counts_as_ordinary(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls with faults: every step is looked at with the rows, and without them where that is enough."""
    wrong, counts = list[StepRecord](), {True: 0, False: 0}

    def checked(h: NoticeHistory, i: StepRecord) -> tuple[NoticeHistory, tuple[Notice, ...]]:
        if i.after is not i.before:
            counts[is_ordinary(h, i)] += 1
            holds = any(row.when(h, i) for row in NOTICE_ROWS)
            if is_ordinary(h, i) and (holds or notices.after_step(h, i) != h):
                wrong.append(i)
        return step(h, i)

    monkeypatch.setattr(announcements, "step", checked)
    for _ in simulate(25, 5, faults=True):
        pass
    assert not wrong
    assert counts[True] > counts[False] > 0
