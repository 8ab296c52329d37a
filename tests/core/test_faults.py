"""Faults by error class: retrying, showing, reconnecting, ending, the breaker, and recovery."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Cue, ErrorClass, FaultSource, Link, Outcome, Reply, Timer
from duologue.core.machine import ROWS
from duologue.core.settings import POLICIES, profile
from duologue.core.state import UNFROZEN
from duologue.lab.sim.stage import Stage

E, P, T = ErrorClass, FaultSource, Timer
ASKED_AT = 1_150  # when the turn of `asking` was complete


def up(**changes: object) -> Stage:
    stage = Stage(profile("confirm", **{"dead_air_ms": 0, **changes}))
    stage.start()
    return stage


def asking(**changes: object) -> Stage:
    """Turn 1 was asked by reply 1, which isn't accepted yet."""
    stage = up(**changes)
    stage.say()
    return stage


def speaking(**changes: object) -> Stage:
    stage = asking(**changes)
    stage.think()
    stage.speak(400)
    return stage


def break_ears(stage: Stage) -> tuple[fx.Effect, ...]:
    return stage.happen(ev.ServiceFailed, part=P.EARS, error=E.UNKNOWN)


def recover(stage: Stage) -> None:
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)


def asked_at(stage: Stage) -> list[int]:
    return [m.event.at - ASKED_AT for m in stage.records for e in m.effects if isinstance(e, fx.StartReply)]


def shown(part: FaultSource, error: ErrorClass, fatal: bool = False) -> fx.ShowFault:
    return fx.ShowFault(part, error, fatal)


def faulted(part: FaultSource, error: ErrorClass, fatal: bool = False) -> tuple[fx.Effect, ...]:
    """The effects of a fault with no question open. If it is fatal, the person is told that the conversation ends."""
    return (shown(part, error, fatal), *([fx.PlayCue(Cue.ENDED)] if fatal else []))


GIVEN_UP = (fx.ReportLost(1, 1), fx.PlayCue(Cue.APOLOGY))

# -- Each class has its own action

REPLY_ACTIONS: dict[ErrorClass, tuple[str, tuple[fx.Effect, ...]]] = {
    E.RATE_LIMIT: ("processing", (fx.CancelReply(1),)),
    E.NETWORK_TIMEOUT: ("processing", (fx.CancelReply(1),)),
    E.SERVER_ERROR: ("processing", (fx.CancelReply(1),)),
    E.SESSION_EXPIRED: ("reconnecting", (fx.SaveContext(), fx.CancelReply(1))),
    E.AUTH_FAILURE: ("error", (*faulted(P.BRAIN, E.AUTH_FAILURE, fatal=True), fx.CancelReply(1))),
    E.TOOL_ERROR: ("error", (shown(P.BRAIN, E.TOOL_ERROR), *GIVEN_UP, fx.CancelReply(1))),
    E.INVALID_ARGS: ("error", (shown(P.BRAIN, E.INVALID_ARGS), *GIVEN_UP, fx.CancelReply(1))),
    E.UNKNOWN: ("error", (shown(P.BRAIN, E.UNKNOWN), *GIVEN_UP, fx.CancelReply(1))),
}


@pytest.mark.req("L-12")
def test_every_class_of_errors_has_a_policy_and_is_in_the_table_of_these_tests() -> None:
    assert set(POLICIES) == set(ErrorClass) == set(REPLY_ACTIONS)


@pytest.mark.req("L-12")
@pytest.mark.parametrize("error", list(ErrorClass))
def test_a_failed_reply_is_handled_by_the_class_of_its_error(error: ErrorClass) -> None:
    stage = asking()
    view, effects = REPLY_ACTIONS[error]
    assert stage.fail_reply(error) == effects
    assert stage.view("lifecycle") == view


