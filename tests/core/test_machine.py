"""Stale, repeated and invalid events: an event with an old id does nothing, an invalid one is refused.

The situations below put the machine into every leaf of every region. Rule: "does nothing" means the
same state object and no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.errors import DuologueError, InvalidEvent, TimeWentBackwards
from duologue.core.leaves import JOB_TIMERS, TIMERS, ErrorClass, FaultSource, JobKind, Link, Reply, Timer, User, Voice
from duologue.core.machine import step
from duologue.core.settings import profile
from duologue.core.state import armed
from duologue.lab.sim.stage import Stage

# -- Situations


def idle() -> Stage:
    return Stage(profile("confirm"))


def preparing() -> Stage:
    stage = idle()
    stage.happen(ev.StartRequested)
    return stage


def quiet() -> Stage:
    stage = idle()
    stage.start()
    stage.wait(10)
    stage.say()
    stage.answer()
    stage.wait(10)
    return stage


def talking() -> Stage:
    stage = quiet()
    stage.begin_talking()
    stage.hear_words(2)
    return stage


def settling() -> Stage:
    stage = talking()
    stage.happen(ev.SpeechStopped)
    return stage


def transcribing() -> Stage:
    stage = settling()
    stage.happen(ev.TurnEnded)
    return stage


def committing() -> Stage:
    stage = quiet()
    stage.say()
    return stage


def waiting() -> Stage:
    stage = committing()
    stage.happen(ev.ReplyAccepted)
    return stage


def generating() -> Stage:
    stage = waiting()
    stage.happen(ev.TokenArrived)
    return stage


def ready() -> Stage:
    stage = generating()
    stage.begin_talking()
    stage.happen(ev.AudioBuffered)
    return stage


def paused_in_words() -> Stage:
    stage = quiet()
    stage.begin_talking()
    stage.hear_words(gist=7)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(final=True, gist=7)
    return stage


def guessing() -> Stage:
    stage = paused_in_words()
    stage.happen(ev.TurnGuessed, gist=7)
    return stage


def drafting() -> Stage:
    stage = guessing()
    stage.happen(ev.TokenArrived)
    return stage


def drafted() -> Stage:
    stage = drafting()
    stage.happen(ev.AudioBuffered)
    return stage


def retrying() -> Stage:
    stage = generating()
    stage.fail_reply(ErrorClass.RATE_LIMIT)
    return stage


def playing() -> Stage:
    stage = generating()
    stage.speak(600)
    return stage


def held() -> Stage:
    stage = playing()
    stage.begin_talking()
    return stage


def sounding_off() -> Stage:
    stage = quiet()
    stage.begin_talking()
    return stage


def overheard() -> Stage:
    stage = held()
    stage.hear_words(2, final=True)
    stage.happen(ev.TurnEnded)
    return stage


def stopping() -> Stage:
    stage = held()
    stage.happen(ev.OverlapJudged, bid=True)
    return stage


def hushed() -> Stage:
    stage = stopping()
    stage.happen(ev.PlaybackStopped, heard_ms=650)
    return stage


def in_a_tool() -> Stage:
    stage = generating()
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    return stage


def delegated() -> Stage:
    stage = in_a_tool()
    stage.happen(ev.CallDelegated)
    return stage


def dispatched() -> Stage:
    stage = in_a_tool()
    stage.happen(ev.CallDispatched)
    return stage


def suspended() -> Stage:
    stage = playing()
    stage.happen(ev.SuspendRequested)
    return stage


def healing() -> Stage:
    stage = generating()
    stage.happen(ev.LinkWobbled)
    return stage


def renewing() -> Stage:
    stage = Stage(profile("confirm", dead_air_ms=0, session_ms_max=60_000, session_warning_ms=30_000))
    stage.start()
    stage.wait(60_000)
    stage.happen(ev.SessionEnded)
    return stage


def backing_off() -> Stage:
    stage = in_a_tool()
    stage.happen(ev.LinkClosed)
    return stage


def reconnecting() -> Stage:
    stage = backing_off()
    stage.wait(1_000)
    return stage


def faulted() -> Stage:
    stage = dispatched()
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    return stage


def fatal() -> Stage:
    stage = playing()
    stage.happen(ev.ServiceFailed, part=FaultSource.SESSION, error=ErrorClass.AUTH_FAILURE)
    return stage


def terminating() -> Stage:
    stage = delegated()
    stage.happen(ev.EndRequested)
    return stage


SITUATIONS: tuple[Callable[[], Stage], ...] = (
    idle,
    preparing,
    quiet,
    talking,
    settling,
    transcribing,
    committing,
    waiting,
    generating,
    ready,
    guessing,
    drafting,
    drafted,
    retrying,
    playing,
    held,
    stopping,
    hushed,
    in_a_tool,
    delegated,
    dispatched,
    suspended,
    healing,
    renewing,
    backing_off,
    reconnecting,
    faulted,
    fatal,
    terminating,
)


def test_the_situations_meet_every_leaf_of_every_region() -> None:
    states = [situation().state for situation in SITUATIONS]
    assert {s.link for s in states} == set(Link)
    assert {s.user for s in states} == set(User)
    assert {s.voice for s in states} == set(Voice)
    assert {s.reply for s in states} == set(Reply)
    assert {job.kind for s in states for job in s.jobs} == set(JobKind) - {JobKind.ABSENT}


def assert_nothing(stage: Stage, event: ev.Event, where: str) -> None:
    before = stage.state
    after, effects = step(before, event)
    assert after is before, f"{event} changes something while {where}"
    assert effects == (), f"{event} has effects while {where}"


# -- Old ids

_WORDS = {"words": 2, "substantial": 2, "final": True}
_GIVEN: dict[type[ev.Event], dict[str, Any]] = {
    ev.WordsHeard: _WORDS,
    ev.OverlapJudged: {"bid": True},
    ev.VoicesPlayed: {"played": 99},
    ev.TurnGuessed: {"gist": 9},
    ev.SessionFailed: {"error": ErrorClass.AUTH_FAILURE},
    ev.ReplyFailed: {"error": ErrorClass.AUTH_FAILURE},
    ev.PlaybackFailed: {"error": ErrorClass.SERVER_ERROR},
    ev.ServiceFailed: {"part": FaultSource.VOICE, "error": ErrorClass.AUTH_FAILURE},
    ev.PlaybackProgressed: {"heard_ms": 99_000},
    ev.PlaybackFinished: {"heard_ms": 99_000},
    ev.PlaybackStopped: {"heard_ms": 99_000},
}


def old_events(stage: Stage, kind: type[ev.Event]) -> Iterator[ev.Event]:
    """Stale events of this kind, one for each id that they carry."""
    s = stage.state
    new = stage.seq + 1
    given = _GIVEN.get(kind, {})
    names = {field.name for field in fields(kind)}

    def make(**ids: Any) -> ev.Event:
        return stage.make(kind, **{**given, **({"seq": new} if "seq" in names else {}), **ids})

    if kind is ev.TimerFired:
        yield from _old_timers(stage)
        return
    if kind is ev.WordsHeard and not s.turn:
        return  # about a turn that never began: refused, not ignored
    if "seq" in names:
        yield from (make(seq=seq) for seq in {0, s.seq})
    if kind is ev.ToolCalled:
        yield make(call=s.call_id)
        yield from (make(reply=reply, call=s.call_id + 1) for reply in _past(s.reply_id))
    elif issubclass(kind, ev.AboutReply):
        yield from (make(reply=reply) for reply in _past(s.reply_id))
    elif issubclass(kind, ev.AboutVoice):
        yield from (make(voice=voice) for voice in _past(s.voice_id))
    elif issubclass(kind, ev.AboutCall):
        open_calls = {job.call for job in s.jobs}
        yield from (make(call=call) for call in range(s.call_id + 3) if call not in open_calls)
    elif "session" in names:
        unnamed = ev.UNNAMED_SESSION if kind is ev.SessionEnded else -1  # journals of earlier versions name no session
        yield from (make(session=session) for session in _past(s.session_id) if session != unnamed)
    elif kind is ev.TurnTaken:
        yield from (make(turn=turn) for turn in (s.answered, s.said + 1))
    elif kind in (ev.TurnEnded, ev.TurnGuessed, ev.SoundDismissed):
        yield from (make(turn=turn) for turn in _past(s.turn))


def _past(newest: int) -> Iterator[int]:
    """Past ids, and one future id."""
    yield from range(newest)
    yield newest + 1


def _old_timers(stage: Stage) -> Iterator[ev.Event]:
    s = stage.state
    running = armed(s)
    for deadline in running:
        for wrong in (deadline.due - 1, deadline.due + 1):
            yield ev.TimerFired(max(stage.at, deadline.due), deadline.timer, max(0, wrong), deadline.call)
    for timer in TIMERS:
        if all(deadline.timer is not timer for deadline in running):
            calls = [0, *(job.call for job in s.jobs)] if timer in JOB_TIMERS else [0]
            yield from (ev.TimerFired(stage.at, timer, due, call) for call in calls for due in (0, stage.at))


@pytest.mark.req("C-GUD-004", "V-05")
@pytest.mark.parametrize("kind", ev.EVENTS, ids=lambda kind: kind.__name__)
def test_an_event_with_an_old_id_changes_nothing_and_has_no_effect(kind: type[ev.Event]) -> None:
    tried = 0
    for situation in SITUATIONS:
        stage = situation()
        for event in old_events(stage, kind):
            assert_nothing(stage, event, situation.__name__)
            tried += 1
    assert tried >= len(SITUATIONS) / 2


@pytest.mark.req("C-INT-005")
@pytest.mark.parametrize("situation", [quiet, retrying, stopping, hushed, in_a_tool, backing_off, faulted])
def test_news_of_a_reply_that_is_over_is_dropped_even_with_the_newest_id(situation: Callable[[], Stage]) -> None:
    stage = situation()
    for kind in (ev.ReplyAccepted, ev.TokenArrived, ev.AudioBuffered, ev.ReplyFinished):
        assert_nothing(stage, stage.make(kind), situation.__name__)
    assert_nothing(stage, stage.make(ev.ReplyFailed, error=ErrorClass.UNKNOWN), situation.__name__)
    assert_nothing(stage, stage.make(ev.ToolCalled, call=stage.state.call_id + 1), situation.__name__)


@pytest.mark.req("V-05")
@pytest.mark.parametrize("situation", [quiet, talking, generating, ready, in_a_tool, backing_off])
def test_news_of_a_sound_that_is_over_is_dropped_even_with_the_newest_id(situation: Callable[[], Stage]) -> None:
    stage = situation()
    for kind in (ev.PlaybackProgressed, ev.PlaybackFinished, ev.PlaybackStopped):
        assert_nothing(stage, stage.make(kind, heard_ms=5_000), situation.__name__)
    assert_nothing(stage, stage.make(ev.PlaybackFailed, error=ErrorClass.UNKNOWN), situation.__name__)
    assert_nothing(stage, stage.make(ev.OverlapJudged, bid=True, seq=stage.seq + 1), situation.__name__)


@pytest.mark.parametrize("heard_ms", [0, 599, 600])
def test_progress_that_is_not_more_is_dropped(heard_ms: int) -> None:
    stage = playing()
    assert_nothing(stage, stage.make(ev.PlaybackProgressed, heard_ms=heard_ms), "playing")


# -- The same event twice

ONCE: tuple[tuple[Callable[[], Stage], type[ev.Event], dict[str, Any]], ...] = (
    (idle, ev.StartRequested, {}),
    (idle, ev.StartRequested, {"audio_primed": False}),
    (quiet, ev.StartRequested, {}),
    (playing, ev.EndRequested, {}),
    (faulted, ev.EndRequested, {}),
    (playing, ev.EndAfterSpeaking, {}),
    (faulted, ev.EndAfterSpeaking, {"withdrawable": True}),
    (fatal, ev.LastWordsHeard, {}),
    (playing, ev.InterruptRequested, {}),
    (generating, ev.InterruptRequested, {}),
    (quiet, ev.SuspendRequested, {}),
    (suspended, ev.ResumeRequested, {}),
    (in_a_tool, ev.ReconnectRequested, {}),
    (faulted, ev.RetryRequested, {}),
    (faulted, ev.DismissRequested, {}),
    (quiet, ev.PttPressed, {}),
    (playing, ev.PttPressed, {}),
    (talking, ev.PttReleased, {}),
    (settling, ev.SendPressed, {}),
    (quiet, ev.TextTyped, {}),
    (playing, ev.TextTyped, {}),
    (generating, ev.TextTyped, {}),
    (in_a_tool, ev.CancelRequested, {}),
    (quiet, ev.SpeechRequested, {}),
    (generating, ev.TurnTaken, {}),
    (quiet, ev.AgentChangeRequested, {}),
    (generating, ev.AgentChangeRequested, {"speaks": True}),
    (dispatched, ev.CancelRequested, {}),
    (quiet, ev.SpeechStarted, {}),
    (settling, ev.SpeechStarted, {}),
    (transcribing, ev.SpeechStarted, {}),
    (playing, ev.SpeechStarted, {}),
    (talking, ev.SpeechStopped, {}),
    (held, ev.SpeechStopped, {}),
    (talking, ev.WordsHeard, _WORDS),
    (transcribing, ev.WordsHeard, _WORDS),
    (generating, ev.WordsHeard, _WORDS),
    (playing, ev.WordsHeard, _WORDS),
    (quiet, ev.WordsHeard, _WORDS),
    (settling, ev.TurnEnded, {}),
    (held, ev.OverlapJudged, {"bid": True}),
    (held, ev.OverlapJudged, {"bid": False}),
    (preparing, ev.SessionReady, {}),
    (renewing, ev.SessionReady, {}),
    (reconnecting, ev.SessionReady, {}),
    (preparing, ev.SessionFailed, {"error": ErrorClass.SERVER_ERROR}),
    (reconnecting, ev.SessionFailed, {"error": ErrorClass.SERVER_ERROR}),
    (quiet, ev.SessionFailed, {"error": ErrorClass.SERVER_ERROR}),
    (quiet, ev.SessionEnded, {}),
    (terminating, ev.SessionClosed, {}),
    (quiet, ev.LinkWobbled, {}),
    (healing, ev.LinkHealed, {}),
    (playing, ev.LinkClosed, {}),
    (faulted, ev.LinkClosed, {}),
    (playing, ev.ServiceFailed, {"part": FaultSource.VOICE, "error": ErrorClass.UNKNOWN}),
    (committing, ev.ReplyAccepted, {}),
    (committing, ev.TokenArrived, {}),
    (waiting, ev.TokenArrived, {}),
    (generating, ev.AudioBuffered, {}),
    (healing, ev.AudioBuffered, {}),
    (generating, ev.ReplyFinished, {}),
    (generating, ev.ReplyWasEmpty, {}),
    (generating, ev.ReplyFailed, {"error": ErrorClass.RATE_LIMIT}),
    (generating, ev.ReplyFailed, {"error": ErrorClass.UNKNOWN}),
    (generating, ev.ReplyFailed, {"error": ErrorClass.SESSION_EXPIRED}),
    (generating, ev.ToolCalled, {"call": 1}),
    (playing, ev.ToolCalled, {"call": 1}),
    (generating, ev.ReplyBecameFirm, {}),
    (playing, ev.ReplyBecameFirm, {}),
    (held, ev.ReplyBecameFirm, {}),
    (idle, ev.VoicesPlayed, {"played": 9}),
    (playing, ev.VoicesPlayed, {"played": 9}),
    (sounding_off, ev.SoundDismissed, {}),
    (overheard, ev.AnswerOverheard, {}),
    (playing, ev.PlaybackProgressed, {"heard_ms": 800}),
    (stopping, ev.PlaybackProgressed, {"heard_ms": 800}),
    (playing, ev.PlaybackFinished, {"heard_ms": 800}),
    (stopping, ev.PlaybackStopped, {"heard_ms": 800}),
    (playing, ev.PlaybackFailed, {"error": ErrorClass.SERVER_ERROR}),
    (stopping, ev.PlaybackFailed, {"error": ErrorClass.SERVER_ERROR}),
    (in_a_tool, ev.CallDelegated, {}),
    (in_a_tool, ev.CallDispatched, {}),
    (delegated, ev.JobProgressed, {}),
    (delegated, ev.JobAsked, {}),
    (dispatched, ev.JobAsked, {}),
    (in_a_tool, ev.JobFinished, {}),
    (quiet, ev.PersonSeen, {}),
    (quiet, ev.QuestionMissed, {}),
    (paused_in_words, ev.TurnGuessed, {"gist": 7}),
    (in_a_tool, ev.JobFinished, {"quiet": True}),
    (backing_off, ev.JobFinished, {}),
    (dispatched, ev.JobFinished, {}),
    (in_a_tool, ev.JobFailed, {}),
)


@pytest.mark.req("C-GUD-004")
@pytest.mark.parametrize(
    ("situation", "kind", "given"), ONCE, ids=lambda value: "" if isinstance(value, dict) else value.__name__
)
def test_the_same_event_twice_counts_once(
    situation: Callable[[], Stage], kind: type[ev.Event], given: dict[str, Any]
) -> None:
    stage = situation()
    before = stage.state
    stage.happen(kind, **given)
    assert stage.state is not before, "the first time it must do something"
    assert_nothing(stage, stage.records[-1].event, "after itself")


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_a_deadline_fires_once(situation: Callable[[], Stage]) -> None:
    stage = situation()
    s = stage.state
    for due, timer, call in armed(s):
        event = ev.TimerFired(max(due, stage.at), timer, due, call)
        after, _ = step(s, event)
        assert after is not s
        again, effects = step(after, event)
        assert again is after
        assert effects == ()


def test_every_kind_of_event_is_tried_twice() -> None:
    assert {kind for _, kind, _ in ONCE} == set(ev.EVENTS) - {ev.TimerFired}


def _a_call_with_everything() -> Stage:
    stage = Stage(profile("confirm", session_ms_max=120_000, session_warning_ms=90_000))
    stage.start()
    stage.say()
    stage.think()
    stage.speak(600)
    stage.cough()
    stage.wait(700)
    stage.interrupt()
    stage.happen(ev.PlaybackStopped, heard_ms=900)
    stage.wait(200)
    stage.happen(ev.SpeechStopped)
    stage.hear_words(3, final=True)
    stage.happen(ev.TurnEnded)
    stage.think()
    stage.call_tool()
    stage.happen(ev.CallDelegated)
    stage.speak(400)
    stage.happen(ev.JobProgressed)
    stage.happen(ev.SuspendRequested)
    stage.wait(500)
    stage.happen(ev.ResumeRequested)
    stage.finish()
    stage.say()
    stage.wait(6_000)
    stage.happen(ev.JobFinished)
    stage.fail_reply(ErrorClass.RATE_LIMIT)
    stage.wait_for(Timer.RETRY)
    stage.happen(ev.LinkWobbled)
    stage.wait(300)
    stage.happen(ev.LinkHealed)
    stage.happen(ev.LinkClosed)
    stage.wait(1_000)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    stage.answer()
    stage.wait(25_000)
    stage.happen(ev.TextTyped)
    stage.happen(ev.ReplyAccepted)
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.happen(ev.ServiceFailed, part=FaultSource.EARS, error=ErrorClass.UNKNOWN)
    stage.happen(ev.RetryRequested)
    stage.happen(ev.SessionReady)
    stage.wait(1)
    stage.answer()
    stage.happen(ev.JobAsked)
    stage.wait(1)
    stage.answer()
    stage.happen(ev.CancelRequested)
    stage.wait(19_000)
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    return stage


@pytest.mark.req("C-GUD-004")
def test_no_event_of_a_call_counts_again_when_it_is_delivered_at_once_again() -> None:
    stage = _a_call_with_everything()
    for record in stage.records:
        after, effects = step(record.after, record.event)
        assert after is record.after, record.event
        assert effects == (), record.event


@pytest.mark.req("C-GUD-004")
def test_no_event_of_a_call_counts_again_however_late_it_is_delivered_again() -> None:
    stage = _a_call_with_everything()
    applied = [record for record in stage.records if record.after is not record.before]
    assert len(applied) > 80
    for position, record in enumerate(applied):
        for earlier in applied[: position + 1]:
            late = replace(earlier.event, at=record.event.at)
            after, effects = step(record.after, late)
            assert after is record.after, f"{late} counts again after {record.event}"
            assert effects == (), late


# -- Events that can't be


@dataclass(frozen=True, slots=True)
class Hiccuped(ev.Event):
    """An event that the machine doesn't know."""


