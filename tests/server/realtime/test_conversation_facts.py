"""Which facts a step of the machine brings."""

from __future__ import annotations

from typing import Any

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Reply, User, Voice
from duologue.core.settings import profile
from duologue.core.state import State, initial
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.server.realtime import facts as fa
from duologue.server.realtime.conversation_facts import facts_of, is_resting, takes_floor

START = initial(profile("confirm"))


def state(**fields: Any) -> State:
    return START._replace(link=Link.UP, **fields)


def facts(
    event: ev.Event, *effects: fx.Effect, after: State | None = None, signals: tuple[sg.Signal, ...] = ()
) -> list[fa.Fact]:
    before = state(reply=Reply.WAITING)
    return list(facts_of(StepRecord(event, before, after or before, effects, ()), signals, lambda voice: f"of {voice}"))


def test_the_user_takes_the_floor_only_when_the_agent_cant_go_on() -> None:
    assert takes_floor(state(user=User.TALKING))
    assert takes_floor(state(user=User.TALKING, voice=Voice.STOPPING))
    assert not takes_floor(state(user=User.TALKING, voice=Voice.HELD))
    assert not takes_floor(state(user=User.QUIET))


def test_an_interruption_comes_before_the_sound_that_it_cuts() -> None:
    after = state(user=User.TALKING, voice=Voice.STOPPING, turn=2)
    told = facts(ev.SpeechStarted(0, 1), fx.StopPlayback(3), fx.TruncateReply(3, 500), after=after)
    assert told == [fa.UserBegan(2), fa.SoundCut(3), fa.SoundHeard(3, 500, "of 3")]


def test_a_client_that_interrupts_is_named() -> None:
    assert facts(ev.InterruptRequested(0, 1), fx.CancelReply(4)) == [fa.ReplyDropped(4, by_client=True)]


def test_a_failure_doesnt_drop_the_reply() -> None:
    failed = ev.ReplyFailed(0, 1, ErrorClass.SERVER_ERROR)
    assert facts(failed, fx.CancelReply(1), fx.StartReply(2, 1, 1)) == [fa.ReplyStarted(2)]


def test_a_lost_session_is_told_before_the_sound_that_it_cuts_and_doesnt_drop_the_reply() -> None:
    away = state()._replace(link=Link.BACKING_OFF)
    failed = ev.SessionFailed(0, 1, ErrorClass.SERVER_ERROR)
    assert facts(failed, fx.StopPlayback(3), fx.CancelReply(4), after=away) == [fa.SessionLost(), fa.SoundCut(3)]
    assert facts(ev.SessionReady(0, 1), after=state()) == [fa.Rested()]


def test_a_fault_is_told_before_the_sound_that_it_cuts() -> None:
    shown = fx.ShowFault(FaultSource.BRAIN, ErrorClass.SERVER_ERROR, fatal=False)
    told = facts(ev.ReplyFailed(0, 1, ErrorClass.SERVER_ERROR), fx.StopPlayback(3), shown)
    assert told == [fa.FaultShown("brain", "SERVER_ERROR"), fa.SoundCut(3)]


def test_turns_are_told_with_their_words() -> None:
    done = sg.TurnCompleted(0, sg.TurnContext(1, "user", 0, "hello"))
    agent = sg.TurnCompleted(0, sg.TurnContext(1, "assistant", 0, "hi"))
    noise = sg.TurnDropped(0, sg.TurnContext(2, "user", 0), "noise")
    assert facts(ev.TextTyped(0, 1), signals=(done, agent, noise)) == [
        fa.UserEnded(1, "hello", typed=True),
        fa.UserDropped(2),
    ]


def test_rest_is_told_when_it_begins() -> None:
    assert is_resting(state())
    assert not is_resting(state(said=1))
    assert facts(ev.ReplyFinished(0, 1), after=state()) == [fa.ReplyComplete(1), fa.Rested()]