@pytest.mark.req("L-12")
@pytest.mark.parametrize("error", list(ErrorClass))
def test_a_failed_service_is_handled_by_the_class_of_its_error(error: ErrorClass) -> None:
    stage = up()
    effects = stage.happen(ev.ServiceFailed, part=P.VOICE, error=error)
    if error is E.SESSION_EXPIRED:
        assert (effects, stage.view("lifecycle")) == ((fx.SaveContext(),), "reconnecting")
    else:
        assert effects == faulted(P.VOICE, error, fatal=error is E.AUTH_FAILURE)


@pytest.mark.req("L-12", "L-18")
@pytest.mark.parametrize("error", [E.TOOL_ERROR, E.INVALID_ARGS])
def test_a_failure_of_a_tool_is_reported_to_the_brain(error: ErrorClass) -> None:
    stage = asking()
    stage.think()
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    assert stage.happen(ev.JobFailed, error=error) == (fx.PostOutput(1, Outcome.FAILED), fx.StartReply(3, 1, 1))


@pytest.mark.req("L-12")
@pytest.mark.parametrize("error", list(ErrorClass))
def test_a_session_that_can_not_be_opened_is_shown_with_its_class(error: ErrorClass) -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    assert stage.happen(ev.SessionFailed, error=error) == faulted(P.SESSION, error, fatal=error is E.AUTH_FAILURE)


@pytest.mark.req("L-12")
def test_an_authentication_failure_ends_a_reconnect_at_its_first_attempt() -> None:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    assert stage.happen(ev.SessionFailed, error=E.AUTH_FAILURE) == faulted(P.LINK, E.AUTH_FAILURE, fatal=True)


@pytest.mark.req("L-12")
def test_an_authentication_failure_of_a_live_session_ends_the_conversation() -> None:
    stage = up()
    assert stage.happen(ev.SessionFailed, error=E.AUTH_FAILURE) == faulted(P.SESSION, E.AUTH_FAILURE, fatal=True)


# -- Retries


@pytest.mark.req("L-13", "C-PER-004")
@pytest.mark.parametrize("error", [E.RATE_LIMIT, E.NETWORK_TIMEOUT])
def test_a_failed_reply_is_retried_after_one_two_and_four_seconds_and_then_is_a_fault(error: ErrorClass) -> None:
    stage = asking()
    for _ in range(3):
        assert stage.fail_reply(error) == (fx.CancelReply(stage.state.reply_id - 1),)
        stage.wait_for(T.RETRY)
    assert asked_at(stage) == [0, 1_000, 3_000, 7_000]
    assert {(ask.first, ask.last) for ask in stage.effects(fx.StartReply)} == {(1, 1)}
    assert stage.fail_reply(error) == (shown(P.BRAIN, error), fx.CancelReply(7))


@pytest.mark.req("L-12", "L-13")
def test_a_server_error_is_retried_once() -> None:
    stage = asking()
    stage.fail_reply(E.SERVER_ERROR)
    stage.wait_for(T.RETRY)
    assert asked_at(stage) == [0, 1_000]
    assert stage.fail_reply(E.SERVER_ERROR) == (shown(P.BRAIN, E.SERVER_ERROR), fx.CancelReply(3))


@pytest.mark.req("L-13")
@pytest.mark.parametrize("error", [E.TOOL_ERROR, E.INVALID_ARGS, E.UNKNOWN, E.AUTH_FAILURE])
def test_other_classes_are_not_retried(error: ErrorClass) -> None:
    stage = asking()
    stage.fail_reply(error)
    assert stage.state.reply is Reply.NONE
    assert asked_at(stage) == [0]


@pytest.mark.req("L-13")
def test_a_retry_is_not_a_millisecond_early() -> None:
    stage = asking()
    stage.fail_reply(E.RATE_LIMIT)
    stage.wait(999)
    assert asked_at(stage) == [0]
    stage.wait(1)
    assert asked_at(stage) == [0, 1_000]


@pytest.mark.req("L-13")
def test_an_answer_sets_the_count_of_retries_back() -> None:
    stage = asking()
    for _ in range(2):
        stage.fail_reply(E.RATE_LIMIT)
        stage.wait_for(T.RETRY)
    stage.answer()
    stage.say()
    for _ in range(3):
        stage.fail_reply(E.RATE_LIMIT)
        stage.wait_for(T.RETRY)
    assert stage.effects(fx.ShowFault) == []
    assert stage.fail_reply(E.RATE_LIMIT)[0] == shown(P.BRAIN, E.RATE_LIMIT)