class LoudSpeechStarted(ev.SpeechStarted):
    """A subclass of an event that the machine knows."""

    __slots__ = ()


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
@pytest.mark.parametrize(
    "event",
    [
        Hiccuped(10**9),
        ev.Event(10**9),
        ev.RecurringEvent(10**9, 10**9),
        ev.AboutReply(10**9, 1),
        "SpeechStarted",
        None,
        7,
    ],
    ids=["foreign", "Event", "Signal", "AboutReply", "str", "None", "int"],
)
def test_a_value_that_is_not_an_event_is_refused_and_changes_nothing(
    situation: Callable[[], Stage], event: Any
) -> None:
    stage = situation()
    before = stage.state
    with pytest.raises(InvalidEvent, match="not an event"):
        stage.give(event)
    assert stage.state is before


def test_a_subclass_of_an_event_is_refused() -> None:
    stage = quiet()
    with pytest.raises(InvalidEvent):
        stage.give(LoudSpeechStarted(stage.at, stage.seq + 1))


@pytest.mark.parametrize(
    ("situation", "kind", "given"), ONCE, ids=lambda value: "" if isinstance(value, dict) else value.__name__
)
def test_time_that_goes_backwards_is_refused_and_changes_nothing(
    situation: Callable[[], Stage], kind: type[ev.Event], given: dict[str, Any]
) -> None:
    stage = situation()
    stage.wait(1)
    stage.happen(ev.StartRequested)  # refused, but seen: it moves the state's clock
    before = stage.state
    stage.seq += 1
    event = stage.make(kind, **{**given, "at": stage.at - 1})
    with pytest.raises(TimeWentBackwards, match=kind.__name__):
        stage.give(event)
    assert stage.state is before
    stage.give(replace(event, at=stage.at))


