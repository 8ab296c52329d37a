"""The conversation view, the ten states of an editor's voice agent: start, turns, requests, answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Timer
from duologue.core.settings import profile
from duologue.core.state import armed
from duologue.core.views import CONVERSATION
from duologue.lab.sim.stage import Stage

T = Timer
ASKED_AT = 1_150


def up(**changes: object) -> Stage:
    stage = Stage(profile("confirm", **{"dead_air_ms": 0, **changes}))
    stage.start()
    return stage


def idle() -> Stage:
    return Stage()


def preparing() -> Stage:
    stage = Stage()
    stage.happen(ev.StartRequested)
    return stage


def listening() -> Stage:
    return up()


def processing(**changes: object) -> Stage:
    stage = up(**changes)
    stage.say()
    return stage


def waiting_for_copilot(**changes: object) -> Stage:
    stage = processing(**changes)
    stage.happen(ev.ReplyAccepted)
    return stage


def speaking() -> Stage:
    stage = processing()
    stage.think()
    stage.speak(400)
    return stage


def interrupted() -> Stage:
    stage = speaking()
    stage.happen(ev.InterruptRequested)
    return stage


def suspended() -> Stage:
    stage = up()
    stage.happen(ev.SuspendRequested)
    return stage


def faulted() -> Stage:
    stage = up()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    return stage


def terminating() -> Stage:
    stage = up()
    stage.happen(ev.EndRequested)
    return stage


Scene = Callable[[], Stage]
SCENES: dict[str, Scene] = {
    "idle": idle,
    "preparing": preparing,
    "listening": listening,
    "processing": processing,
    "waitingForCopilot": waiting_for_copilot,
    "speaking": speaking,
    "interrupted": interrupted,
    "suspended": suspended,
    "faulted": faulted,
    "terminating": terminating,
}


# -- The ten states


@pytest.mark.req("C-REQ-001")
def test_the_conversation_has_the_ten_states_of_its_source() -> None:
    assert set(CONVERSATION.states) == set(SCENES)
    assert len(CONVERSATION.states) == 10


@pytest.mark.req("C-REQ-001")
@pytest.mark.parametrize("name", SCENES)
def test_each_state_can_be_observed_and_is_reached_by_allowed_moves(name: str) -> None:
    stage = SCENES[name]()
    assert stage.view("conversation") == name
    assert set(pairwise(stage.views("conversation"))) <= CONVERSATION.allowed()


# -- Starting


@pytest.mark.req("C-REQ-002", "C-AC-001")
def test_a_start_with_an_active_session_and_primed_audio_prepares() -> None:
    stage = Stage()
    assert stage.happen(ev.StartRequested) == (fx.OpenSession(1),)
    assert stage.views("conversation") == ["idle", "preparing"]


@pytest.mark.req("C-REQ-002", "C-INT-001")
@pytest.mark.parametrize(("session_active", "audio_primed"), [(False, True), (True, False), (False, False)])
def test_a_start_without_session_or_audio_is_refused(session_active: bool, audio_primed: bool) -> None:
    stage = Stage()
    effects = stage.happen(ev.StartRequested, session_active=session_active, audio_primed=audio_primed)
    assert effects == (fx.RefuseStart(already_running=False),)
    assert stage.state.link is Link.IDLE
    assert armed(stage.state) == []


@pytest.mark.req("C-INT-001")
def test_a_start_that_was_refused_can_be_repeated_once_the_session_is_active() -> None:
    stage = Stage()
    stage.happen(ev.StartRequested, session_active=False)
    assert stage.happen(ev.StartRequested) == (fx.OpenSession(1),)


@pytest.mark.req("C-CON-002")
@pytest.mark.parametrize("name", [name for name in SCENES if name != "idle"])
def test_a_second_start_is_refused_and_changes_nothing_else(name: str) -> None:
    stage = SCENES[name]()
    before = stage.state
    assert stage.happen(ev.StartRequested) == (fx.RefuseStart(already_running=True),)
    assert stage.state._replace(seq=0, at=0) == before._replace(seq=0, at=0)


@pytest.mark.req("C-CON-002")
def test_a_conversation_can_be_started_again_after_its_end() -> None:
    stage = up()
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    assert stage.happen(ev.StartRequested) == (fx.OpenSession(2),)


@pytest.mark.req("C-REQ-003.start", "C-AC-001")
def test_it_listens_in_the_step_in_which_the_session_takes_audio_and_not_before() -> None:
    stage = preparing()
    stage.wait(480)
    assert stage.view("conversation") == "preparing"
    stage.happen(ev.SessionReady)
    assert stage.views("conversation") == ["idle", "preparing", "listening"]
    assert stage.state.at == 480


@pytest.mark.req("C-REQ-003")
def test_a_session_that_was_not_requested_does_not_start_listening() -> None:
    stage = preparing()
    after = stage.state
    assert stage.happen(ev.SessionReady, session=0) == ()
    assert stage.state is after


@pytest.mark.req("C-REQ-003")
def test_it_does_not_prepare_for_ever() -> None:
    stage = preparing()
    stage.wait(9_999)
    assert stage.view("conversation") == "preparing"
    stage.wait(1)
    assert stage.view("conversation") == "faulted"


@pytest.mark.req("C-REQ-003")
def test_words_before_the_session_is_there_are_not_asked_before_it_is() -> None:
    stage = preparing()
    stage.happen(ev.TextTyped)
    assert stage.view("conversation") == "preparing"
    stage.happen(ev.SessionReady)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(1, 1, 1),)


# -- From listening to processing


@pytest.mark.req("C-REQ-004", "C-AC-002", "C-INT-002")
def test_an_endpoint_whose_text_is_final_is_processed_with_exactly_one_request() -> None:
    stage = up()
    assert stage.say() == (fx.CommitAudio(1), fx.StartReply(1, 1, 1))
    assert stage.views("conversation")[-2:] == ["listening", "processing"]


@pytest.mark.req("C-REQ-004", "C-PER-001", "C-INT-002")
@pytest.mark.parametrize("ending", [ev.TurnEnded, ev.PttReleased, ev.SendPressed])
def test_a_final_text_after_the_endpoint_is_processed_in_the_same_step(ending: type[ev.Event]) -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(800)
    stage.happen(ev.SpeechStopped)
    stage.happen(ending)
    stage.wait(700)
    assert stage.view("conversation") == "listening"
    assert stage.hear_words(3, final=True) == (fx.StartReply(1, 1, 1),)
    assert (stage.view("conversation"), stage.state.at) == ("processing", 1_500)


@pytest.mark.req("C-REQ-004", "M-13")
def test_a_final_text_that_never_comes_is_waited_for_a_second_and_a_half() -> None:
    stage = up()
    stage.begin_talking()
    stage.hear_words(3)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.wait(1_499)
    assert stage.view("conversation") == "listening"
    stage.wait(1)
    assert stage.view("conversation") == "processing"


@pytest.mark.req("C-REQ-004")
def test_a_partial_text_is_not_processed() -> None:
    stage = up()
    stage.begin_talking()
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    assert stage.hear_words(3, final=False) == ()
    assert stage.view("conversation") == "listening"


@pytest.mark.req("C-REQ-004")
def test_a_final_text_alone_is_not_an_endpoint() -> None:
    stage = up()
    stage.begin_talking()
    assert stage.hear_words(3, final=True) == ()
    assert stage.view("conversation") == "listening"


@pytest.mark.req("C-REQ-004")
def test_a_final_text_without_words_ends_a_noise_at_once() -> None:
    stage = up()
    stage.cough()
    assert stage.hear_words(0, final=True) == (fx.DiscardAudio(1),)
    assert stage.views("conversation") == ["idle", "preparing", "listening"]


@pytest.mark.req("C-REQ-004")
def test_a_typed_turn_is_processed_at_once() -> None:
    stage = up()
    assert stage.happen(ev.TextTyped) == (fx.StopCue(), fx.StartReply(1, 1, 1))


@pytest.mark.req("C-PER-001", "C-REQ-004")
def test_an_endpoint_that_overtakes_the_end_of_the_sound_is_not_lost() -> None:
    stage = up()
    stage.begin_talking()
    stage.wait(900)
    stage.hear_words(3, final=True)
    stage.happen(ev.TurnEnded)
    stage.happen(ev.SpeechStopped)
    stage.wait(300)
    assert stage.view("conversation") == "processing"


@pytest.mark.req("C-REQ-004")
def test_an_endpoint_of_an_earlier_turn_does_not_end_the_current_one() -> None:
    stage = processing()
    stage.answer()
    stage.begin_talking()
    stage.hear_words(3, final=True)
    after = stage.state
    assert stage.happen(ev.TurnEnded, turn=1) == ()
    assert stage.state is after


# -- Waiting


@pytest.mark.req("C-REQ-005")
def test_an_accepted_request_is_waited_for() -> None:
    stage = processing()
    stage.happen(ev.ReplyAccepted)
    assert stage.views("conversation")[-2:] == ["processing", "waitingForCopilot"]


@pytest.mark.req("C-REQ-005", "C-PER-004")
@pytest.mark.parametrize("scene", [processing, waiting_for_copilot])
def test_an_attempt_is_given_up_after_eight_seconds_exactly(scene: Scene) -> None:
    stage = scene()
    stage.wait(7_999)
    assert stage.effects(fx.CancelReply) == []
    stage.wait(1)
    assert stage.records[-1].effects == (fx.CancelReply(1),)
    assert stage.view("conversation") == "waitingForCopilot"


@pytest.mark.req("C-PER-004", "M-01")
def test_attempts_that_time_out_are_repeated_with_growing_waits() -> None:
    stage = processing()
    stage.wait(29_999)
    asked = [m.event.at - ASKED_AT for m in stage.records for e in m.effects if isinstance(e, fx.StartReply)]
    assert asked == [0, 8_000 + 1_000, 17_000 + 2_000]


@pytest.mark.req("C-PER-004", "M-01")
@pytest.mark.parametrize("accepted", [True, False])
def test_thirty_seconds_over_all_also_end_an_attempt_that_is_under_way(accepted: bool) -> None:
    stage = processing(attempt_ms_max=12_000)
    stage.wait(27_000)  # the third attempt has just begun
    assert len(stage.effects(fx.StartReply)) == 3
    if accepted:
        stage.happen(ev.ReplyAccepted)
    assert stage.wait_for(T.ANSWER)[0] == fx.ShowFault(FaultSource.BRAIN, ErrorClass.NETWORK_TIMEOUT, fatal=False)
    assert stage.at == ASKED_AT + 30_000


@pytest.mark.req("C-PER-004")
def test_the_last_attempt_is_given_up_with_a_fault_though_it_was_accepted() -> None:
    stage = processing(retry_ms=(1_000,))
    stage.wait_for(T.ATTEMPT)
    stage.wait_for(T.RETRY)
    stage.happen(ev.ReplyAccepted)
    shown = fx.ShowFault(FaultSource.BRAIN, ErrorClass.NETWORK_TIMEOUT, fatal=False)
    assert stage.wait_for(T.ATTEMPT) == (shown, fx.CancelReply(3))


@pytest.mark.req("C-PER-004")
def test_the_first_token_ends_the_wait_of_an_attempt() -> None:
    stage = waiting_for_copilot()
    stage.wait(7_999)
    stage.happen(ev.TokenArrived)
    stage.wait(10_000)
    assert stage.effects(fx.CancelReply) == []


# -- Speaking


@pytest.mark.req("C-REQ-006")
def test_a_token_alone_does_not_speak() -> None:
    stage = waiting_for_copilot()
    assert stage.happen(ev.TokenArrived) == ()
    assert stage.view("conversation") == "waitingForCopilot"


@pytest.mark.req("C-REQ-006", "C-AC-003")
def test_the_first_buffered_audio_speaks_in_the_same_step() -> None:
    stage = waiting_for_copilot()
    stage.happen(ev.TokenArrived)
    stage.wait(250)
    assert stage.happen(ev.AudioBuffered) == (fx.StartPlayback(1, 1),)
    assert stage.views("conversation")[-2:] == ["waitingForCopilot", "speaking"]


@pytest.mark.req("C-AC-003", "C-REQ-006")
def test_an_answer_goes_round_by_listening() -> None:
    stage = up()
    stage.say()
    stage.answer()
    assert stage.views("conversation") == [
        "idle",
        "preparing",
        "listening",
        "processing",
        "waitingForCopilot",
        "speaking",
        "listening",
    ]


@pytest.mark.req("C-REQ-006")
def test_buffered_audio_waits_behind_a_person_who_speaks() -> None:
    stage = waiting_for_copilot()
    stage.begin_talking()
    assert stage.speak() == ()
    assert stage.view("conversation") == "waitingForCopilot"


@pytest.mark.req("C-REQ-006")
def test_buffered_audio_is_never_spoken_over_a_person_with_words() -> None:
    stage = waiting_for_copilot()
    stage.begin_talking()
    stage.speak()
    assert stage.hear_words(2) == (fx.CancelReply(1),)
    stage.wait(20_000)
    assert stage.effects(fx.StartPlayback) == []


@pytest.mark.req("C-REQ-006")
def test_a_ready_answer_behind_a_second_long_turn_of_fillers_is_dropped_and_its_turn_owed() -> None:
    stage = waiting_for_copilot()
    stage.begin_talking()
    stage.speak()
    stage.hear_words(1, substantial=0)
    stage.wait_for(T.TALK)
    stage.begin_talking()
    stage.hear_words(1, substantial=0)
    assert stage.wait_for(T.READY) == (fx.CancelReply(1),)
    stage.hear_words(2, substantial=0, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(3), fx.StartReply(3, 1, 3))


@pytest.mark.req("C-REQ-006", "H-07.floor")
def test_a_voice_without_text_is_not_talked_over_before_the_longest_turn_is_over() -> None:
    stage = waiting_for_copilot()
    stage.begin_talking()
    stage.speak()
    began_at = stage.at
    assert stage.wait_for(T.TALK) == (fx.CommitAudio(2), fx.WarnLongTalk(2))
    assert stage.at == began_at + 600_000
    assert stage.wait_for(T.TEXT) == (fx.StartPlayback(1, 1),)


@pytest.mark.req("C-REQ-006")
def test_noise_that_begins_again_at_the_limit_holds_a_ready_answer_up_for_ten_seconds_more() -> None:
    stage = waiting_for_copilot()
    stage.begin_talking()
    stage.speak()
    ready_at = stage.at
    stage.wait_for(T.TALK)
    stage.begin_talking()
    assert stage.wait_for(T.READY) == (fx.DiscardAudio(3), fx.StartPlayback(1, 1))
    assert stage.at == ready_at + 610_000


@pytest.mark.req("C-REQ-006")
def test_a_noise_that_has_ended_holds_a_ready_answer_up_for_600_ms() -> None:
    stage = waiting_for_copilot()
    stage.begin_talking()
    stage.speak()
    stage.wait(9_900)
    stage.happen(ev.SpeechStopped)
    ended_at = stage.at
    assert stage.wait_for(T.SETTLE) == (fx.DiscardAudio(2), fx.StartPlayback(1, 1))
    assert stage.at == ended_at + 600


@pytest.mark.req("C-REQ-006")
def test_a_press_without_words_holds_a_ready_answer_up_for_600_ms() -> None:
    stage = waiting_for_copilot()
    stage.happen(ev.PttPressed)
    stage.speak()
    stage.wait(9_900)
    stage.happen(ev.PttReleased)
    released_at = stage.at
    assert stage.wait_for(T.TEXT) == (fx.StartPlayback(1, 1),)
    assert stage.at == released_at + 600


# -- One request for each utterance


@pytest.mark.req("C-INT-005")
@pytest.mark.parametrize("kind", [ev.ReplyAccepted, ev.TokenArrived, ev.AudioBuffered])
def test_a_duplicate_of_a_response_is_dropped(kind: type[ev.Event]) -> None:
    stage = processing()
    stage.happen(kind)
    event, after = stage.records[-1].event, stage.state
    assert stage.give(event) == ()
    assert stage.state is after


@pytest.mark.req("C-INT-005")
def test_a_second_answer_to_the_same_request_is_dropped() -> None:
    stage = processing()
    stage.answer()
    after = stage.state
    for kind in (ev.TokenArrived, ev.AudioBuffered, ev.ReplyFinished):
        assert stage.happen(kind, reply=1) == ()
    assert stage.state is after
    assert stage.effects(fx.StartPlayback) == [fx.StartPlayback(1, 1)]


@pytest.mark.req("C-INT-005", "C-AC-002")
def test_a_repeated_endpoint_asks_nothing_more() -> None:
    stage = processing()
    assert stage.happen(ev.TurnEnded, turn=1) == ()
    assert stage.happen(ev.SendPressed) == ()
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


@pytest.mark.req("C-INT-005", "M-15")
def test_an_utterance_that_goes_on_is_one_request_in_place_of_the_other() -> None:
    stage = processing()
    stage.begin_talking()
    assert stage.hear_words(2) == (fx.CancelReply(1),)
    stage.hear_words(4, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(3, 1, 2))


@pytest.mark.req("C-INT-005", "M-15")
def test_late_text_of_an_utterance_replaces_its_request_after_a_beat() -> None:
    stage = processing()
    assert stage.hear_words(5, turn=1, final=True) == (fx.CancelReply(1),)
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 1, 1),)


@pytest.mark.req("C-INT-005", "M-15")
def test_late_text_of_a_turn_that_was_not_asked_yet_joins_the_next_request() -> None:
    stage = up()
    stage.cough()
    stage.wait_for(T.SETTLE)
    stage.begin_talking()
    stage.hear_words(2, final=True)
    stage.happen(ev.SpeechStopped)
    assert stage.hear_words(3, turn=1, final=True) == ()
    assert stage.happen(ev.TurnEnded) == (fx.CommitAudio(2), fx.StartReply(1, 1, 2))


@pytest.mark.req("C-INT-005")
def test_a_command_to_stop_thinking_is_an_answer() -> None:
    stage = waiting_for_copilot()
    assert stage.happen(ev.InterruptRequested) == (fx.CancelReply(1),)
    stage.wait(60_000)
    assert stage.view("conversation") == "listening"
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1)]


# -- Rapid turns


@pytest.mark.req("C-AC-007", "M-10")
def test_rapid_turns_have_their_own_ids_in_order_with_listening_in_between() -> None:
    stage = up()
    for _ in range(6):
        stage.say(for_ms=100)
        stage.answer(for_ms=200)
    asked = stage.effects(fx.StartReply)
    assert [(ask.first, ask.last) for ask in asked] == [(turn, turn) for turn in range(1, 7)]
    assert [ask.reply for ask in asked] == sorted({ask.reply for ask in asked})
    round_trip = ["listening", "processing", "waitingForCopilot", "speaking"]
    assert stage.views("conversation") == ["idle", "preparing", *round_trip * 6, "listening"]


@pytest.mark.req("C-AC-007", "M-10")
def test_a_turn_that_was_queued_is_asked_one_beat_after_the_answer_that_it_waited_for() -> None:
    stage = processing()
    stage.think()
    stage.call_tool()
    stage.begin_talking()
    stage.hear_words(2, final=True)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.speak(400)
    stage.happen(ev.JobFinished)
    assert stage.finish() == ()
    assert stage.view("conversation") == "listening"
    finished_at = stage.at
    assert stage.wait_for(T.BEAT) == (fx.StartReply(3, 2, 2),)
    assert stage.at == finished_at + 1
    assert stage.views("conversation")[-3:] == ["speaking", "listening", "processing"]


# -- Causes and repetition


@pytest.mark.req("C-REQ-010")
def test_every_move_names_the_event_that_originated_it() -> None:
    stage = up()
    stage.say()
    stage.answer()
    stage.happen(ev.EndRequested)
    see = CONVERSATION.see
    causes = [
        (see(record.after), type(record.event)) for record in stage.records if see(record.before) != see(record.after)
    ]
    assert causes == [
        ("preparing", ev.StartRequested),
        ("listening", ev.SessionReady),
        ("processing", ev.TurnEnded),
        ("waitingForCopilot", ev.ReplyAccepted),
        ("speaking", ev.AudioBuffered),
        ("listening", ev.PlaybackFinished),
        ("terminating", ev.EndRequested),
    ]


@pytest.mark.req("C-REQ-010")
def test_a_move_by_deadline_names_the_deadline() -> None:
    stage = processing()
    stage.think()
    stage.wait_for(T.ANSWER)
    cause = stage.records[-1].event
    assert isinstance(cause, ev.TimerFired)
    assert (cause.timer, cause.at, cause.due) == (T.ANSWER, ASKED_AT + 30_000, ASKED_AT + 30_000)
    assert stage.views("conversation")[-1] == "faulted"


@pytest.mark.req("C-REQ-010")
def test_a_move_names_the_rows_that_made_it() -> None:
    stage = processing()
    stage.speak()
    assert len(stage.records[-1].fired) == 2  # the row that buffers, the rule that speaks
    assert stage.records[-1].fired[1] < 0 <= stage.records[-1].fired[0]


@pytest.mark.req("C-GUD-004")
@pytest.mark.parametrize("name", SCENES)
def test_no_event_of_a_conversation_does_anything_a_second_time(name: str) -> None:
    stage = SCENES[name]()
    for record in stage.records:
        if record.after is not record.before:
            assert stage.machine.step(record.after, record.event) == (record.after, ())


@pytest.mark.req("C-GUD-004")
def test_everything_that_happened_repeated_at_the_end_changes_nothing() -> None:
    stage = up()
    stage.say()
    stage.answer()
    stage.say()
    stage.think()
    stage.speak(400)
    stage.interrupt()
    after = stage.state
    for record in list(stage.records):
        late = type(record.event)(**{**_values(record.event), "at": stage.at})
        assert stage.give(late) == ()
    assert stage.state is after


def _values(event: ev.Event) -> dict[str, object]:
    return {field.name: getattr(event, field.name) for field in fields(event)}