@pytest.mark.req("L-13")
@pytest.mark.parametrize("arrived", [(), (ev.ReplyAccepted,), (ev.ReplyAccepted, ev.TokenArrived)])
def test_a_reply_is_retried_however_far_it_came_before_its_sound(arrived: tuple[type[ev.Event], ...]) -> None:
    stage = asking()
    for kind in arrived:
        stage.happen(kind)
    assert stage.fail_reply(E.NETWORK_TIMEOUT) == (fx.CancelReply(1),)
    assert stage.wait_for(T.RETRY) == (fx.StartReply(3, 1, 1),)


@pytest.mark.req("L-13")
def test_an_answer_that_never_sounded_is_retried_whole_though_its_sound_was_ready() -> None:
    stage = asking()
    stage.begin_talking()
    stage.speak()
    assert stage.state.reply is Reply.READY
    assert stage.fail_reply(E.RATE_LIMIT) == (fx.CancelReply(1),)
    assert stage.state.reply is Reply.RETRYING


@pytest.mark.req("L-13")
def test_what_the_person_says_during_a_retry_goes_along_with_it() -> None:
    stage = asking()
    stage.fail_reply(E.RATE_LIMIT)
    assert stage.happen(ev.TextTyped) == (fx.StartReply(4, 1, 2),)


@pytest.mark.req("L-13")
def test_a_late_word_of_a_failed_attempt_is_dropped() -> None:
    stage = asking()
    stage.fail_reply(E.RATE_LIMIT)
    after = stage.state
    for kind in (ev.ReplyAccepted, ev.TokenArrived, ev.AudioBuffered, ev.ReplyFinished):
        assert stage.happen(kind, reply=1) == ()
    assert stage.happen(ev.ReplyFailed, reply=1, error=E.UNKNOWN) == ()
    assert stage.state is after


@pytest.mark.req("M-05", "L-12", "H-02.told")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (E.AUTH_FAILURE, (fx.PlayCue(Cue.ENDED),)),
        (E.UNKNOWN, (fx.ReportLost(1, 1), fx.PlayCue(Cue.CALL_MADE))),
    ],
)
def test_a_reply_that_made_a_call_and_fails_for_good_is_a_fault_and_is_told(
    error: ErrorClass, told: tuple[fx.Effect, ...]
) -> None:
    stage = asking()
    stage.think()
    stage.call_tool()
    assert stage.fail_reply(error) == (
        shown(P.BRAIN, error, fatal=error is E.AUTH_FAILURE),
        *told,
        fx.CancelReply(1),
        fx.CancelWork(1),
        fx.PostOutput(1, Outcome.CANCELLED),
    )


# -- In a fault and out of it


@pytest.mark.req("L-13")
def test_a_fault_stops_the_sound_cancels_the_work_and_keeps_what_was_heard() -> None:
    stage = speaking()
    stage.call_tool()
    assert break_ears(stage) == (
        shown(P.EARS, E.UNKNOWN),
        fx.PlayCue(Cue.BROKEN_OFF),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
        fx.CancelWork(1),
        fx.PostOutput(1, Outcome.CANCELLED),
    )


@pytest.mark.req("L-13", "M-08.again", "H-02.again")
def test_a_fault_is_dismissed_after_ten_seconds_exactly_and_its_question_is_asked_again() -> None:
    stage = asking()
    break_ears(stage)
    stage.wait(9_999)
    assert stage.view("conversation") == "faulted"
    stage.wait(1)
    assert stage.records[-1].effects == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    assert stage.view("conversation") == "preparing"
    stage.happen(ev.SessionReady)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 1, 1),)
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("L-13", "M-08.dismissed")
def test_the_person_can_dismiss_a_fault_and_is_told_what_is_lost() -> None:
    stage = asking()
    break_ears(stage)
    assert stage.happen(ev.DismissRequested) == (
        fx.ReportLost(1, 1),
        fx.ClearFault(),
        fx.SaveContext(),
        fx.OpenSession(2),
    )
    stage.happen(ev.SessionReady)
    stage.wait(60_000)
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("L-13", "M-08.dismissed")
def test_a_dismissed_fault_with_nothing_owed_loses_nothing() -> None:
    stage = up()
    break_ears(stage)
    assert stage.happen(ev.DismissRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))