@pytest.mark.parametrize(
    "situation", [quiet, talking, settling, transcribing, playing, in_a_tool, backing_off, faulted]
)
@pytest.mark.parametrize("ahead", [1, 2, 1_000])
def test_words_about_a_turn_that_never_began_are_refused(situation: Callable[[], Stage], ahead: int) -> None:
    stage = situation()
    before = stage.state
    with pytest.raises(InvalidEvent, match=r"the newest turn is \d+"):
        stage.happen(ev.WordsHeard, turn=before.turn + ahead, **_WORDS)
    assert stage.state is before


def test_words_about_turn_0_are_refused() -> None:
    stage = quiet()
    with pytest.raises(InvalidEvent):
        stage.happen(ev.WordsHeard, turn=0, **_WORDS)


def test_an_endpoint_of_the_turn_that_goes_on_again_changes_nothing() -> None:
    stage = talking()
    older = stage.state.onset
    stage.happen(ev.SpeechStopped)
    stage.begin_talking()
    assert_nothing(stage, stage.make(ev.TurnEnded, onset=older), "talking on")


def test_that_an_older_sound_was_harmless_says_nothing_about_the_newer_one() -> None:
    stage = held()
    older = stage.state.onset
    stage.happen(ev.SpeechStopped)
    stage.begin_talking()
    assert_nothing(stage, stage.make(ev.OverlapJudged, bid=False, onset=older, seq=stage.seq + 1), "held")
    assert stage.happen(ev.OverlapJudged, bid=False) == (fx.ResumePlayback(stage.state.voice_id),)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_a_deadline_that_is_not_due_yet_does_not_fire(situation: Callable[[], Stage]) -> None:
    stage = situation()
    for due, timer, call in armed(stage.state):
        if due > stage.at:
            assert_nothing(stage, ev.TimerFired(due - 1, timer, due, call), situation.__name__)


def test_the_end_of_a_turn_that_never_began_changes_nothing() -> None:
    stage = talking()
    assert_nothing(stage, stage.make(ev.TurnEnded, turn=stage.state.turn + 1), "talking")


def test_every_refusal_is_an_error_of_this_package() -> None:
    assert issubclass(TimeWentBackwards, InvalidEvent)
    assert issubclass(InvalidEvent, DuologueError)


def test_after_a_refusal_the_conversation_goes_on() -> None:
    stage = quiet()
    stage.seq += 1
    for bad in (Hiccuped(stage.at), ev.SpeechStarted(0, stage.seq), ev.WordsHeard(stage.at, stage.seq, 99, 1, 1)):
        with pytest.raises(InvalidEvent):
            stage.give(bad)
    asked = len(stage.effects(fx.StartReply))
    stage.say()
    stage.answer()
    assert len(stage.effects(fx.StartReply)) == asked + 1
    assert stage.state.answered == 2