@pytest.mark.req("L-13", "M-08.again")
def test_a_retry_after_a_fault_keeps_what_is_owed_and_asks_it() -> None:
    stage = asking()
    break_ears(stage)
    assert stage.happen(ev.RetryRequested) == (fx.ClearFault(), fx.SaveContext(), fx.OpenSession(2))
    assert stage.happen(ev.SessionReady) == (fx.RestoreContext(2),)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 1, 1),)
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("M-18", "M-08.again", "H-02.again")
def test_words_that_are_said_in_a_fault_end_it_and_are_answered() -> None:
    stage = up()
    break_ears(stage)
    stage.say()
    assert stage.happen(ev.RetryRequested) == ()
    stage.happen(ev.SessionReady)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(1, 1, 1),)


@pytest.mark.req("M-18", "M-08.again", "H-02.again")
def test_words_that_are_said_in_a_fault_are_asked_together_with_its_question() -> None:
    stage = asking()
    break_ears(stage)
    stage.say()
    assert stage.happen(ev.DismissRequested) == ()
    stage.happen(ev.SessionReady)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 1, 2),)
    assert stage.effects(fx.ReportLost) == []


@pytest.mark.req("C-REQ-009", "M-08.path")
@pytest.mark.parametrize("way_out", [ev.RetryRequested, ev.DismissRequested])
def test_a_recoverable_fault_goes_to_preparing_and_then_listens(way_out: type[ev.Event]) -> None:
    stage = up()
    break_ears(stage)
    stage.happen(way_out)
    stage.happen(ev.SessionReady)
    assert stage.views("conversation")[-3:] == ["faulted", "preparing", "listening"]


@pytest.mark.req("C-REQ-009", "C-AC-006")
@pytest.mark.parametrize("way_out", [ev.RetryRequested, ev.DismissRequested])
def test_a_fatal_fault_goes_to_terminating_whatever_is_pressed(way_out: type[ev.Event]) -> None:
    stage = asking()
    stage.fail_reply(E.AUTH_FAILURE)
    assert stage.happen(way_out) == (fx.CloseSession(1), fx.ReportLost(1, 1))
    assert stage.views("conversation")[-2:] == ["faulted", "terminating"]


@pytest.mark.req("C-AC-006", "L-12")
def test_a_fatal_fault_is_shown_and_ends_the_conversation_by_itself() -> None:
    stage = speaking()
    assert stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.AUTH_FAILURE) == (
        shown(P.SESSION, E.AUTH_FAILURE, fatal=True),
        fx.PlayCue(Cue.ENDED),
        fx.StopPlayback(1),
        fx.CancelReply(1),
        fx.TruncateReply(1, 400),
    )
    assert stage.view("conversation") == "faulted"
    assert stage.wait_for(T.DISMISS) == (fx.CloseSession(1),)
    assert stage.state.link is Link.TERMINATING
    stage.wait_for(T.CLOSE)
    assert stage.views("conversation")[-4:] == ["speaking", "faulted", "terminating", "idle"]


@pytest.mark.req("C-AC-006")
def test_a_fatal_fault_lasts_at_most_six_seconds_and_closing_at_most_one() -> None:
    stage = up()
    stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.AUTH_FAILURE)
    stage.wait_for(T.DISMISS)
    assert stage.at == 6_000
    stage.wait_for(T.CLOSE)
    assert stage.at == 7_000


@pytest.mark.req("C-REQ-009")
def test_a_closed_line_does_not_save_a_conversation_from_a_fatal_fault() -> None:
    stage = up()
    stage.happen(ev.ServiceFailed, part=P.SESSION, error=E.AUTH_FAILURE)
    assert stage.happen(ev.LinkClosed) == ()
    assert stage.view("conversation") == "faulted"


@pytest.mark.req("C-AC-008")
def test_a_worker_that_times_out_is_explained_and_the_floor_opens() -> None:
    stage = asking()
    stage.think()
    stage.call_tool()
    stage.happen(ev.CallDelegated)
    stage.happen(ev.ReplyFinished)
    assert stage.wait_for(T.JOB) == (fx.CancelWork(1), fx.PostOutput(1, Outcome.TIMED_OUT), fx.StartReply(3, 1, 1))
    stage.answer()
    assert stage.views("conversation")[-5:] == [
        "waitingForCopilot",
        "processing",
        "waitingForCopilot",
        "speaking",
        "listening",
    ]


@pytest.mark.req("C-AC-008", "C-REQ-005")
def test_a_brain_that_never_answers_never_hangs_the_conversation() -> None:
    stage = asking()
    stage.wait(30_000 + 10_000)
    assert stage.effects(fx.ShowFault) == [shown(P.BRAIN, E.NETWORK_TIMEOUT)]
    assert stage.effects(fx.ReportLost) == []
    stage.happen(ev.SessionReady)
    stage.wait(1 + 30_000)
    assert stage.records[-1].effects == (shown(P.BRAIN, E.NETWORK_TIMEOUT), *GIVEN_UP)
    stage.wait(10_000)
    stage.happen(ev.SessionReady)
    assert stage.view("conversation") == "listening"


# -- The breaker


@pytest.mark.req("C-REQ-009", "M-19")
def test_the_third_fault_within_a_minute_is_fatal() -> None:
    stage = up()
    for _ in range(2):
        assert break_ears(stage) == (shown(P.EARS, E.UNKNOWN),)
        recover(stage)
    stage.wait(59_999)
    assert break_ears(stage) == faulted(P.EARS, E.UNKNOWN, fatal=True)


@pytest.mark.req("M-19")
def test_faults_are_forgotten_a_minute_after_the_first_of_them() -> None:
    stage = up()
    for _ in range(2):
        break_ears(stage)
        recover(stage)
    stage.wait(60_000)
    assert break_ears(stage) == (shown(P.EARS, E.UNKNOWN),)


@pytest.mark.req("M-19")
def test_the_fifth_fault_in_a_row_is_fatal_however_long_it_takes() -> None:
    stage = up(session_ms_max=0, session_warning_ms=0)
    for _ in range(4):
        assert break_ears(stage) == (shown(P.EARS, E.UNKNOWN),)
        recover(stage)
        stage.wait(100_000)
    assert break_ears(stage) == faulted(P.EARS, E.UNKNOWN, fatal=True)


@pytest.mark.req("M-19")
@pytest.mark.parametrize("audible", [True, False])
def test_an_answer_that_is_heard_or_shown_ends_the_row_of_faults(audible: bool) -> None:
    stage = up(session_ms_max=0, session_warning_ms=0)
    for _ in range(4):
        break_ears(stage)
        recover(stage)
        stage.wait(100_000)
    stage.say()
    if audible:
        stage.answer()
    else:
        stage.think()
        stage.happen(ev.ReplyFinished)
    assert break_ears(stage) == (shown(P.EARS, E.UNKNOWN),)


@pytest.mark.req("M-19")
def test_a_new_conversation_starts_with_a_closed_breaker() -> None:
    stage = up()
    for _ in range(2):
        break_ears(stage)
        recover(stage)
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    stage.start()
    assert break_ears(stage) == (shown(P.EARS, E.UNKNOWN),)


@pytest.mark.req("M-19", "C-AC-008")
def test_left_alone_a_session_that_never_comes_ends_in_idle() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested)
    stage.wait(600_000)
    assert stage.state.link is Link.IDLE
    assert [fault.fatal for fault in stage.effects(fx.ShowFault)] == [False, False, True]


# -- No credential


@pytest.mark.req("C-SEC-003")
def test_a_shown_fault_holds_nothing_but_enums_and_a_flag() -> None:
    assert {field.name: field.type for field in fields(fx.ShowFault)} == {
        "part": "FaultSource",
        "error": "ErrorClass",
        "fatal": "bool",
    }


@pytest.mark.req("C-SEC-003")
def test_an_event_about_an_authentication_failure_has_no_room_for_a_text() -> None:
    for kind in (ev.ReplyFailed, ev.ServiceFailed, ev.SessionFailed, ev.PlaybackFailed, ev.JobFailed):
        assert {str(field.type) for field in fields(kind)} <= {"int", "FaultSource", "ErrorClass"}


# -- Every path into a fault

Path = tuple[Link, type[ev.Event] | Timer]


def fault_paths() -> set[Path]:
    """Every path into a fault in the rows: the leaf and the trigger."""
    owners = {T.PREPARE: Link.PREPARING, T.CONNECT: Link.RECONNECTING}
    found: set[Path] = set()
    for row in ROWS:
        if row.target is not Link.FAULTED:
            continue
        for source in row.sources:
            for trigger in row.on:
                frozen = source in (Link.SUSPENDED, Link.RENEWING, Link.HEALING) and trigger not in UNFROZEN
                if isinstance(trigger, Timer) and (frozen or owners.get(trigger, source) is not source):
                    continue  # time stands still there, or the deadline belongs to another leaf
                assert isinstance(source, Link)
                if (source, trigger) != (Link.PREPARING, ev.LinkClosed):  # an earlier row reconnects
                    found.add((source, trigger))
    return found


def to_up(stage: Stage) -> None:
    """The link is already up."""


def to_suspended(stage: Stage) -> None:
    stage.happen(ev.SuspendRequested)


def to_healing(stage: Stage) -> None:
    stage.happen(ev.LinkWobbled)


def to_renewing(stage: Stage) -> None:
    stage.wait_for(T.SESSION_LIMIT)
    stage.happen(ev.SessionEnded)


LIVE = {Link.UP: to_up, Link.SUSPENDED: to_suspended, Link.HEALING: to_healing, Link.RENEWING: to_renewing}


def fail_service_in(link: Link) -> Stage:
    stage = up()
    LIVE[link](stage)
    break_ears(stage)
    return stage


def refuse_session_in(link: Link) -> Stage:
    stage = up()
    LIVE[link](stage)
    stage.happen(ev.SessionFailed, error=E.AUTH_FAILURE)
    return stage


def fail_reply_in(link: Link) -> Stage:
    stage = asking(session_ms_max=3_000, session_warning_ms=0)
    LIVE[link](stage)
    stage.fail_reply(E.UNKNOWN)
    return stage


def fail_playback_in(link: Link) -> Stage:
    stage = speaking(session_ms_max=3_000, session_warning_ms=0)
    LIVE[link](stage)
    stage.happen(ev.PlaybackFailed, error=E.UNKNOWN)
    return stage


def fail_to_prepare() -> Stage:
    stage = Stage()
    stage.happen(ev.StartRequested)
    stage.happen(ev.SessionFailed, error=E.UNKNOWN)
    return stage


def prepare_for_ever() -> Stage:
    stage = Stage()
    stage.happen(ev.StartRequested)
    stage.wait_for(T.PREPARE)
    return stage


def fail_to_reconnect() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    for _ in range(3):
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.SessionFailed, error=E.UNKNOWN)
    return stage


def lose_the_attempt() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    for _ in range(3):
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.LinkClosed)
    return stage


def connect_for_ever() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    for _ in range(2):
        stage.wait_for(T.BACKOFF)
        stage.happen(ev.SessionFailed, error=E.UNKNOWN)
    stage.wait_for(T.BACKOFF)
    stage.wait_for(T.CONNECT)
    return stage


def reconnect_for_ever() -> Stage:
    stage = up()
    stage.happen(ev.LinkClosed)
    stage.wait_for(T.RECONNECT)
    return stage


def back_off_for_ever() -> Stage:
    stage = up(backoff_ms=(1_000, 50_000))
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionFailed, error=E.UNKNOWN)
    stage.wait_for(T.RECONNECT)
    return stage


def attempt_for_ever() -> Stage:
    stage = asking(answer_ms_max=60_000)
    for _ in range(4):
        stage.wait_for(T.ATTEMPT)
    return stage


def answer_for_ever() -> Stage:
    stage = asking()
    stage.think()
    stage.wait_for(T.ANSWER)
    return stage


def stall_for_ever() -> Stage:
    stage = speaking()
    stage.wait_for(T.STALL)
    return stage


PATHS: dict[Path, tuple[Callable[[], Stage], fx.ShowFault]] = {
    (Link.PREPARING, ev.SessionFailed): (fail_to_prepare, shown(P.SESSION, E.UNKNOWN)),
    (Link.PREPARING, T.PREPARE): (prepare_for_ever, shown(P.SESSION, E.NETWORK_TIMEOUT)),
    (Link.RECONNECTING, ev.SessionFailed): (fail_to_reconnect, shown(P.LINK, E.UNKNOWN)),
    (Link.RECONNECTING, ev.LinkClosed): (lose_the_attempt, shown(P.LINK, E.NETWORK_TIMEOUT)),
    (Link.RECONNECTING, T.CONNECT): (connect_for_ever, shown(P.LINK, E.NETWORK_TIMEOUT)),
    (Link.RECONNECTING, T.RECONNECT): (reconnect_for_ever, shown(P.LINK, E.NETWORK_TIMEOUT)),
    (Link.BACKING_OFF, T.RECONNECT): (back_off_for_ever, shown(P.LINK, E.NETWORK_TIMEOUT)),
    (Link.UP, T.ATTEMPT): (attempt_for_ever, shown(P.BRAIN, E.NETWORK_TIMEOUT)),
    (Link.UP, T.ANSWER): (answer_for_ever, shown(P.BRAIN, E.NETWORK_TIMEOUT)),
    (Link.UP, T.STALL): (stall_for_ever, shown(P.VOICE, E.NETWORK_TIMEOUT)),
    **{
        (link, ev.SessionFailed): (lambda at=link: refuse_session_in(at), shown(P.SESSION, E.AUTH_FAILURE, fatal=True))
        for link in LIVE
    },
    **{(link, ev.ServiceFailed): (lambda at=link: fail_service_in(at), shown(P.EARS, E.UNKNOWN)) for link in LIVE},
    **{(link, ev.ReplyFailed): (lambda at=link: fail_reply_in(at), shown(P.BRAIN, E.UNKNOWN)) for link in LIVE},
    **{(link, ev.PlaybackFailed): (lambda at=link: fail_playback_in(at), shown(P.VOICE, E.UNKNOWN)) for link in LIVE},
}


@pytest.mark.req("C-COV")
def test_no_path_into_a_fault_is_missing_here() -> None:
    assert set(PATHS) == fault_paths()


@pytest.mark.req("C-COV", "L-12", "C-REQ-009")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path[0].value}-{getattr(path[1], 'value', path[1])}")
def test_every_path_into_a_fault_shows_it_and_can_be_recovered_from(path: Path) -> None:
    play, fault = PATHS[path]
    stage = play()
    link, trigger = path
    last = stage.records[-1]
    assert last.before.link is link
    assert getattr(last.event, "timer", type(last.event)) == trigger
    assert last.effects[0] == fault
    assert stage.view("conversation") == "faulted"
    if fault.fatal:
        stage.happen(ev.RetryRequested)
        assert stage.view("conversation") == "terminating"
        return
    recover(stage)
    assert stage.views("conversation")[-3:-1] == ["faulted", "preparing"]
    assert stage.state.link is (Link.SUSPENDED if link is Link.SUSPENDED else Link.UP)  # a pause lasts
